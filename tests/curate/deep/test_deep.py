"""Deep: from the inbox to the wiki, and nothing lost on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.core.chat import Function, FunctionCall, Message, Reply
from memory_mcp.core.errors import BudgetError, ReasonerError
from memory_mcp.curate.deep.job import Deep
from memory_mcp.curate.jobs.journal import Job
from memory_mcp.curate.jobs.kinds import DEEP, DEEP_SECONDS
from memory_mcp.curate.jobs.task import Kind
from memory_mcp.curate.plans.plan import unified_diff
from memory_mcp.curate.reason.budget import JOB_TOKENS
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio

GARDEN = "# Garden\n\n<!-- hand-written -->\nThe lawn is moss.\n\n[[house]]\n"
HEDGE = "---\ntags: [garden]\nsource: phone call\n---\nThe hedge is hornbeam, planted 2011.\n"

TREES = ("beech", "larch", "oak", "rowan")

Call = tuple[str, dict[str, Any]]


@dataclass
class Script:
    """A model that acts by what its task says: for each text that is found, calls and an end."""

    rules: Mapping[str, tuple[Sequence[Call], str]]
    error: ReasonerError | None = None
    before_end: Callable[[], None] | None = None
    asked: list[str] = field(default_factory=list)
    name: str = "script"
    tokens: int = 10

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The calls of the first rule that fits, then its text."""
        if self.error is not None:
            raise self.error
        task = messages[1].text
        calls, text = next((r for key, r in self.rules.items() if key in task), ((), "OK"))
        if messages[-1].role == "tool" or not calls:
            if self.before_end is not None:
                self.before_end()
            return Reply(text, (), "script-1", self.tokens, False)
        self.asked.append(task)
        made = tuple(
            FunctionCall(f"c{number}", name, json.dumps(arguments))
            for number, (name, arguments) in enumerate(calls)
        )
        return Reply("", made, "script-1", self.tokens, False)


async def deep(made: World, script: Script | None, **request: Any) -> Job:
    """Run a pass as a job, and wait for it."""
    parts = replace(made.curation.parts, reasoner=script)
    work = Deep(parts, made.curation.runs, made.curation.dreams)
    made.jobs.learn({DEEP: Kind(work.run, DEEP_SECONDS)})
    job = await made.jobs.add(DEEP, request)
    made.tasks.start_soon(made.jobs.run)
    return await made.jobs.finished(job.job_id, 20)


def create(path: str, content: str, **frontmatter: Any) -> Call:
    """A call that makes a page."""
    return "wiki_create", {"path": path, "content": content, "frontmatter": frontmatter}


def append(path: str, text: str) -> Call:
    """A call that adds to a page."""
    return "wiki_edit", {"path": path, "append": text}


async def test_a_note_without_a_page_becomes_one(tmp_path: Path) -> None:
    page = create(
        "garden/hedge", "# Hedge\n\nThe hedge is hornbeam, planted 2011.", tags=["hedge"]
    )
    async with world(tmp_path, {"memory/p1": HEDGE}) as made:
        job = await deep(made, Script({"hornbeam": ([page], "Made garden/hedge.")}))
        assert job.status == "done", job
        assert not made.file("memory/p1").exists()
        text = made.text("wiki/garden/hedge")
        assert "The hedge is hornbeam, planted 2011." in text
        assert "note: memory/p1" in text and "by: phone call" in text
        assert "tags: [hedge, garden]" in text
        month = made.clock.now().strftime("%Y-%m")
        log = made.text(f"wiki/logs/{month}")
        assert "created [[garden/hedge]] from memory/p1 (by script-1)" in log
        assert "[[garden/hedge]]" in made.text("wiki/index")
        assert job.outcome is not None and "1 note went into the wiki" in job.outcome


async def test_a_run_taken_back_gives_the_very_bytes(tmp_path: Path) -> None:
    notes = {"memory/p1": HEDGE, "wiki/garden": GARDEN}
    edit = append("garden", "The hedge is hornbeam, planted 2011.")
    async with world(tmp_path, notes) as made:
        job = await deep(made, Script({"hornbeam": ([edit], "Merged.")}))
        assert not made.file("memory/p1").exists()
        assert "hand-written" in made.text("wiki/garden")
        await made.curation.runs.restore(job.job_id)
        assert made.text("memory/p1") == HEDGE
        assert made.text("wiki/garden") == GARDEN
        assert not made.file("wiki/index").exists()


