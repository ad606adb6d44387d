"""The curation of one agent's memory: its jobs, its runs, its findings, built together.

What thinks about notes is loaded when it is first needed: a client waits for an engine to start.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from memory_mcp.core.errors import StorageError
from memory_mcp.curate.jobs import kinds
from memory_mcp.curate.jobs.journal import Journal
from memory_mcp.curate.jobs.schedule import Schedule
from memory_mcp.curate.jobs.task import Kind, Outcome, Task
from memory_mcp.curate.jobs.worker import Jobs
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.curate.reason.chosen import reasoner_of
from memory_mcp.curate.review.findings import Dreams, owner_of
from memory_mcp.curate.review.review import Reviews
from memory_mcp.curate.save.saver import Saver

if TYPE_CHECKING:
    from memory_mcp.curate.deep.job import Deep
    from memory_mcp.curate.enrich import Enrich
    from memory_mcp.curate.lucid.job import Lucid
    from memory_mcp.curate.rem.job import Rem
    from memory_mcp.curate.review.approve import Approvals
    from memory_mcp.curate.save.filer import Filer

__all__ = ["Curation", "Parts"]

log = logging.getLogger(__name__)

AGAIN_SECONDS = 60.0
"""How often what a killed process left is looked for: few are killed, and nobody waits for it."""


class Curation:
    """The parts with a life of their own."""

    def __init__(self, parts: Parts, journal: Journal, wider: Curation | None = None) -> None:
        """`wider` is the curation of the agent outside of the project."""
        config, read_only = parts.config, parts.config.writing.read_only
        known = reasoner_of(config, parts.clock) if wider is None else wider.parts.reasoner
        parts = replace(parts, reasoner=known)
        self.parts: Parts = parts
        self.jobs = Jobs(
            journal, parts.index, parts.clock, config.agent, parts.project, read_only=read_only
        )
        self.jobs.learn(
            {
                kinds.SAVE: self._kind("filer", kinds.SAVE_SECONDS, quick=True),
                kinds.REM: self._kind("rem", kinds.REM_SECONDS),
                kinds.DEEP: self._kind("deep", kinds.DEEP_SECONDS),
                kinds.LUCID: self._kind("lucid", kinds.LUCID_SECONDS),
                kinds.ENRICH: self._kind("enrich", kinds.ENRICH_SECONDS),
            }
        )
        self.saver: Saver = Saver(self.jobs, parts.writer, None if wider is None else wider.saver)
        folder = Path(config.home) / ".history" / ".runs"
        self.runs = Runs(folder, parts.history, parts.index, parts.clock, read_only=read_only)
        self.dreams = Dreams(parts.state / "dreams", owner_of(config.agent, parts.project))
        self.reviews = Reviews(parts.state / "dreams" / "reviews", parts.clock)
        scheduled = parts.reasoner is not None and not read_only
        self.schedule = (
            Schedule(self.jobs, parts.clock, config.curation, parts.state) if scheduled else None
        )
        """When passes begin by themselves; None without a reasoner, and in read-only mode."""

    async def run(self, again_seconds: float = AGAIN_SECONDS) -> None:
        """Go on with what a kill cut off, here or since in another process, and work on jobs
        until cancelled."""
        await self.jobs.run(self.runs.recover, partial(self._beside, again_seconds))

    async def _beside(self, again_seconds: float) -> None:
        async with anyio.create_task_group() as tasks:
            if self.schedule is not None:
                tasks.start_soon(self.schedule.run)
            while True:
                await anyio.sleep(again_seconds)
                try:
                    await self.runs.recover()
                except StorageError as error:
                    log.warning("What was cut off waits: %s", error)

    @cached_property
    def approvals(self) -> Approvals:
        """The decisions on findings."""
        from memory_mcp.curate.review.approve import Approvals

        return Approvals(self.parts, self.runs, self.dreams)

    @cached_property
    def filer(self) -> Filer:
        """What files saved texts."""
        from memory_mcp.curate.save.filer import Filer

        return Filer(self.parts, self.runs)

    @cached_property
    def rem(self) -> Rem:
        """What reads conversations."""
        from memory_mcp.curate.rem.job import Rem

        return Rem(self.parts, self.dreams)

    @cached_property
    def deep(self) -> Deep:
        """What takes the inbox over into the wiki."""
        from memory_mcp.curate.deep.job import Deep

        return Deep(self.parts, self.runs, self.dreams)

    @cached_property
    def lucid(self) -> Lucid:
        """What looks through the wiki."""
        from memory_mcp.curate.lucid.job import Lucid

        return Lucid(self.parts, self.dreams)

    @cached_property
    def enrich(self) -> Enrich:
        """All of it in a row."""
        from memory_mcp.curate.enrich import Enrich

        return Enrich(self.parts, self.jobs, self.runs, self.rem, self.deep)

    def _kind(self, part: str, seconds: float, *, quick: bool = False) -> Kind:
        async def work(task: Task) -> Outcome:
            ready = await anyio.to_thread.run_sync(getattr, self, part)  # it may be loaded first
            done: Outcome = await ready.run(task)
            return done

        return Kind(work, seconds, "quick" if quick else "long")
