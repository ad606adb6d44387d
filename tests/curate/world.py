"""A small real memory for tests: files, history, index and a worker, in a temporary folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from memory_mcp.core.config import Config
from memory_mcp.curate.curation import Curation, Parts
from memory_mcp.curate.jobs.journal import Journal
from memory_mcp.curate.jobs.worker import Jobs
from memory_mcp.curate.save.saver import Saver
from memory_mcp.curate.write.edit import Writer
from memory_mcp.index.index import Index
from memory_mcp.index.view import IndexView
from memory_mcp.notes.history import History
from memory_mcp.notes.sources import open_sources
from memory_mcp.search.read import Reader
from memory_mcp.search.search import Searcher
from tests.fakes import FixedClock, HashEmbedder


@dataclass
class World:
    """The parts, and short ways to look at files."""

    home: Path
    clock: FixedClock
    history: History
    index: Index
    searcher: Searcher
    writer: Writer
    curation: Curation
    tasks: anyio.abc.TaskGroup

    @property
    def jobs(self) -> Jobs:
        """Its worker."""
        return self.curation.jobs

    @property
    def saver(self) -> Saver:
        """What notes texts to be filed."""
        return self.curation.saver

    def file(self, reference: str) -> Path:
        """Where a note is on disk."""
        source, _, path = reference.partition("/")
        folder = {"memory": "agents/default/memory", "wiki": "wiki", "vault": "vault"}[source]
        return self.home / folder / f"{path}.md"

    def text(self, reference: str) -> str:
        """A note's text as it is on disk, line ends and all."""
        return self.file(reference).read_bytes().decode("utf-8")


@asynccontextmanager
async def world(
    tmp_path: Path,
    notes: Mapping[str, str | bytes] | None = None,
    settings: Mapping[str, Any] | None = None,
    clock: FixedClock | None = None,
    **writing: Any,
) -> AsyncIterator[World]:
    """A memory with these notes (reference -> text) that is indexed and running; `settings` are
    further sections of its config."""
    home = tmp_path / "home"
    (home / "vault").mkdir(parents=True, exist_ok=True)
    config = Config.model_validate(
        {
            "home": str(home),
            "sources": {"vault": {"path": "vault"}},
            "index": {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0},
            "writing": writing,
            **(settings or {}),
        }
    )
    sources = open_sources(config)
    history, clock = History(home / ".history"), clock or FixedClock()
    index = Index(config, sources, HashEmbedder)
    view = IndexView(index, sources)
    searcher = Searcher(view, config.search)
    writer = Writer(sources, view, history, clock, searcher, config.writing)
    reader = Reader(view, sources, config.chunking, history.recent.keep)
    parts = Parts(config, clock, view, history, searcher, reader, writer)
    curation = Curation(parts, Journal(home / ".state" / "jobs"))
    async with anyio.create_task_group() as tasks:
        made = World(home, clock, history, index, searcher, writer, curation, tasks)
        for reference, text in (notes or {}).items():
            path = made.file(reference)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        tasks.start_soon(index.run)
        assert await index.settled(5)
        yield made
        tasks.cancel_scope.cancel()