async def test_a_note_taken_back_stays_until_it_changes(tmp_path: Path) -> None:
    text = "The hedge is hornbeam, planted 2011."
    script = Script({"hornbeam": ([append("garden", text)], "Merged.")})
    async with world(tmp_path, {"memory/p1": HEDGE, "wiki/garden": GARDEN}) as made:
        runs = made.curation.runs
        job = await deep(made, script)
        await runs.restore(job.job_id)
        again = await deep(made, script)
        assert again.outcome is not None and "1 left" in again.outcome
        assert made.text("memory/p1") == HEDGE
        assert len(script.asked) == 1, "nobody is asked about it again"

        await runs.restore(f"undo-{job.job_id}")
        assert not made.file("memory/p1").exists()
        await runs.restore(job.job_id)
        forced = await deep(made, script, force=True)
        assert "memory/p1" in forced.changed

        await runs.restore(forced.job_id)
        made.file("memory/p1").write_text(f"{HEDGE}It is cut in June.\n", encoding="utf-8")
        script.rules = {"June": ([append("garden", f"{text} It is cut in June.")], "Merged.")}
        changed = await deep(made, script)
        assert "memory/p1" in changed.changed


async def test_a_fact_that_would_be_on_no_page_keeps_the_note(tmp_path: Path) -> None:
    page = create("garden/hedge", "# Hedge\n\nThe hedge is hornbeam.")
    async with world(tmp_path, {"memory/p1": HEDGE}) as made:
        job = await deep(made, Script({"hornbeam": ([page], "Done.")}))
        assert made.text("memory/p1") == HEDGE
        assert not made.file("wiki/garden/hedge").exists()
        [dream] = made.curation.dreams.all()
        assert "memory/p1" in dream.findings[0].reason and "2011" in dream.findings[0].reason
        assert job.outcome is not None and dream.dream_id in job.outcome


async def test_what_was_left_out_is_asked_for_once_more(tmp_path: Path) -> None:
    page = create("garden/hedge", "# Hedge\n\nThe hedge is hornbeam.")
    more = append("garden/hedge", "It was planted in 2011.")
    rules = {
        "on none of them yet": ([("memory_get", {"reference": "wiki/garden/hedge"}), more], "ok"),
        "hornbeam": ([page], "Done."),
    }
    async with world(tmp_path, {"memory/p1": HEDGE}) as made:
        await deep(made, Script(rules))
        assert "planted in 2011" in made.text("wiki/garden/hedge")
        assert not made.file("memory/p1").exists()


async def test_a_page_that_would_shrink_is_refused(tmp_path: Path) -> None:
    long = "# Garden\n\n" + "\n".join(f"Bed {n} has plant{n} and stone{n}." for n in range(30))
    edit = ("wiki_edit", {"path": "garden", "content": "The hedge is hornbeam, planted 2011."})
    async with world(tmp_path, {"memory/p1": HEDGE, "wiki/garden": long}) as made:
        await deep(made, Script({"hornbeam": ([edit], "Done.")}))
        assert made.text("wiki/garden") == long
        [dream] = made.curation.dreams.all()
        assert "wiki/garden would lose" in dream.findings[0].reason


async def test_what_a_newer_statement_replaces_stands_in_the_timeline(tmp_path: Path) -> None:
    page = (
        "---\ncreated: 2026-01-05\n---\n# Kim\n\nKim has lived in Basel since she left school"
        " and works there as a baker in the old town.\n\nKim's shoe size is 38.\n"
    )
    note = "---\nstated_at: 2026-06-01\n---\nKim's shoe size is 39.\n"
    edit = (
        "wiki_edit",
        {
            "path": "kim",
            "old_text": "Kim's shoe size is 38.",
            "new_text": "Kim's shoe size is 39.",
        },
    )
    async with world(tmp_path, {"memory/kim": note, "wiki/kim": page}) as made:
        await deep(made, Script({"39": ([edit], "Done.")}))
        text = made.text("wiki/kim")
        assert text.index("shoe size is 39") < text.index("## Timeline")
        assert "- 2026-01-05: Kim's shoe size is 38." in text
        assert not made.file("memory/kim").exists()


async def test_what_is_older_does_not_replace_what_is_newer(tmp_path: Path) -> None:
    page = (
        "---\nstated_at: 2026-08-01\n---\n# Kim\n\nKim has lived in Basel since she left school"
        " and works there as a baker.\n\nKim's shoe size is 38.\n"
    )
    note = "---\nstated_at: 2026-06-01\n---\nKim's shoe size is 39.\n"
    edit = (
        "wiki_edit",
        {
            "path": "kim",
            "old_text": "Kim's shoe size is 38.",
            "new_text": "Kim's shoe size is 39.",
        },
    )
    async with world(tmp_path, {"memory/kim": note, "wiki/kim": page}) as made:
        await deep(made, Script({"39": ([edit], "Done.")}))
        assert made.text("wiki/kim") == page
        assert "what is older does not replace" in made.curation.dreams.all()[0].findings[0].reason


