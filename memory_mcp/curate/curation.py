"""The curation of one agent's memory: its jobs, its runs, its findings, built together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.config import Config
from memory_mcp.core.ports import Clock
from memory_mcp.curate.edit import Writer
from memory_mcp.curate.findings import Dreams
from memory_mcp.curate.jobs import Jobs
from memory_mcp.curate.journal import Journal
from memory_mcp.curate.planner import Planner
from memory_mcp.curate.runs import Runs
from memory_mcp.curate.save import Saver
from memory_mcp.index.view import IndexView
from memory_mcp.notes.history import History
from memory_mcp.search.read import Reader
from memory_mcp.search.search import Searcher


@dataclass(frozen=True, slots=True)
class Parts:
    """What curation works on: the memory of an agent, in a project where there is one."""

    config: Config
    clock: Clock
    index: IndexView
    history: History
    searcher: Searcher
    reader: Reader
    writer: Writer
    project: str | None = None

    @property
    def state(self) -> Path:
        """Where jobs, findings and markers are kept."""
        return Path(self.config.home) / ".state"

    def planner(self) -> Planner:
        """An empty plan for this agent's inbox and the wiki."""
        return Planner(
            self.index, self.writer.inbox, self.history, self.clock, self.config.writing
        )


@dataclass(frozen=True, slots=True)
class Curation:
    """The parts with a life of their own."""

    parts: Parts
    jobs: Jobs
    saver: Saver
    runs: Runs
    dreams: Dreams

    async def run(self) -> None:
        """Go on with what a kill cut off, then work on jobs until cancelled."""
        await self.runs.recover()
        await self.jobs.run()


def curate(parts: Parts, journal: Journal, wider: Curation | None = None) -> Curation:
    """The curation of these parts; `wider` is that of the agent outside of the project."""
    config, read_only = parts.config, parts.config.writing.read_only
    jobs = Jobs(
        journal, parts.index, parts.clock, config.agent, parts.project, read_only=read_only
    )
    saver = Saver(jobs, parts.writer, parts.index, None if wider is None else wider.saver)
    folder = Path(config.home) / ".history" / ".runs"
    runs = Runs(folder, parts.history, parts.index, parts.clock, read_only=read_only)
    owner = config.agent if parts.project is None else f"{config.agent} in {parts.project}"
    return Curation(parts, jobs, saver, runs, Dreams(parts.state / "dreams", owner))
