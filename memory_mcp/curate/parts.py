"""What curation works on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.config import Config
from memory_mcp.core.ports import Clock, Reasoner
from memory_mcp.curate.plans.planner import Planner
from memory_mcp.curate.reason.chosen import reasoner_of
from memory_mcp.curate.write.edit import Writer
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
    reasoner: Reasoner | None = None
    """The chat model, set by `curate`; None: the person's own agent does what needs judgement."""

    def model(self, name: str | None) -> Reasoner | None:
        """The chat model, or another one of its provider where a prompt names one."""
        if name is None or self.reasoner is None:
            return self.reasoner
        return reasoner_of(self.config, self.clock, name)

    @property
    def state(self) -> Path:
        """Where jobs, findings and markers are kept."""
        return Path(self.config.home) / ".state"

    def planner(self) -> Planner:
        """An empty plan for this agent's inbox and the wiki."""
        return Planner(
            self.index, self.writer.inbox, self.history, self.clock, self.config.writing
        )