async def test_text_from_outside_is_marked_where_it_stands(tmp_path: Path) -> None:
    note = "---\nsource:\n  url: https://a.example/x\n  kind: web\n---\nHornbeam grows 6 m.\n"
    read = ("memory_get", {"reference": "wiki/garden"})
    edit = append("garden", "Hornbeam grows 6 m.")
    async with world(tmp_path, {"memory/w": note, "wiki/garden": GARDEN}) as made:
        await deep(made, Script({"6 m": ([read, edit], "Done.")}))
        text = made.text("wiki/garden")
        assert "Hornbeam grows 6 m. *(from outside: https://a.example/x)*" in text
        assert "kind: web" in text


async def test_a_page_made_of_text_from_outside_says_so(tmp_path: Path) -> None:
    note = "---\nsource:\n  url: https://a.example/x\n  kind: web\n---\nHornbeam grows 6 m.\n"
    page = create("plants/hornbeam", "# Hornbeam\n\nHornbeam grows 6 m.")
    async with world(tmp_path, {"memory/w": note}) as made:
        await deep(made, Script({"6 m": ([page], "Done.")}))
        entry = made.index.entry("wiki", "plants/hornbeam")
        assert entry is not None and entry.card.provenance is not None
        assert not entry.card.provenance.trusted


@pytest.mark.parametrize(
    "header",
    [
        "wiki_promote: false",
        "pinned: true",
        "metadata:\n  seed: true",
        "metadata:\n  triggers: [hello]",
    ],
)
async def test_notes_that_a_person_keeps_are_never_asked_about(
    tmp_path: Path, header: str
) -> None:
    text = f"---\n{header}\n---\nThe hedge is hornbeam.\n"
    script = Script({"hornbeam": ([create("hedge", "The hedge is hornbeam.")], "Done.")})
    async with world(tmp_path, {"memory/keep": text}) as made:
        await deep(made, script)
        assert made.text("memory/keep") == text
        assert script.asked == []


async def test_private_parts_stay_in_the_inbox(tmp_path: Path) -> None:
    text = "The hedge is hornbeam. <private>It cost 900.</private>\n"
    async with world(tmp_path, {"memory/keep": text}) as made:
        await deep(made, Script({"hornbeam": ([create("hedge", "The hedge is hornbeam.")], "x")}))
        assert made.text("memory/keep") == text
        assert not made.file("wiki/hedge").exists()


async def test_a_note_left_by_the_model_is_asked_about_again_when_forced(tmp_path: Path) -> None:
    script = Script({"hornbeam": ([("memory_list", {})], "SKIP: passing.")})
    async with world(tmp_path, {"memory/p1": HEDGE}) as made:
        await deep(made, script)
        again = await made.jobs.add(DEEP, {})
        assert (await made.jobs.finished(again.job_id, 20)).status == "done"
        assert len(script.asked) == 1
        forced = await made.jobs.add(DEEP, {"force": True})
        await made.jobs.finished(forced.job_id, 20)
        assert len(script.asked) == 2
        assert made.text("memory/p1") == HEDGE


async def test_a_second_page_of_a_name_is_refused(tmp_path: Path) -> None:
    page = create("people/smith-alice", "# Alice\n\nAlice Smith plays chess.")
    notes = {
        "memory/a": "Alice Smith plays chess.\n",
        "wiki/friends/alice-smith": "# Alice\n\nA.\n",
    }
    async with world(tmp_path, notes) as made:
        await deep(made, Script({"chess": ([page], "Done.")}))
        assert not made.file("wiki/people/smith-alice").exists()
        assert made.file("memory/a").exists()
        reason = made.curation.dreams.all()[0].findings[0].reason
        assert 'it said "Done.".' in reason and "has that name already" in reason


async def test_a_page_that_changes_meanwhile_is_planned_anew(tmp_path: Path) -> None:
    edit = append("garden", "The hedge is hornbeam, planted 2011.")
    async with world(tmp_path, {"memory/p1": HEDGE, "wiki/garden": GARDEN}) as made:
        script = Script({"hornbeam": ([edit], "Merged.")})

        def by_hand() -> None:
            path = made.file("wiki/garden")
            if len(script.asked) == 1:
                path.write_text(f"{GARDEN}\nBy hand.\n", encoding="utf-8")

        script.before_end = by_hand
        await deep(made, script)
        text = made.text("wiki/garden")
        assert "By hand." in text and "hornbeam" in text
        assert len(script.asked) == 2


