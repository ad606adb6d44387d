"""Putting memory in order on request, with a model and without one."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from memory_mcp.core.errors import InputError
from memory_mcp.curate.jobs.journal import Job
from memory_mcp.curate.transcripts.old import put_away
from tests.curate.transcripts.test_speech import claude
from tests.curate.world import World, world
from tests.fakes import FixedClock

pytestmark = pytest.mark.anyio

DAY = "12 May 1990.\n"
FACT = "The hedge is hornbeam, planted in 2011.\n"


async def enriched(there: World, focus: str | None = None, days: int = 0) -> Job:
    there.tasks.start_soon(there.jobs.run)
    job = await there.curation.enrich.add(focus, days)
    done = await there.jobs.finished(job.job_id, 9)
    assert (done.status, done.error) == ("done", None)
    return done


def inbox(there: World) -> list[str]:
    return sorted(path.stem for path in there.file("memory/x").parent.glob("*.md"))


async def test_without_a_model_copies_go_and_the_agent_is_asked_for_the_rest(
    tmp_path: Path,
) -> None:
    notes = {
        "memory/hedge": f"---\ncreated: 2026-01-01\ntags: [garden]\n---\n{FACT}",
        "memory/the-hedge": f"---\ncreated: 2026-02-01\ntags: ['2026-02-01', garden]\n---\n{FACT}",
        "memory/hedge-tagged": f"---\ncreated: 2026-03-01\ntags: [plants]\n---\n{FACT}",
        "memory/mine": f"---\ncreated: 2026-03-02\nwiki_promote: false\n---\n{FACT}",
        "memory/web": f"---\ncreated: 2026-03-03\nsource: {{kind: web}}\n---\n{FACT}",
        "memory/named": f"---\ncreated: 2026-03-04\n---\n{FACT}",
        "memory/other": "See [[memory/named]].\n",
    }
    async with world(tmp_path, notes) as there:
        done = await enriched(there)
        assert inbox(there) == ["hedge", "hedge-tagged", "mine", "named", "other", "web"]
        assert "Removed memory/the-hedge, which other notes say" in str(done.outcome)
        assert "prompts enrich and review" in str(done.outcome)
        assert "memory/the-hedge" in done.changed
        await there.curation.runs.restore(done.job_id)
        assert there.text("memory/the-hedge") == notes["memory/the-hedge"]


@pytest.mark.parametrize(
    "notes",
    [
        {"memory/anna-birthday": DAY, "memory/ben-birthday": DAY},
        {"memory/room-12": DAY, "memory/room-13": DAY},
        {
            "memory/one": f"---\ntitle: Anna\n---\n{DAY}",
            "memory/two": f"---\ntitle: Ben\n---\n{DAY}",
        },
    ],
)
async def test_a_text_below_another_name_is_no_copy(tmp_path: Path, notes: dict[str, str]) -> None:
    async with world(tmp_path, notes) as there:
        done = await enriched(there)
        assert {f"memory/{name}" for name in inbox(there)} == set(notes)
        assert "Removed" not in str(done.outcome)


async def test_a_focus_leaves_the_other_notes_alone(tmp_path: Path) -> None:
    notes = {
        "memory/hedge": FACT,
        "memory/hedge-again": FACT,
        "memory/tea": "Green tea brews at 80 degrees.\n",
        "memory/tea-again": "Green tea brews at 80 degrees.\n",
    }
    async with world(tmp_path, notes) as there:
        done = await enriched(there, "green tea degrees")
        assert len([name for name in inbox(there) if name.startswith("tea")]) == 1
        assert len([name for name in inbox(there) if name.startswith("hedge")]) == 2
        assert "about the focus" in str(done.outcome)


async def test_conversations_are_put_away_only_once_all_is_decided(tmp_path: Path) -> None:
    talks = tmp_path / "talks" / "shop"
    talks.mkdir(parents=True)
    clock = FixedClock()
    old = (clock.now() - timedelta(days=40)).timestamp()
    for name in ("old", "new", "unread"):
        path = talks / f"{name}.jsonl"
        lines = [] if name != "unread" else [claude("user", "We paint it blue.")]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        if name != "new":
            os.utime(path, (old, old))
        else:
            os.utime(path, (clock.now().timestamp(),) * 2)
    settings = {"curation": {"transcripts": [str(tmp_path / "talks")]}}
    async with world(tmp_path, settings=settings, clock=clock) as there:
        done = await enriched(there)
        assert sorted(path.stem for path in talks.iterdir()) == ["new", "old", "unread"]
        done = await enriched(there, None, 30)
        assert "1 conversations older than 30 days were moved" in str(done.outcome)
        assert "1 stay" in str(done.outcome)
        assert sorted(path.stem for path in talks.iterdir()) == ["new", "unread"]
        assert (there.home / ".history" / "transcripts" / "shop" / "old.jsonl").exists()


async def test_a_model_that_cannot_read_conversations_stops_nothing_else(tmp_path: Path) -> None:
    talks = tmp_path / "talks"
    talks.mkdir()
    (talks / "one.jsonl").write_bytes(claude("user", "We paint it blue.") + b"\n")
    settings = {
        "reasoner": {
            "provider": "openai-compatible",
            "base_url": "http://127.0.0.1:9/v1",
            "model": "m",
            "api_key_env": "NO_SUCH_KEY_VARIABLE",
        },
        "curation": {"transcripts": [str(talks)]},
    }
    async with world(tmp_path, {"memory/a": FACT, "memory/b": FACT}, settings) as there:
        done = await enriched(there)
        assert "NO_SUCH_KEY_VARIABLE" in str(done.outcome)
        assert len(inbox(there)) == 1


async def test_what_cannot_be_asked_is_refused_at_once(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        with pytest.raises(InputError, match="delete_older_than_days"):
            await there.curation.enrich.add(None, -1)
        first = await there.curation.enrich.add("tea", mark="abc")
        again = await there.curation.enrich.add("tea", mark="abc")
        assert first == again
        assert first.job_id == "enrich-abc"


def test_nothing_that_has_a_name_is_replaced_and_links_stay(tmp_path: Path) -> None:
    talks, home, clock = tmp_path / "talks", tmp_path / "home", FixedClock()
    talks.mkdir()
    taken = home / ".history" / "transcripts" / "talks" / "a.jsonl"
    taken.parent.mkdir(parents=True)
    taken.write_text("older", encoding="utf-8")
    (talks / "a.jsonl").write_text("newer", encoding="utf-8")
    (talks / "link.jsonl").symlink_to(talks / "a.jsonl")
    for name in ("a.jsonl", "link.jsonl"):
        os.utime(talks / name, (0, 0))
    paths = [str(talks / "link.jsonl"), str(talks / "a.jsonl"), str(talks / "gone.jsonl")]
    done = put_away(paths, home, clock.now(), 1, lambda path: True)
    assert (done.moved, done.stay) == (1, 0)
    assert taken.read_text(encoding="utf-8") == "older"
    assert taken.with_name("a-1.jsonl").read_text(encoding="utf-8") == "newer"
    assert (talks / "link.jsonl").is_symlink()
