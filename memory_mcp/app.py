"""The composition root: builds everything with a lifetime, and owns it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
import anyio.abc

from memory_mcp.core.config import Config
from memory_mcp.core.ports import Clock, Embedder
from memory_mcp.curate.edit import Writer
from memory_mcp.curate.journal import Journal
from memory_mcp.curate.save import Jobs
from memory_mcp.index.embedder import make_embedder
from memory_mcp.index.index import Index
from memory_mcp.notes.history import History
from memory_mcp.notes.sources import Source, open_sources
from memory_mcp.search.read import Reader
from memory_mcp.search.search import Searcher


class SystemClock:
    """The real time, in the zone of this machine."""

    def now(self) -> datetime:
        """The current time with its offset."""
        return datetime.now().astimezone()  # noqa: TID251 - this is the Clock


@dataclass(slots=True)
class App:
    """A running memory. Faces (server, command line) hold it and build nothing themselves."""

    config: Config
    clock: Clock
    sources: tuple[Source, ...]
    history: History
    index: Index
    searcher: Searcher
    reader: Reader
    writer: Writer
    jobs: Jobs
    _tasks: anyio.abc.TaskGroup
    _started: bool = False

    def start(self) -> None:
        """Begin the background work (index, watcher, jobs). Calling it again does nothing."""
        if self._started:
            return
        self._started = True
        self._tasks.start_soon(self.index.run)
        self._tasks.start_soon(self.jobs.run)

    async def settled(self, seconds: float | None = None) -> bool:
        """Wait until every file is indexed with its vectors; False if `seconds` ran out first."""
        return await self.index.settled(seconds)


@asynccontextmanager
async def open_app(
    config: Config,
    *,
    embedder: Callable[[], Embedder] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[App]:
    """A memory for these settings, closed when the block ends. Nothing is read before `start`.

    `embedder` loads another model than the settings name; `clock` is another time.
    Raises ConfigError where the sources cannot be told apart.
    """
    time = clock or SystemClock()
    sources = open_sources(config)
    home = Path(config.home)
    history = History(home / ".history", config.agent)
    index = Index(config, sources, embedder or make_embedder(config.embedding))
    searcher = Searcher(index, config.search)
    reader = Reader(index, sources, config.chunking, history.recent.keep)
    writer = Writer(sources, index, history, time, searcher, config.writing)
    jobs = Jobs(Journal(home / ".state" / "jobs"), writer, index, time)
    async with anyio.create_task_group() as tasks:
        try:
            yield App(config, time, sources, history, index, searcher, reader, writer, jobs, tasks)
        finally:
            tasks.cancel_scope.cancel()