async def test_a_note_whose_page_was_written_before_a_kill_is_only_removed(tmp_path: Path) -> None:
    edit = append("garden", "The hedge is hornbeam, planted 2011.")
    async with world(tmp_path, {"memory/p1": HEDGE, "wiki/garden": GARDEN}) as made:
        script = Script({"hornbeam": ([edit], "Merged.")})
        await deep(made, script)
        page = made.text("wiki/garden")
        made.file("memory/p1").write_text(HEDGE, encoding="utf-8")
        await made.index.refresh(made.writer.inbox, "p1")
        again = await made.jobs.add(DEEP, {})
        done = await made.jobs.finished(again.job_id, 20)
        assert made.text("wiki/garden") == page, done
        assert not made.file("memory/p1").exists(), done
        assert len(script.asked) == 1


async def test_a_note_changed_since_is_looked_at_anew(tmp_path: Path) -> None:
    edit = append("garden", "The hedge is hornbeam, planted 2011.")
    async with world(tmp_path, {"memory/p1": HEDGE, "wiki/garden": GARDEN}) as made:
        script = Script({"hornbeam": ([edit], "Merged.")})
        await deep(made, script)
        made.file("memory/p1").write_text(HEDGE + "The hornbeam is dead.\n", encoding="utf-8")
        await made.index.refresh(made.writer.inbox, "p1")
        again = await made.jobs.add(DEEP, {})
        await made.jobs.finished(again.job_id, 20)
        assert made.file("memory/p1").exists()
        assert made.text("wiki/garden").count("planted 2011") == 1


async def test_without_a_reasoner_copies_go_and_the_rest_waits(tmp_path: Path) -> None:
    notes = {
        "memory/copy": "The lawn is moss.\n",
        "memory/p1": HEDGE,
        "wiki/lawn": "# Lawn\n\nThe lawn is moss.\n",
    }
    async with world(tmp_path, notes) as made:
        job = await deep(made, None)
        assert not made.file("memory/copy").exists()
        assert "note: memory/copy" in made.text("wiki/lawn")
        assert made.text("memory/p1") == HEDGE
        assert job.outcome is not None
        assert "1 note wait" in job.outcome and "enrich" in job.outcome
        assert "[[lawn]]" in made.text("wiki/index")


async def test_what_a_page_says_of_another_thing_is_no_copy(tmp_path: Path) -> None:
    notes = {
        "memory/ben-birthday": "12 May 1990.\n",
        "memory/anna-birthday": "12 May 1990.\n",
        "wiki/people/anna": "# Anna\n\n## Birthday\n\n12 May 1990.\n",
    }
    async with world(tmp_path, notes) as made:
        await deep(made, None)
        assert made.text("memory/ben-birthday") == notes["memory/ben-birthday"]
        assert "ben" not in made.text("wiki/people/anna")
        assert not made.file("memory/anna-birthday").exists()


async def test_a_model_without_budget_ends_the_pass_and_changes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/p1": HEDGE}) as made:
        job = await deep(made, Script({}, BudgetError("the tokens are used up")))
        assert job.status == "done" and job.outcome is not None
        assert "used up" in job.outcome and "1 note wait" in job.outcome
        assert made.text("memory/p1") == HEDGE
        assert made.curation.dreams.all() == ()


