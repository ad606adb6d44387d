"""The composition root: builds everything with a lifetime, and owns it.

A `Home` is what all agents share: one index, one model, one set of background tasks. An `App` is
one agent's: its inbox and what all share, through one view; in a project with its notes in front.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread

from memory_mcp.core.config import Config
from memory_mcp.core.errors import MemoryMcpError, StorageError
from memory_mcp.core.ports import Clock, Embedder
from memory_mcp.curate.curation import Curation, Parts
from memory_mcp.curate.jobs.journal import Journal, Owner
from memory_mcp.curate.jobs.worker import Jobs
from memory_mcp.curate.save.saver import Saver
from memory_mcp.curate.write.edit import Writer
from memory_mcp.curate.write.scoped import ScopedWriter
from memory_mcp.index.embedder import make_embedder
from memory_mcp.index.index import Index
from memory_mcp.index.view import IndexView
from memory_mcp.notes.history import History
from memory_mcp.notes.own import config_of, keeper, project_keeper
from memory_mcp.notes.privacy import close_to_others
from memory_mcp.notes.projects import project_inbox, project_vaults
from memory_mcp.notes.sources import Source, is_same_folder, open_sources
from memory_mcp.recall.recall import Recall
from memory_mcp.search.read import Reader
from memory_mcp.search.search import Searcher
from memory_mcp.settings.clock import SystemClock
from memory_mcp.settings.project import Project, layered

log = logging.getLogger(__name__)

Key = tuple[str, Project | None]
"""Whose memory: an agent, and the project in which it works."""

_LOOK_SECONDS = 60.0  # how often jobs are looked for whose agent nobody has opened here


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
    curation: Curation
    recall: Recall
    home: Home
    project: Project | None = None
    """Whose notes are seen besides; None outside of projects."""
    wider: App | None = None
    """In a project: the agent's memory outside of it."""
    warnings: tuple[str, ...] = ()
    """What a person should know of the project's folder."""

    @property
    def jobs(self) -> Jobs:
        """The background work of this memory."""
        return self.curation.jobs

    @property
    def saver(self) -> Saver:
        """What notes texts to be filed."""
        return self.curation.saver

    def keeping(self, *, project: bool) -> App:
        """The memory that keeps an inbox: of the project, or the global one."""
        return self if project or self.wider is None else self.wider

    def start(self) -> None:
        """Begin the background work of the whole home; calling it again does nothing."""
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
        self._apps: dict[Key, App] = {}
        self._work: dict[Key, anyio.CancelScope] = {}
        self._refused: set[Owner] = set()
        self._started = False
        self._tasks: anyio.abc.TaskGroup | None = None

    def app(self, agent: str, project: Project | None = None) -> App:
        """The memory of an agent, in a project; made at the first call, also while the home is at
        work: the inbox joins the running index. Raises ConfigError for a name that no agent can
        have, and where the agent's folders cannot be told from others."""
        key = agent, project
        known = self._apps.get(key)
        if known is None:
            known = self._open(agent) if project is None else self._within(agent, project)
            self._apps[key] = known
            if self._started:
                self._begin_work(key)
        return known

    def close(self, agent: str, project: Project) -> None:
        """Forget the memory of an agent in a project, which nobody uses now. Its notes stay in the
        index, and the next call of `app` opens it again."""
        app = self._apps.pop((agent, project), None)
        if app is not None:
            app.index.close()
        work = self._work.pop((agent, project), None)
        if work is not None:
            work.cancel()

    def start(self) -> None:
        """Begin the background work. Calling it again does nothing."""
        if self._started:
            return
        self._started = True
        self._begin(self.index.run)
        for key in self._apps:
            self._begin_work(key)
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

    def _begin_work(self, key: Key) -> None:
        scope = self._work[key] = anyio.CancelScope()
        app = self._apps[key]

        async def work() -> None:
            with scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(app.curation.run)
                    tasks.start_soon(app.recall.run)

        self._begin(work)

    def _within(self, agent: str, project: Project) -> App:
        """The memory of an agent with that of a project in front."""
        wider = self.app(agent)
        config = layered(wider.config, project)
        vaults, warnings = project_vaults(config, project, wider.sources)
        sources = self._joined((project_inbox(config, project), *vaults))
        sources = (sources[0], *wider.sources, *sources[1:])
        history = History(self._folder / ".history", project_keeper(project.id))
        history.recent = wider.history.recent
        index = IndexView(self.index, sources)
        searcher = Searcher(index, config.search)
        reader = Reader(index, sources, config.chunking, history.recent.keep)
        writer = ScopedWriter(
            wider.writer, sources, index, history, self.clock, searcher, config.writing
        )
        parts = Parts(config, self.clock, index, history, searcher, reader, writer, project.id)
        return replace(
            wider,
            config=config,
            sources=sources,
            history=history,
            index=index,
            searcher=searcher,
            reader=reader,
            writer=writer,
            curation=Curation(parts, self._journal, wider.curation),
            recall=Recall(index, searcher, config, project.id),
            project=project,
            wider=wider,
            warnings=(*project.warnings, *warnings),
        )

    def _open(self, agent: str) -> App:
        config = config_of(self.config, agent)
        sources = self._joined(open_sources(config))
        history = History(self._folder / ".history", keeper(config))
        index = IndexView(self.index, sources)
        searcher = Searcher(index, config.search)
        reader = Reader(index, sources, config.chunking, history.recent.keep)
        writer = Writer(sources, index, history, self.clock, searcher, config.writing)
        parts = Parts(config, self.clock, index, history, searcher, reader, writer)
        curation, recall = Curation(parts, self._journal), Recall(index, searcher, config)
        house = index, searcher, reader, writer, curation, recall
        return App(config, self.clock, sources, history, *house, self)

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
                left = await anyio.to_thread.run_sync(self._journal.owners_left)
            except StorageError as error:
                log.warning("Jobs of other agents wait: %s", error)
                left = frozenset()
            open_here = {(agent, project and project.id) for agent, project in self._apps}
            for owner in sorted(left - open_here - self._refused, key=str):
                agent, project = owner
                try:
                    self.app(agent, None if project is None else Project(project))
                except MemoryMcpError as error:
                    self._refused.add(owner)
                    log.warning("Jobs of agent %.64r wait: %s", agent, error)
            await anyio.sleep(_LOOK_SECONDS)


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
    project: Project | None = None,
    *,
    embedder: Callable[[], Embedder] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[App]:
    """The memory of the agent of these settings, in a project, in a home of its own; see
    `open_home`."""
    home = Home(config, clock or SystemClock(), embedder or make_embedder(config.embedding))
    app = home.app(config.agent, project)
    async with home.alive():
        yield app
