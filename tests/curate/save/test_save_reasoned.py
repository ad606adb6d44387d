"""Saving with a chat model: it chooses the place, and nothing of the text is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.curate.jobs.journal import Job, Journal
from memory_mcp.settings.prompts import load, prompt
from tests.curate.world import World, world
from tests.scripted_model import Rule, ScriptedModel, call

pytestmark = pytest.mark.anyio

NIGHT = "The owl Fritz was seen on 3 March 2026 at the mill."


async def filed(there: World, text: str, **more: str) -> Job:
    """Save a text and wait until it is filed."""
    there.tasks.start_soon(there.jobs.run)
    job = await there.saver.save(text, **more)
    done = await there.jobs.finished(job.job_id, 9)
    assert (done.status, done.error) == ("done", None)
    return done


def header(there: World, reference: str) -> dict[str, Any]:
    return dict(split_and_load(there.text(reference))[1].values)


def inbox(there: World) -> list[str]:
    return sorted(path.stem for path in there.file("memory/x").parent.glob("*.md"))


async def test_a_new_fact_becomes_the_note_that_the_model_writes(tmp_path: Path) -> None:
    content = f"# Owl\n\n{NIGHT}"
    with ScriptedModel(
        Rule(
            "owl Fritz",
            "Filed as memory/owl-fritz.",
            [call("memory_search", query="owl")],
            [[call("memory_write", slug="owl-fritz", content=content)]],
        )
    ) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            assert done.changed == ("memory/owl-fritz",)
            assert done.outcome is not None
            assert "scripted: Filed as memory/owl-fritz." in done.outcome
            assert inbox(there) == ["owl-fritz"]
            known = header(there, "memory/owl-fritz")
            assert known["source"] == {"by": "default", "model": "scripted"}
            assert known["created"] == "2026-03-14T09:30:00+00:00"
            again = await there.curation.runs.restore(done.job_id)
            assert again == ("memory/owl-fritz",)
            assert inbox(there) == []
    assert "Today is 2026-03-14 (Saturday)" in model.requests[0].prompt
    assert NIGHT in model.requests[0].prompt
    assert "wiki_edit" in model.requests[0].offered
    assert "memory_delete" not in model.requests[0].offered


async def test_a_known_thing_is_extended_and_its_namesake_stays(tmp_path: Path) -> None:
    notes = {
        "memory/alice-berg": "---\ntitle: Alice Berg\n---\n\nGardener at Nordpark.\n",
        "memory/alice-bergmann": "---\ntitle: Alice Bergmann\n---\n\nDentist in Wels.\n",
    }
    text = "Alice Berg is allergic to wasps."
    with ScriptedModel(
        Rule("wasps", "Added.", [call("memory_edit", slug="alice-berg", append=text)])
    ) as model:
        async with world(tmp_path, notes, settings=model.config()) as there:
            done = await filed(there, text)
            assert done.changed == ("memory/alice-berg",)
            assert "Gardener at Nordpark.\n" in there.text("memory/alice-berg")
            assert text in there.text("memory/alice-berg")
            assert "source" not in header(there, "memory/alice-berg")
            assert there.text("memory/alice-bergmann") == notes["memory/alice-bergmann"]


async def test_a_correction_is_linked_to_what_it_supersedes(tmp_path: Path) -> None:
    text = "Since this week Kim eats meat again."
    with ScriptedModel(
        Rule(
            "eats meat again",
            "Saved.",
            [
                call("memory_write", slug="kim-eats-meat", content=text),
                call(
                    "memory_link",
                    source="memory/kim-eats-meat",
                    target="memory/kim-diet",
                    relation="supersedes",
                ),
            ],
        )
    ) as model:
        notes = {"memory/kim-diet": "Kim eats no meat.\n"}
        async with world(tmp_path, notes, settings=model.config()) as there:
            done = await filed(there, text)
            assert done.changed == ("memory/kim-eats-meat",)
            links = header(there, "memory/kim-eats-meat")["links"]
            assert links == [{"to": "memory/kim-diet", "relation": "supersedes"}]
            assert there.text("memory/kim-diet") == "Kim eats no meat.\n"


async def test_what_the_model_leaves_out_stands_in_a_note_beside_its_own(tmp_path: Path) -> None:
    with ScriptedModel(
        Rule("Fritz", "Saved.", [call("memory_write", slug="owl", content="Fritz is an owl.")])
    ) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            assert len(done.changed) == 2
            assert done.outcome is not None
            assert "so the whole text stands in memory/" in done.outcome
            (whole,) = [name for name in inbox(there) if name != "owl"]
            assert NIGHT in there.text(f"memory/{whole}")
            back = await there.curation.runs.restore(done.job_id)
            assert set(back) == set(done.changed)


@pytest.mark.parametrize("answer", ["Done.", "All of it stands in memory/mill.", "wiki/nothing"])
async def test_a_text_that_is_nowhere_is_filed_whatever_the_model_says(
    tmp_path: Path, answer: str
) -> None:
    with ScriptedModel(Rule("", answer)) as model:
        notes = {"memory/mill": "The mill has two wheels.\n"}
        async with world(tmp_path, notes, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            (new,) = [name for name in inbox(there) if name != "mill"]
            assert done.changed == (f"memory/{new}",)
            assert NIGHT in there.text(f"memory/{new}")
            assert "scripted" in str(done.outcome)


async def test_what_a_named_note_holds_already_is_not_filed_again(tmp_path: Path) -> None:
    with ScriptedModel(Rule("", "It stands in `memory/owl` already.")) as model:
        notes = {"memory/owl": f"# Owl\n\nIn short: {NIGHT} It was late.\n"}
        async with world(tmp_path, notes, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            assert done.changed == ()
            assert str(done.outcome).startswith("Nothing new: memory/owl says it already.")
            assert inbox(there) == ["owl"]


async def test_a_passing_state_is_not_saved_and_can_be_had_all_the_same(tmp_path: Path) -> None:
    text = "Build 77 of the shop is red right now."
    with ScriptedModel(Rule("", "SKIP: the state of a build is seen in its server.")) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, text)
            assert done.changed == ()
            assert "Not saved, since it can be looked up: the state of a build" in str(
                done.outcome
            )
            assert inbox(there) == []
            reference, revision = str(done.outcome).rpartition("memory-mcp restore ")[2].split()
            await there.writer.restore(reference, revision)
            assert text in there.text(reference)


async def test_to_have_what_was_not_saved_replaces_no_note(tmp_path: Path) -> None:
    """Also where notes, and other texts that were left out, have the same title."""
    mine = "# Build\n\nBuilds run on 4 machines in Graz.\n"
    texts = [f"# Build\n\nNumber {number} is red right now." for number in (77, 78)]
    with ScriptedModel(Rule("", "SKIP: it is seen in its server.")) as model:
        async with world(tmp_path, {"memory/build": mine}, model.config()) as there:
            for text in texts:
                done = await filed(there, text)
                name, revision = str(done.outcome).rpartition("restore ")[2].split()
                assert there.text("memory/build") == mine
                await there.writer.restore(name, revision)
                assert text in there.text(name)
            assert inbox(there) == ["build", "build-2", "build-3"]


@pytest.mark.parametrize("fault", ["empty", "not json", "no choice", "refusal", "status"])
async def test_a_model_that_fails_costs_no_text(tmp_path: Path, fault: Any) -> None:
    with ScriptedModel(Rule("", fault=fault)) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            (name,) = inbox(there)
            assert done.changed == (f"memory/{name}",)
            assert NIGHT in there.text(f"memory/{name}")
            assert "scripted" in str(done.outcome)


async def test_settings_that_cannot_work_cost_no_text(tmp_path: Path) -> None:
    settings = {
        "reasoner": {
            "provider": "openai-compatible",
            "base_url": "http://127.0.0.1:9/v1",
            "model": "m",
            "api_key_env": "NO_SUCH_KEY_VARIABLE",
        }
    }
    async with world(tmp_path, settings=settings) as there:
        done = await filed(there, NIGHT)
        assert len(done.changed) == 1
        assert "NO_SUCH_KEY_VARIABLE" in str(done.outcome)


async def test_a_day_without_tokens_left_files_by_rule(tmp_path: Path) -> None:
    with ScriptedModel(Rule("", "OK")) as model:
        settings = {**model.config(), "curation": {"max_tokens_day": 1}}
        async with world(tmp_path, settings=settings) as there:
            done = await filed(there, NIGHT)
            assert len(done.changed) == 1
            assert "max_tokens_day" in str(done.outcome)
    assert model.requests == []


async def test_endless_calls_are_ended_and_change_nothing(tmp_path: Path) -> None:
    rounds = [[call("memory_write", slug=f"n-{n}", content=f"Note {n}.")] for n in range(20)]
    with ScriptedModel(Rule("", "Never.", rounds[0], rounds[1:])) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            assert len(inbox(there)) == 1
            assert "ended before it was done (rounds)" in str(done.outcome)


async def test_a_page_from_the_web_stays_one(tmp_path: Path) -> None:
    with ScriptedModel(
        Rule(
            "Fritz",
            "Saved.",
            [
                call("memory_edit", slug="own", append=NIGHT),
                call("memory_write", slug="owl", content=NIGHT),
            ],
        )
    ) as model:
        async with world(tmp_path, {"memory/own": "Mine.\n"}, model.config()) as there:
            done = await filed(there, NIGHT, source_url="https://example.org/owls")
            assert done.changed == ("memory/owl",)
            assert there.text("memory/own") == "Mine.\n"
            source = header(there, "memory/owl")["source"]
            assert source["url"] == "https://example.org/owls"
            assert (source["kind"], source["model"]) == ("web", "scripted")
    assert "wiki_create" not in model.requests[0].offered
    assert any("comes from outside" in text for text in model.requests[-1].results)


async def test_a_private_part_is_never_shown_to_the_model(tmp_path: Path) -> None:
    with ScriptedModel(Rule("", "OK")) as model:
        async with world(
            tmp_path, {"memory/a": "x <private>4711</private>\n"}, model.config()
        ) as t:
            await filed(t, "Order the cake. <private>PIN is 4455</private> At nine.")
            await filed(t, "<system-reminder>nothing</system-reminder>")
    sent = str([request.body for request in model.requests])
    assert "Order the cake" in sent
    assert "4455" not in sent
    assert len(model.requests) == 1


async def test_a_note_that_changed_meanwhile_is_planned_anew(tmp_path: Path) -> None:
    text = "The tea is green."

    async with world(tmp_path, {"memory/tea": "Tea.\n"}) as probe:
        path = probe.file("memory/tea")

    def said(request: Any) -> str:
        if len(model.requests) == 2:
            path.write_text("Tea, by hand.\n", encoding="utf-8")
        return "Added."

    with ScriptedModel(
        Rule("tea is green", said, [call("memory_edit", slug="tea", append=text)])
    ) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, text)
            assert done.changed == ("memory/tea",)
            assert there.text("memory/tea").startswith("Tea, by hand.\n")
            assert text in there.text("memory/tea")
    assert len(model.requests) == 4


async def test_a_save_that_was_cut_off_after_its_run_is_not_done_again(tmp_path: Path) -> None:
    with ScriptedModel(
        Rule("Fritz", "Saved.", [call("memory_write", slug="owl", content=NIGHT)])
    ) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            Journal(there.home / ".state" / "jobs").append(done.job_id, status="running")
        async with world(tmp_path, settings=model.config()) as there:
            there.tasks.start_soon(there.jobs.run)
            again = await there.jobs.finished(done.job_id, 8)
            assert (again.status, again.changed) == ("done", ("memory/owl",))
            assert inbox(there) == ["owl"]
    assert len(model.requests) == 2


async def test_the_users_prompt_wins_and_names_model_and_tools(tmp_path: Path) -> None:
    own = "---\nmodel: bigger\ntools: [memory_search, memory_write]\n---\nFile it my way.\n"
    with ScriptedModel(
        Rule("my way", "Saved.", [call("memory_write", slug="owl", content=NIGHT)])
    ) as model:
        async with world(tmp_path, settings=model.config()) as there:
            folder = there.home / "prompts"
            folder.mkdir()
            (folder / "save.md").write_text(own, encoding="utf-8")
            (folder / "prompt.md").write_text("Answer in German.", encoding="utf-8")
            await filed(there, NIGHT)
    first = model.requests[0]
    assert first.body["model"] == "bigger"
    assert first.offered == ["memory_search", "memory_write"]
    assert "Answer in German.\n\nFile it my way." in first.prompt
    assert "tools:" not in first.prompt


def test_a_header_of_a_prompt_is_read_and_no_part_of_its_text(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    path = folder / "save.md"
    for text, shown, model in (
        ("---\nmodel: m\n---\n\nText.", "Text.", "m"),
        ("---\nA rule above.\n---\nText.", "---\nA rule above.\n---\nText.", None),
        ("---\nno: [end\n", "---\nno: [end\n", None),
        ("Plain.", "Plain.", None),
    ):
        path.write_text(text, encoding="utf-8")
        assert load("save", str(tmp_path)) == shown
        assert prompt("save", str(tmp_path)).model == model
    path.write_text("---\ntools: memory_get, memory_edit\n---\nx", encoding="utf-8")
    assert prompt("save", str(tmp_path)).tools == ("memory_get", "memory_edit")


async def test_a_plan_that_takes_from_a_note_is_refused_by_name(tmp_path: Path) -> None:
    long = "".join(f"Fact {n} about the mill is kept.\n" for n in range(40))
    with ScriptedModel(
        Rule(
            "Fritz",
            "Tidied up.",
            [call("memory_get", reference="memory/mill")],
            [[call("memory_edit", slug="mill", content=NIGHT)]],
        )
    ) as model:
        async with world(tmp_path, {"memory/mill": long}, model.config()) as there:
            done = await filed(there, NIGHT)
            assert there.text("memory/mill") == long
            assert "was refused: memory/mill would lose" in str(done.outcome)
            assert len(done.changed) == 1


async def test_a_fact_in_a_comment_is_not_filed_yet(tmp_path: Path) -> None:
    content = f"# Owl\n\nAn owl.\n\n<!-- {NIGHT} -->"
    with ScriptedModel(
        Rule(
            "owl Fritz",
            "Filed as memory/owl-fritz.",
            [call("memory_search", query="owl")],
            [[call("memory_write", slug="owl-fritz", content=content)]],
        )
    ) as model:
        async with world(tmp_path, settings=model.config()) as there:
            done = await filed(there, NIGHT)
            whole = [name for name in inbox(there) if name != "owl-fritz"]
            assert len(whole) == 1 and f"\n\n{NIGHT}" in there.text(f"memory/{whole[0]}")
            assert "the whole text stands in" in str(done.outcome)