async def test_a_pass_ends_with_its_tokens_and_the_rest_waits(tmp_path: Path) -> None:
    facts = {tree: f"The {tree} was planted in 201{n}." for n, tree in enumerate(TREES)}
    notes = {f"memory/{name}": f"{text}\n" for name, text in facts.items()}
    # A task shows the pages of the notes before it, too: the last note that it has is meant.
    made_of = {text: ([create(f"trees/{name}", text)], "OK") for name, text in facts.items()}
    rules = dict(reversed(made_of.items()))
    async with world(tmp_path, notes) as made:
        job = await deep(made, Script(rules, tokens=JOB_TOKENS // 4 + 1))
        assert job.status == "done" and job.outcome is not None
        assert "waits for the next time" in job.outcome
        left = [name for name in facts if made.file(f"memory/{name}").exists()]
        assert left == ["oak", "rowan"], "two notes cost two answers each"


async def test_a_preview_shows_every_file_and_touches_none(tmp_path: Path) -> None:
    notes = {"memory/p1": HEDGE, "memory/p2": "The pond is 2 m deep.\n", "wiki/garden": GARDEN}
    script = Script(
        {
            "pond": ([append("garden", "The pond is 2 m deep.")], "Merged."),
            "hornbeam": ([append("garden", "The hedge is hornbeam, planted 2011.")], "Merged."),
        }
    )
    async with world(tmp_path, notes) as made:
        curation = made.curation
        parts = replace(curation.parts, reasoner=script)
        changes = await Deep(parts, curation.runs, curation.dreams).preview()
        diff = unified_diff(changes)
        assert "+The hedge is hornbeam, planted 2011." in diff
        assert "+The pond is 2 m deep." in diff
        assert "--- a/memory/p1.md\n+++ /dev/null" in diff
        assert "+++ b/wiki/index.md" in diff
        assert made.text("wiki/garden") == GARDEN and made.text("memory/p1") == HEDGE
        assert not made.file("wiki/index").exists()


async def test_links_to_the_note_lead_to_its_page(tmp_path: Path) -> None:
    notes = {"memory/p1": HEDGE, "memory/keep": "---\nwiki_promote: false\n---\nSee [[p1]].\n"}
    page = create("garden/hedge", "# Hedge\n\nThe hedge is hornbeam, planted 2011.")
    async with world(tmp_path, notes) as made:
        await deep(made, Script({"hornbeam": ([page], "Made.")}))
        source, path = made.curation.parts.index.names.labelled("p1") or (None, "")
        assert source is not None and path == "garden/hedge"


@pytest.mark.parametrize("hidden", ["<!-- {} -->", "<!--\n{}\n-->", "%%{}%%"])
async def test_a_page_that_hides_a_fact_in_a_comment_does_not_hold_it(
    tmp_path: Path, hidden: str
) -> None:
    edit = append("garden", f"A hedge.\n\n{hidden.format('The hedge is hornbeam, planted 2011.')}")
    async with world(tmp_path, {"memory/p1": HEDGE, "wiki/garden": GARDEN}) as made:
        job = await deep(made, Script({"hornbeam": ([edit], "Merged.")}))
        assert made.text("memory/p1") == HEDGE
        assert made.text("wiki/garden") == GARDEN
        assert "1 refused" in str(job.outcome)


async def test_a_comment_of_the_note_may_stay_one(tmp_path: Path) -> None:
    note = f"{HEDGE}\n<!-- measured by 2 people -->\n"
    edit = append("garden", "The hedge is hornbeam, planted 2011. <!-- measured by 2 people -->")
    async with world(tmp_path, {"memory/p1": note, "wiki/garden": GARDEN}) as made:
        await deep(made, Script({"hornbeam": ([edit], "Merged.")}))
        assert not made.file("memory/p1").exists()


async def test_what_a_model_puts_into_a_comment_stands_in_the_timeline(tmp_path: Path) -> None:
    page = f"{GARDEN}\n{'There is much more to say of the hedge. ' * 4}\n"
    hide = {
        "path": "garden",
        "old_text": "The lawn is moss.",
        "new_text": "<!-- The lawn is moss. -->\nThe hedge is hornbeam, planted 2011.",
    }
    async with world(tmp_path, {"memory/p1": HEDGE, "wiki/garden": page}) as made:
        job = await deep(made, Script({"hornbeam": ([("wiki_edit", hide)], "Merged.")}))
        assert "1 note went" in str(job.outcome)
        assert "\n## Timeline\n\n- The lawn is moss.\n" in made.text("wiki/garden")
        assert "<!-- hand-written -->" in made.text("wiki/garden").partition("## Timeline")[0]
        assert "hand-written" not in made.text("wiki/garden").partition("## Timeline")[2]


async def test_tags_and_names_of_a_note_say_nothing_on_its_page(tmp_path: Path) -> None:
    """They come to the page without the model."""
    name = "vera-moved-to-graz-on-2026-11-02"
    note = "---\ntags: ['2026-11-02', Graz]\n---\nVera moved to Graz on 2026-11-02.\n"
    notes = {f"memory/{name}": note, "memory/o": f"---\nwiki_promote: false\n---\n[[{name}]]\n"}
    page = create("people/vera", "# Vera\n\nVera moved.")
    async with world(tmp_path, notes) as made:
        job = await deep(made, Script({"Vera": ([page], "Made.")}))
        assert made.text(f"memory/{name}") == note
        assert not made.file("wiki/people/vera").exists()
        assert "1 refused" in str(job.outcome)
