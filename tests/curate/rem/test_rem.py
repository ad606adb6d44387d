"""What was said is proposed with the words it rests on, once, and nothing is written before."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.core.chat import Function, Message, Reply
from memory_mcp.core.config import CurationSettings, ReasonerSettings
from memory_mcp.core.errors import ReasonerError, RefusedError, UnreachableError
from memory_mcp.curate.reason.budget import JOB_TOKENS
from memory_mcp.curate.reason.make import make_reasoner
from memory_mcp.curate.rem.job import Rem
from memory_mcp.curate.rem.tally import Tally
from memory_mcp.curate.review.findings import Dream, Finding
from memory_mcp.front.queueing import queue
from tests.curate.transcripts.test_speech import claude
from tests.curate.world import World, world
from tests.scripted_model import Rule, ScriptedModel

pytestmark = pytest.mark.anyio

TALK = (
    ("user", "From now on I want every invoice in Swiss francs, never in euros."),
    ("assistant", "Understood. The build is green and has 412 tests right now."),
    ("user", "Mara Lindt takes over the bookkeeping on 1 July 2026."),
)


def fact(**values: Any) -> dict[str, Any]:
    """A proposal as a model writes it."""
    return {
        "action": "memory_write",
        "slug": "invoice-currency",
        "title": "Currency of invoices",
        "text": "Invoices are written in Swiss francs, never in euros.",
        "quote": "every invoice in Swiss francs, never in euros",
        "reason": "It holds for all invoices to come.",
        "kind": "preference",
        **values,
    }


MARA = fact(
    slug="mara-lindt",
    title="Mara Lindt",
    text="Mara Lindt does the bookkeeping from 1 July 2026.",
    quote="Mara Lindt takes over the bookkeeping on 1 July 2026.",
    kind="person",
)


def answer(*facts: Mapping[str, Any]) -> str:
    return json.dumps({"facts": list(facts)})


@dataclass
class Lab:
    """A memory with a scripted model and a transcript."""

    place: World
    model: ScriptedModel
    path: Path
    rem: Rem

    @property
    def dreams(self) -> tuple[Dream, ...]:
        return self.place.curation.dreams.all("all")

    @property
    def findings(self) -> list[Finding]:
        return [item for dream in self.dreams for item in dream.findings]

    def say(self, *talk: tuple[str, str], event: str = "session-end") -> None:
        """More is said, and a hook queues it."""
        with self.path.open("ab") as file:
            for role, text in talk:
                at = "2026-03-01T10:00:00Z"
                file.write(claude(role, text, timestamp=at) + b"\n")
        payload = {"transcript_path": str(self.path), "session_id": "s1"}
        assert queue(str(self.place.home), event, None, payload)

    async def read(self, job_id: str = "dream-rem-1", *, force: bool = False) -> Tally:
        return await self.rem.read_all(job_id, force=force, note=_silent)


async def _silent(_: str) -> None:
    pass


@asynccontextmanager
async def lab(
    tmp_path: Path,
    *rules: Rule,
    notes: Mapping[str, str] | None = None,
    curation: Mapping[str, Any] | None = None,
) -> AsyncIterator[Lab]:
    with ScriptedModel(*rules) as model:
        async with world(tmp_path, notes) as place:
            known = place.curation.parts
            settings = ReasonerSettings(**model.choice().model_dump())
            chosen = CurationSettings(**(curation or {}))
            reasoner = make_reasoner(settings, chosen, {}, known.state, known.clock)
            config = known.config.model_copy(update={"curation": chosen})
            parts = replace(known, reasoner=reasoner, config=config)
            rem = Rem(parts, place.curation.dreams)
            yield Lab(place, model, tmp_path / "talk.jsonl", rem)


async def test_facts_are_proposed_with_the_persons_words_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    async with lab(tmp_path, Rule("Swiss francs", answer(fact(), MARA))) as it:
        it.say(*TALK)
        tally = await it.read()
        first, second = it.findings
        assert [first.action, first.reference] == ["memory_write", "memory/invoice-currency"]
        assert "every invoice in Swiss francs, never in euros" in first.reason
        assert "The person said on 2026-03-01T10:00:00Z" in first.reason
        assert second.kind == "person"
        assert not list((it.place.home / "agents").rglob("*.md"))
        assert "2 findings in dream_list" in tally.said()
        assert it.rem.waiting() == ()
        prompt = it.model.requests[0].prompt
        assert "[The person, 2026-03-01T10:00:00Z]" in prompt


async def test_what_was_read_is_not_read_again_and_what_is_new_is(tmp_path: Path) -> None:
    async with lab(
        tmp_path, Rule("bookkeeping", answer(MARA)), Rule("invoice", answer(fact()))
    ) as it:
        it.say(TALK[0])
        await it.read()
        await it.read("dream-rem-2")
        assert len(it.model.requests) == 1
        it.say(TALK[2])
        await it.read("dream-rem-3")
        assert {item.reference for item in it.findings} == {
            "memory/mara-lindt",
            "memory/invoice-currency",
        }
        assert "every invoice" not in it.model.requests[1].prompt


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (fact(quote="I prefer to be paid in Swedish crowns"), "quoted what nobody said"),
        (fact(quote="in"), "quoted what nobody said"),
        (fact(kind="state"), "will pass or can be looked up"),
        (fact(kind="lookup"), "will pass or can be looked up"),
        (fact(text=" "), "could not be used"),
        (fact(text="The key is AKIAIOSFODNN7EXAMPLQ."), "could not be used"),
        (fact(action="memory_delete", slug="nothing-there"), "could not be used"),
    ],
)
async def test_what_cannot_stand_is_left_out_and_counted(
    tmp_path: Path, left: dict[str, Any], why: str
) -> None:
    async with lab(tmp_path, Rule("Swiss", answer(left, MARA))) as it:
        it.say(*TALK)
        tally = await it.read()
        assert [item.reference for item in it.findings] == ["memory/mara-lindt"]
        assert f"1 {why}" in tally.said()


async def test_what_only_the_assistant_said_is_marked(tmp_path: Path) -> None:
    claim = fact(slug="tests", text="There are 412 tests.", quote="has 412 tests right now")
    async with lab(tmp_path, Rule("412", answer(claim))) as it:
        it.say(*TALK)
        await it.read()
        (found,) = it.findings
        assert found.kind == "claim"
        assert "Only the assistant said" in found.reason
        assert found.arguments["frontmatter"]["confidence"] == "low"


async def test_what_memory_holds_is_left_out_and_what_is_near_is_named(tmp_path: Path) -> None:
    notes = {
        "wiki/billing": "# Billing\n\nInvoices are written in Swiss francs, never in euros.\n",
        "memory/mara": "# Mara\n\nMara Lindt does the bookkeeping from 1 May 2026.\n",
    }
    async with lab(tmp_path, Rule("Swiss", answer(fact(), MARA)), notes=notes) as it:
        it.say(*TALK)
        tally = await it.read()
        (found,) = it.findings
        assert found.duplicate_of == "memory/mara"
        assert not found.likely_duplicate
        assert found.novel_details
        assert "May" in (found.matched_excerpt or "")
        assert "1 were known already" in tally.said()


async def test_a_fact_that_waits_or_was_dismissed_is_not_proposed_again(tmp_path: Path) -> None:
    async with lab(tmp_path, Rule("", answer(fact()))) as it:
        it.say(TALK[0])
        await it.read()
        it.say(TALK[0])
        tally = await it.read("dream-rem-2")
        assert "1 had been proposed before" in tally.said()
        (dream,) = it.dreams
        await it.place.curation.approvals.dismiss(dream.dream_id)
        it.say(TALK[0])
        await it.read("dream-rem-3")
        assert len(it.findings) == 1


async def test_a_known_note_is_added_to_and_an_old_sentence_replaced(tmp_path: Path) -> None:
    old = "Invoices are in euros."
    notes = {"memory/invoice-currency": f"# Invoices\n\n{old}\n"}
    change = fact(action="memory_edit", old_text=old)
    async with lab(tmp_path, Rule("Swiss", answer(change, MARA)), notes=notes) as it:
        it.say(*TALK)
        await it.read()
        found = it.findings[0]
        assert found.arguments == {
            "slug": "invoice-currency",
            "old_text": old,
            "new_text": change["text"],
        }
        assert old in found.reason
        (dream,) = it.dreams
        done = await it.place.curation.approvals.apply(dream.dream_id, found.finding_id)
        assert done.changed == ("memory/invoice-currency",)
        assert change["text"] in it.place.text("memory/invoice-currency")


async def test_a_harvest_is_of_low_confidence_and_stays_out_of_the_persons_notes(
    tmp_path: Path,
) -> None:
    notes = {"memory/invoice-currency": "---\npinned: true\n---\n# Invoices\n\nMonthly.\n"}
    change = fact(action="memory_edit")
    async with lab(tmp_path, Rule("Swiss", answer(change)), notes=notes) as it:
        it.say(TALK[0], event="pre-compact")
        await it.read()
        (found,) = it.findings
        header = found.arguments["frontmatter"]
        assert found.action == "memory_write"
        assert found.reference == "memory/invoice-currency-2"
        assert header["confidence"] == "low"
        assert header["source"]["kind"] == "compaction"
        assert header["links"] == [{"to": "memory/invoice-currency", "relation": "related"}]
        assert "pinned" not in header


async def test_without_harvest_what_is_cut_off_waits_for_the_end_of_the_session(
    tmp_path: Path,
) -> None:
    async with lab(tmp_path, Rule("", answer(fact())), curation={"harvest": False}) as it:
        it.say(TALK[0], event="pre-compact")
        assert it.rem.waiting() == ()
        await it.read()
        assert it.model.requests == []
        it.say(event="session-end")
        await it.read("dream-rem-2")
        assert len(it.findings) == 1


async def test_rem_that_is_off_reads_nothing(tmp_path: Path) -> None:
    async with lab(tmp_path, curation={"rem": False}) as it:
        it.say(*TALK)
        tally = await it.read()
        assert "curation.rem is off" in tally.said()
        assert it.model.requests == []
        assert len(it.rem.waiting()) == 1


async def test_without_a_model_it_says_who_can_do_it(tmp_path: Path) -> None:
    async with lab(tmp_path) as it:
        it.say(*TALK)
        place = it.place
        job = await place.jobs.add("dream-rem", {"force": False})
        place.tasks.start_soon(place.jobs.run)
        done = await place.jobs.finished(job.job_id, 8)
        assert done.status == "done"
        assert "no reasoner is configured" in (done.outcome or "")
        assert "prompt remember" in (done.outcome or "")
        assert "1 conversation still to be read" in (done.outcome or "")


async def test_a_second_look_is_asked_for_where_it_is_thorough(tmp_path: Path) -> None:
    rules = Rule("Proposed so far", answer(MARA)), Rule("", answer(fact()))
    async with lab(tmp_path, *rules, curation={"rem": "thorough"}) as it:
        it.say(*TALK)
        await it.read()
        assert [item.kind for item in it.findings] == ["preference", "person"]
        assert len(it.model.requests) == 2


async def test_an_answer_that_cannot_be_used_is_named_and_does_not_stop_the_rest(
    tmp_path: Path,
) -> None:
    async with lab(tmp_path, Rule("", "no list at all")) as it:
        it.say(*TALK)
        tally = await it.read()
        (found,) = it.findings
        assert (found.kind, found.action) == ("refused", "none")
        assert "could not be judged" in found.reason
        assert "1 piece could not be judged" in tally.said()
        with pytest.raises(RefusedError, match="needs judgement"):
            await it.place.curation.approvals.apply(it.dreams[0].dream_id, "f1")
        it.model.rules[:] = [Rule("", answer(fact()))]
        it.say()
        await it.read("dream-rem-2", force=True)
        assert {item.kind for item in it.findings} == {"refused", "preference"}


class Silent:
    """A model that nobody reaches."""

    name = "silent"

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        raise UnreachableError("The host cannot be reached.")


async def test_what_nobody_judged_stays_in_the_queue(tmp_path: Path) -> None:
    async with lab(tmp_path, Rule("", answer(fact()))) as it:
        it.say(*TALK)
        alone = Rem(replace(it.rem._parts, reasoner=Silent()), it.place.curation.dreams)
        with pytest.raises(ReasonerError):
            await alone.read_all("dream-rem-1", force=False, note=_silent)
        assert len(it.rem.waiting()) == 1
        await it.read("dream-rem-2")
        assert len(it.findings) == 1


class Dear:
    """A model that costs more than a job may, with one answer."""

    name = "dear"

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        return Reply(answer(fact()), (), self.name, JOB_TOKENS + 1, cut=False)


async def test_a_job_ends_with_its_tokens_and_the_rest_waits(tmp_path: Path) -> None:
    async with lab(tmp_path, Rule("", answer(MARA))) as it:
        it.say(*TALK)
        it.path = it.path.with_name("later.jsonl")
        it.say(*TALK)
        dear = Rem(replace(it.rem._parts, reasoner=Dear()), it.place.curation.dreams)
        tally = await dear.read_all("dream-rem-1", force=False, note=_silent)
        assert tally.stopped is not None
        assert "waits for the next time" in tally.stopped
        assert (len(it.findings), len(it.rem.waiting())) == (1, 1)
        await it.read("dream-rem-2")
        assert (len(it.findings), len(it.rem.waiting())) == (2, 0)


class Killed(Exception):
    """The process ends here."""


@pytest.mark.parametrize("point", ["taken_up", "stored", "passed"])
async def test_a_kill_at_any_step_repeats_nothing(tmp_path: Path, point: str) -> None:
    async with lab(tmp_path, Rule("", answer(fact()))) as it:
        it.say(TALK[0])
        folder = it.place.home / ".state"
        before = _files(folder)
        await it.read()
        after = _files(folder)
        asked = len(it.model.requests)
        # The disk as a kill leaves it: some of what the pass wrote, in the order it writes.
        (read,) = [name for name in after if name.startswith("transcripts/read/")]
        (queued,) = [name for name in before if name.startswith("transcripts/queue/")]
        marker = json.loads(after[read])
        taken = {**marker, "offset": 0, "digest": "", "upto": marker["offset"]}
        (folder / queued).write_bytes(before[queued])
        if point != "passed":
            (folder / read).write_text(json.dumps(taken), encoding="utf-8")
        if point == "taken_up":
            for name in after:
                if name.startswith("dreams/rem-"):
                    (folder / name).unlink()
        it.say(TALK[2])  # and the talk goes on before the next start
        await it.read()
        assert [item.reference for item in it.findings] == ["memory/invoice-currency"]
        assert len(it.model.requests) == asked + (2 if point == "taken_up" else 1)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


async def test_force_reads_from_the_beginning_once_for_each_job(tmp_path: Path) -> None:
    async with lab(tmp_path, Rule("", answer()), curation={"transcripts": ["talks"]}) as it:
        talks = it.place.home / "talks"
        talks.mkdir()
        (talks / "one.md").write_text("User: I moved to Bern.\n", encoding="utf-8")
        await it.read("a")
        await it.read("b")
        assert len(it.model.requests) == 1
        await it.read("c", force=True)
        await it.read("c", force=True)
        assert len(it.model.requests) == 2
        assert it.rem.is_settled(str(talks / "one.md"))


async def test_a_transcript_that_is_gone_is_waited_for_no_more(tmp_path: Path) -> None:
    async with lab(tmp_path) as it:
        it.say(TALK[0])
        it.path.unlink()
        tally = await it.read()
        assert "talk.jsonl (No such file or directory)" in tally.said()
        assert it.rem.waiting() == ()


async def test_a_talk_with_unread_turns_or_open_findings_is_not_settled(tmp_path: Path) -> None:
    async with lab(tmp_path, Rule("", answer(fact()))) as it:
        it.say(TALK[0])
        assert not it.rem.is_settled(str(it.path))
        await it.read()
        assert not it.rem.is_settled(str(it.path))
        await it.place.curation.approvals.dismiss(it.dreams[0].dream_id)
        assert it.rem.is_settled(str(it.path))
