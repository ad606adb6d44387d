"""The layout of days and entities."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_mcp.core.markdown import outline
from memory_mcp.curate.jobs.journal import Job
from memory_mcp.curate.save.days import embedded
from tests.curate.world import World, world
from tests.fakes import FixedClock
from tests.scripted_model import Rule, ScriptedModel

pytestmark = pytest.mark.anyio

DAYS = {"curation": {"layout": "days"}}
TEXT = "We decided that Alice Berg leads the project Orion from May."


async def filed(there: World, text: str, **more: str) -> Job:
    there.tasks.start_soon(there.jobs.run)
    job = await there.saver.save(text, **more)
    done = await there.jobs.finished(job.job_id, 9)
    assert (done.status, done.error) == ("done", None)
    return done


async def test_a_text_goes_to_its_day_and_its_things_get_pages(tmp_path: Path) -> None:
    async with world(tmp_path, settings=DAYS) as there:
        done = await filed(there, TEXT, context="From the weekly call")
        day = there.text("wiki/log/2026-03-14/decisions")
        assert "# 2026-03-14: decisions\n" in day
        assert f"## 09:30 {TEXT[:-1]} (From the weekly call)\n\n{TEXT}\n" in day
        orion = there.text("wiki/entities/orion")
        assert "[[wiki/log/2026-03-14/decisions]]" in orion
        assert "- [[wiki/entities/orion|Orion]]\n" in there.text("wiki/entities")
        assert set(done.changed) == {
            "wiki/log/2026-03-14/decisions",
            "wiki/entities/orion",
            "wiki/entities/alice-berg",
            "wiki/entities",
        }
        assert await there.curation.runs.restore(done.job_id)
        assert not list((there.home / "wiki").rglob("*.md"))


async def test_later_texts_are_appended_and_things_registered_once(tmp_path: Path) -> None:
    async with world(tmp_path, settings=DAYS) as there:
        await filed(there, TEXT)
        there.clock.advance(3600)
        await filed(there, "We decided to paint the rocket of Project Orion blue.")
        day = there.text("wiki/log/2026-03-14/decisions")
        assert day.index("## 09:30") < day.index("## 10:30")
        assert there.text("wiki/entities/orion").count("\n- 2026-03-14:") == 2
        assert there.text("wiki/entities").count("entities/orion|") == 1
        done = await filed(there, TEXT)
        assert done.changed == ()
        assert "says it already" in str(done.outcome)


async def test_the_model_sorts_and_what_it_invents_is_left_out(tmp_path: Path) -> None:
    answer = (
        '{"category": "person", "entities": [{"name": "Alice Berg", "line": "Leads Orion."},'
        ' {"name": "Nobody Here"}]}'
    )
    with ScriptedModel(Rule("", answer)) as model:
        async with world(tmp_path, settings={**DAYS, **model.config()}) as there:
            done = await filed(there, TEXT)
            assert TEXT in there.text("wiki/log/2026-03-14/people")
            assert "- 2026-03-14: Leads Orion. (" in there.text("wiki/entities/alice-berg")
            assert len(done.changed) == 3
            assert "Sorted by scripted." in str(done.outcome)


async def test_a_model_that_answers_nonsense_leaves_the_sorting_to_rules(tmp_path: Path) -> None:
    with ScriptedModel(Rule("", "Sure, here you go!")) as model:
        async with world(tmp_path, settings={**DAYS, **model.config()}) as there:
            done = await filed(there, TEXT)
            assert TEXT in there.text("wiki/log/2026-03-14/decisions")
            assert "Sorted by rule, since" in str(done.outcome)


async def test_the_day_is_that_of_the_clock(tmp_path: Path) -> None:
    zone = ZoneInfo("America/New_York")
    clock = FixedClock(datetime(2026, 5, 1, 23, 30, tzinfo=zone))
    async with world(tmp_path, settings=DAYS, clock=clock) as there:
        await filed(there, "The owl is back.")
        assert "## 23:30 The owl is back" in there.text("wiki/log/2026-05-01/general")


async def test_text_of_a_page_from_the_web_stays_apart(tmp_path: Path) -> None:
    async with world(tmp_path, settings=DAYS) as there:
        await filed(there, TEXT, source_url="https://example.org/x")
        page = there.text("wiki/log/2026-03-14/web")
        assert "kind: web" in page
        assert "(https://example.org/x)" in page
        assert TEXT not in there.text("wiki/entities/orion")
        assert "mentioned" in there.text("wiki/entities/orion")


async def test_things_of_like_names_have_pages_of_their_own(tmp_path: Path) -> None:
    notes = {"wiki/entities/uber": "# Uber\n\nA company.\n"}
    async with world(tmp_path, notes, settings=DAYS) as there:
        await filed(there, "See [[Über]], which is a village.")
        assert there.text("wiki/entities/uber") == notes["wiki/entities/uber"]
        assert "Über" in there.text("wiki/entities/uber-2")


async def test_a_text_within_another_is_not_said_yet(tmp_path: Path) -> None:
    told = "Tom says:\n\nBerta moved to Graz with 17 hens.\n\nThat is not true."
    fact = "Berta moved to Graz with 17 hens."
    async with world(tmp_path, settings=DAYS) as there:
        await filed(there, told)
        done = await filed(there, fact)
        assert "Nothing new" not in str(done.outcome)
        (reference,) = (name for name in done.changed if name.startswith("wiki/log/"))
        assert there.text(reference).count(f"\n\n{fact}\n") == 2
        again = await filed(there, fact)
        assert str(again.outcome).startswith("Nothing new")


@given(st.text(alphabet="#-=`~> \nab\r\t", max_size=60))
@example("\r~~~")
@example("a\r---")
def test_no_text_changes_what_stands_around_it(text: str) -> None:
    page = f"# Day\n\n## One\n\n{embedded(text)}\n\n## Two\n\nLast.\n"
    assert [item.text for item in outline(page).headings] == ["Day", "One", "Two"]


@given(st.text(max_size=80))
def test_a_text_is_kept_word_for_word(text: str) -> None:
    assert embedded(text).replace("> ", "").split() == text.replace("> ", "").split()
