"""The composition root: builds everything with a lifetime, and owns it.

A `Home` is what all agents of a home share: one index, one model, one set of background tasks. An
`App` is the memory of one agent: its own inbox and what all share, seen through one view.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread

from memory_mcp.core.agent import check_agent
from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError, MemoryMcpError, Problem, StorageError
from memory_mcp.core.ports import Clock, Embedder
from memory_mcp.curate.edit import Writer
from memory_mcp.curate.journal import Journal
from memory_mcp.curate.save import Jobs
from memory_mcp.index.embedder import make_embedder
from memory_mcp.index.index import Index
from memory_mcp.index.view import IndexView
from memory_mcp.notes.history import History
from memory_mcp.notes.own import is_own, keeper, other_spelling
from memory_mcp.notes.privacy import close_to_others
from memory_mcp.notes.sources import Source, is_same_folder, open_sources
from memory_mcp.recall.recall import Recall
from memory_mcp.search.read import Reader
from memory_mcp.search.search import Searcher

log = logging.getLogger(__name__)

_LOOK_SECONDS = 60.0  # how often jobs are looked for whose agent nobody has opened here


class SystemClock:
    """The real time, in the zone of this machine."""

    def now(self) -> datetime:
        """The current time with its offset."""
        return datetime.now().astimezone()  # noqa: TID251 - this is the Clock


@dataclass(slots=True)
class App:
    """The memory of one agent. Faces (server, command line) hold it and build nothing
    themselves. `index` and all that works on it see no inbox but the agent's own."""

    config: Config
    clock: Clock
    sources: tuple[Source, ...]
    history: History
    index: IndexView
    searcher: Searcher
    reader: Reader
    writer: Writer
    jobs: Jobs
    recall: Recall
    home: Home

    def start(self) -> None:
        """Begin the background work of the whole home (index, watcher, jobs). Calling it again
        does nothing."""
        self.home.start()

    async def settled(self, seconds: float | None = None) -> bool:
        """Wait until every file is indexed with its vectors; False if `seconds` ran out first."""
        return await self.index.settled(seconds)


class Home:
    """What all agents of a home share, and the memories of those that were asked for."""

    def __init__(
        self, config: Config, clock: Clock, embedder: Callable[[], Embedder] | None
    ) -> None:
        """Nothing is read yet. Raises ConfigError where the sources cannot be told apart."""
        self.config = config
        self.clock = clock
        self.index = Index(config, open_sources(config, own=False), embedder)
        self._folder = Path(config.home)
        close_to_others(self._folder)
        self._journal = Journal(self._folder / ".state" / "jobs")
        self._apps: dict[str, App] = {}
        self._refused: set[str] = set()
        self._started = False
        self._tasks: anyio.abc.TaskGroup | None = None

    def app(self, agent: str) -> App:
        """The memory of an agent; made at the first call, also while the home is at work: the
        inbox joins the running index. Raises ConfigError for a name that no agent can have, and
        where the agent's folders cannot be told from others."""
        known = self._apps.get(agent)
        if known is None:
            known = self._apps[agent] = self._open(agent)
            if self._started:
                self._begin(known.jobs.run)
                self._begin(known.recall.run)
        return known

    def start(self) -> None:
        """Begin the background work. Calling it again does nothing."""
        if self._started:
            return
        self._started = True
        self._begin(self.index.run)
        for app in self._apps.values():
            self._begin(app.jobs.run)
            self._begin(app.recall.run)
        if not self.config.writing.read_only:
            self._begin(self._find_jobs)

    async def settled(self, seconds: float | None = None) -> bool:
        """Wait until every file is indexed with its vectors; False if `seconds` ran out first."""
        return await self.index.settled(seconds)

    def jobs_waiting(self) -> int:
        """How many jobs this home has still to do for the agents that are open here; none where
        nothing may be written. Blocking, briefly; from any thread; raises StorageError."""
        if self.config.writing.read_only:
            return 0
        return sum(app.jobs.waiting for app in tuple(self._apps.values()))

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        """The time in which the home can work; all of it has ended when the block is left."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def _begin(self, work: Callable[[], object]) -> None:
        assert self._tasks is not None, "a home works only while it is alive"
        self._tasks.start_soon(work)  # type: ignore[arg-type]  # a coroutine function

    def _open(self, agent: str) -> App:
        config = _config_of(self.config, agent)
        sources = self._joined(open_sources(config))
        history = History(self._folder / ".history", keeper(config))
        index = IndexView(self.index, sources)
        searcher = Searcher(index, config.search)
        reader = Reader(index, sources, config.chunking, history.recent.keep)
        writer = Writer(sources, index, history, self.clock, searcher, config.writing)
        jobs = Jobs(self._journal, writer, index, self.clock, agent)
        recall = Recall(index, searcher, config)
        return App(
            config,
            self.clock,
            sources,
            history,
            index,
            searcher,
            reader,
            writer,
            jobs,
            recall,
            self,
        )

    def _joined(self, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        """The agent's sources as the index has them; those it does not have yet are added."""
        known = {source.id: source for source in self.index.sources}
        joined = []
        for source in sources:
            # Where links make the inboxes of two agents one folder, it is one source.
            same = known.get(source.id) or next(
                (
                    other
                    for other in known.values()
                    if other.name == source.name and is_same_folder(other.root, source.root)
                ),
                None,
            )
            if same is None:
                self.index.add(source)
            joined.append(same or source)
        return tuple(joined)

    async def _find_jobs(self) -> None:
        """Open the memories of agents that have jobs and no process that works on them."""
        while True:
            try:
                left = await anyio.to_thread.run_sync(self._journal.agents_left)
            except StorageError as error:
                log.warning("Jobs of other agents wait: %s", error)
                left = frozenset()
            for agent in sorted(left - self._apps.keys() - self._refused):
                try:
                    self.app(agent)
                except MemoryMcpError as error:
                    self._refused.add(agent)
                    log.warning("Jobs of agent %.64r wait: %s", agent, error)
            await anyio.sleep(_LOOK_SECONDS)


def _config_of(config: Config, agent: str) -> Config:
    """The settings for one agent. Raises ConfigError for a name that no agent can have, or one
    that this disk takes for another agent's."""
    try:
        check_agent(agent)
    except ValueError as error:
        raise ConfigError([Problem("agent", str(error), "agent")]) from error
    for item in config.sources.values():
        known = other_spelling(item.path, Path(config.home), agent) if is_own(item.path) else None
        if known is not None:
            message = (
                f"{agent!r} would get the folder {known!r}: this disk does not tell capital"
                " letters from small ones; use that spelling, or another name"
            )
            raise ConfigError([Problem("agent", message, "folder")])
    return config.model_copy(update={"agent": agent})


@asynccontextmanager
async def open_home(
    config: Config,
    *,
    embedder: Callable[[], Embedder] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Home]:
    """The home of these settings, closed when the block ends. Nothing is read before `start`.

    `embedder` loads another model than the settings name; `clock` is another time.
    Raises ConfigError where the sources cannot be told apart.
    """
    home = Home(config, clock or SystemClock(), embedder or make_embedder(config.embedding))
    async with home.alive():
        yield home


@asynccontextmanager
async def open_app(
    config: Config,
    *,
    embedder: Callable[[], Embedder] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[App]:
    """The memory of the agent of these settings, in a home of its own; see `open_home`."""
    home = Home(config, clock or SystemClock(), embedder or make_embedder(config.embedding))
    app = home.app(config.agent)
    async with home.alive():
        yield app
