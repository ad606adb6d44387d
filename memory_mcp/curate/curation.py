"""The curation of one agent's memory: its jobs, its runs, its findings, built together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from memory_mcp.curate.approve import Approvals
from memory_mcp.curate.deep import KIND, SECONDS, Deep
from memory_mcp.curate.enrich import Enrich
from memory_mcp.curate.findings import Dreams, owner_of
from memory_mcp.curate.jobs import Jobs
from memory_mcp.curate.journal import Journal
from memory_mcp.curate.lucid import Lucid
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.reasoning import reasoner_of
from memory_mcp.curate.rem import Rem
from memory_mcp.curate.review import Reviews
from memory_mcp.curate.runs import Runs
from memory_mcp.curate.save import Saver
from memory_mcp.curate.schedule import Schedule
from memory_mcp.curate.task import Kind

__all__ = ["Curation", "Parts", "curate"]


@dataclass(frozen=True, slots=True)
class Curation:
    """The parts with a life of their own."""

    parts: Parts
    jobs: Jobs
    saver: Saver
    runs: Runs
    dreams: Dreams
    approvals: Approvals
    rem: Rem
    deep: Deep
    enrich: Enrich
    reviews: Reviews
    schedule: Schedule | None = None
    """When passes begin by themselves; None without a reasoner, and in read-only mode."""

    async def run(self) -> None:
        """Go on with what a kill cut off, then work on jobs until cancelled."""
        await self.jobs.run(
            self.runs.recover, None if self.schedule is None else self.schedule.run
        )


def curate(parts: Parts, journal: Journal, wider: Curation | None = None) -> Curation:
    """The curation of these parts; `wider` is that of the agent outside of the project."""
    config, read_only = parts.config, parts.config.writing.read_only
    known = reasoner_of(config, parts.clock) if wider is None else wider.parts.reasoner
    parts = replace(parts, reasoner=known)
    jobs = Jobs(
        journal, parts.index, parts.clock, config.agent, parts.project, read_only=read_only
    )
    folder = Path(config.home) / ".history" / ".runs"
    runs = Runs(folder, parts.history, parts.index, parts.clock, read_only=read_only)
    saver = Saver(jobs, parts, runs, None if wider is None else wider.saver)
    dreams = Dreams(parts.state / "dreams", owner_of(config.agent, parts.project))
    approvals, rem = Approvals(parts, runs, dreams), Rem(parts, dreams)
    deep = Deep(parts, runs, dreams)
    jobs.learn({KIND: Kind(deep.run, SECONDS), **rem.kinds, **Lucid(parts, dreams).kinds})
    enrich = Enrich(parts, jobs, runs, rem, deep)
    reviews = Reviews(parts.state / "dreams" / "reviews", parts.clock)
    scheduled = parts.reasoner is not None and not read_only
    schedule = Schedule(jobs, parts.clock, config.curation, parts.state) if scheduled else None
    done = (approvals, rem, deep, enrich, reviews, schedule)
    return Curation(parts, jobs, saver, runs, dreams, *done)
