"""Deep: what the inbox knows becomes pages of the wiki, note by note, and nothing is lost.

A note goes only after the pages that took it over were read back from disk and hold all of it.
After a kill at any moment the same work finds what is done: a page names the version of the note
that it holds, and such a note is only removed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

import anyio.to_thread

from memory_mcp.core.errors import (
    AnswerError,
    DeclinedError,
    MemoryMcpError,
    ReasonerError,
)
from memory_mcp.curate.deep.deep_pass import Pass
from memory_mcp.curate.deep.holding import holding
from memory_mcp.curate.deep.inbox_note import inbox_notes
from memory_mcp.curate.deep.promotion import Promotion
from memory_mcp.curate.deep.skip_cache import SkipCache
from memory_mcp.curate.deep.tally import said
from memory_mcp.curate.jobs.kinds import DEEP
from memory_mcp.curate.jobs.task import Outcome, Task
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.plan import Change
from memory_mcp.curate.plans.planner import Planner
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.reason.budget import JobBudget
from memory_mcp.curate.review.findings import Dreams
from memory_mcp.curate.wiki.chronicle import plan_index
from memory_mcp.settings.prompts import prompt

log = logging.getLogger(__name__)


class Deep:
    """Passes over the inbox of these parts."""

    def __init__(self, parts: Parts, runs: Runs, dreams: Dreams) -> None:
        self._parts, self._runs, self._dreams = parts, runs, dreams
        name = "-".join(filter(None, (parts.config.agent, parts.project)))
        self._skips = SkipCache(parts.state / "deep" / f"{name}.json")

    async def run(self, task: Task) -> Outcome:
        """A pass: what a job of the kind `dream-deep` does. `force` asks about notes again that
        were left before. Raises RefusedError in read-only mode, StorageError."""
        return await self.over(task)

    async def over(self, task: Task, only: Collection[str] | None = None) -> Outcome:
        """A pass over the notes of these references; None: over all. Raises as `run`."""
        self._runs.check_writable()
        work = await self._pass(force=bool(task.record.request.get("force")))
        work.run = task.job_id
        tally = work.tally
        tally.changed += await self._runs.changed(task.job_id)
        waiting = await inbox_notes(self._parts.index, self._parts.writer.inbox)
        notes = [note for note in waiting if only is None or note.reference in only]
        for number, note in enumerate(notes, 1):
            if not await work.one(note):
                tally.waiting += len(notes) - number
                break
            done = f"{number} of {len(notes)} notes"
            await task.note(outcome=done, changed=tally.references)
        await work.index()
        dream = await work.keep()
        return Outcome(said(tally, dream, alone=work.promotion is None), tally.references)

    async def preview(self, *, force: bool = False) -> tuple[Change, ...]:
        """The changes that a pass would make now, as a whole; nothing is changed. A reasoner is
        asked as in a pass, and may decide otherwise the next time."""
        work = await self._pass(force=force, dry=True)
        planner = self._parts.planner()
        for note in await inbox_notes(self._parts.index, self._parts.writer.inbox):
            before = planner.changes
            try:
                if await work.think(note, planner) is not None:
                    await planner.put(note.spot, None, reason="its text is in the wiki")
            except (AnswerError, DeclinedError):
                planner = self._from(before)
            except ReasonerError:
                planner = self._from(before)
                break
            except MemoryMcpError:
                planner = self._from(before)
        await plan_index(self._parts, planner)
        return planner.changes

    async def _pass(self, *, force: bool, dry: bool = False) -> Pass:
        """A pass that sees the wiki as it is now, with the prompt as it is now."""
        await self._parts.index.sweep()
        told = await anyio.to_thread.run_sync(prompt, "deep", self._parts.config.home)
        model = self._parts.model(told.model)
        return Pass(
            parts=self._parts,
            runs=self._runs,
            dreams=self._dreams,
            skips=self._skips,
            prompt=told.text,
            promotion=None
            if model is None
            else Promotion(self._parts, JobBudget(model), told.text),
            held=await holding(self._parts.index),
            force=force,
            returned=await self._runs.brought_back(DEEP),
            dry=dry,
        )

    def _from(self, changes: Sequence[Change]) -> Planner:
        planner = self._parts.planner()
        planner.start_from(changes)
        return planner
