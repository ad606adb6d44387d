"""Enrichment: talks are distilled, what was filed is put in order, the index is built."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path

import anyio.to_thread

from memory_mcp.core.errors import ConflictError, InputError, ReasonerError
from memory_mcp.core.framing import one_line
from memory_mcp.core.given import given_text
from memory_mcp.curate.deep.copies import remove_copies
from memory_mcp.curate.deep.job import Deep
from memory_mcp.curate.jobs.journal import Job
from memory_mcp.curate.jobs.kinds import ENRICH, MOST_DAYS
from memory_mcp.curate.jobs.task import Outcome, Task
from memory_mcp.curate.jobs.worker import Jobs
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.rem.job import Rem
from memory_mcp.curate.transcripts.old import put_away
from memory_mcp.curate.transcripts.waiting import in_folders
from memory_mcp.search.hit import SearchRequest

_FOUND = 50
_SCORE = 0.35  # as for what recall brings unasked: a weaker hit is about something else
_HAND_OVER = (
    "No reasoner is configured: your own agent does the rest, with the prompts enrich and review."
)


class Enrich:
    """The job `enrich` of one memory. It can be run again after a kill: each phase finds what it
    had done."""

    def __init__(self, parts: Parts, jobs: Jobs, runs: Runs, rem: Rem, deep: Deep) -> None:
        self._parts = parts
        self._jobs = jobs
        self._runs = runs
        self._rem = rem
        self._deep = deep

    async def add(
        self, focus: str | None = None, older_than_days: int = 0, *, mark: str | None = None
    ) -> Job:
        """Note the job durably and return at once; `mark`: of a request that may come again.

        Raises InputError, RefusedError (read-only), StorageError.
        """
        self._parts.writer.check_writable()
        if not 0 <= older_than_days <= MOST_DAYS:
            raise InputError(
                f"delete_older_than_days is {older_than_days}; give the days after which"
                " conversations are put away, or 0 to leave them where they are."
            )
        about = one_line(given_text(focus, "focus").text, 500) if focus else ""
        request = {"focus": about, "older_than_days": older_than_days}
        return await self._jobs.add(
            ENRICH, request, job_id=None if mark is None else f"{ENRICH}-{mark}"
        )

    async def run(self, task: Task) -> Outcome:
        """All phases: what a job of the kind `enrich` does. Raises StorageError."""
        request = task.record.request
        said = [await self._distil(task)]
        only = await self._found(str(request.get("focus") or ""))
        if only is not None:
            said.append(f"Looked at {len(only)} notes about the focus.")
        try:
            copies = await remove_copies(self._parts, self._runs, task.job_id, only)
        except ConflictError:
            copies = ()  # changed meanwhile: the next time
        if copies:
            said.append(f"Removed {', '.join(copies)}, which other notes say word for word.")
        done = await self._deep.over(task, only)
        said.append(done.text)
        said.append(await self._put_away(int(request.get("older_than_days") or 0)))
        if self._parts.reasoner is None:
            said.append(_HAND_OVER)
        changed = await self._runs.changed(task.job_id)
        return Outcome(" ".join(filter(None, said)), changed)

    async def _distil(self, task: Task) -> str:
        """Phase 0: conversations become findings that wait for a decision."""

        async def note(text: str) -> None:
            await task.note(outcome=text)

        try:
            tally = await self._rem.read_all(task.job_id, force=False, note=note)
        except ReasonerError as error:
            return f"Conversations were not read: {one_line(str(error), 300)}"
        return tally.said()

    async def _found(self, focus: str) -> Collection[str] | None:
        """The notes that a search finds for the focus; None where all are meant."""
        if not focus:
            return None
        names = tuple({s.name for s in self._parts.index.sources if s.kind != "vault"})
        request = SearchRequest(focus, limit=_FOUND, min_score=_SCORE, sources=names)
        found = await self._parts.searcher.search(request)
        return frozenset(hit.card.reference for hit in found.hits)

    async def _put_away(self, days: int) -> str:
        """Transcripts of the configured folders that are done with, where that was asked for."""
        config = self._parts.config
        if days <= 0 or self._parts.project is not None:
            return ""
        home = Path(config.home)
        paths = [item.path for item in in_folders(config.curation.transcripts, home)]
        now, settled = self._parts.clock.now(), self._rem.is_settled
        done = await anyio.to_thread.run_sync(partial(put_away, paths, home, now, days, settled))
        text = f"{done.moved} conversations older than {days} days were moved to"
        text += " .history/transcripts."
        if done.stay:
            text += f" {done.stay} stay: not read to the end, or with findings to decide."
        return text
