"""The memory behind all connections: opened once, with a server for each agent and project."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from memory_mcp.core.config import Config
from memory_mcp.front.home import STATE
from memory_mcp.recall.kept import owner
from memory_mcp.server.build import Face
from memory_mcp.server.ledger import sweep
from memory_mcp.server.session import Connection, Options

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from mcp.server import MCPServer

    from memory_mcp.app import App, Home, Key

ALONE_SECONDS = 2.0
"""How long an engine waits for its first client before it opens the memory anyway."""

_THREADS = 100
"""Worker threads at most. Writes to one note wait for each other, each on a thread: reads must
still find one."""

_IDLE = 8
"""Memories of projects that stay open unused: opening one again costs a few milliseconds."""

_HOUSE = ("memory_mcp.app", "memory_mcp.server.tools", "memory_mcp.server.resources")


class Faces:
    """Servers by agent and project. They shake hands before the memory is open.

    Those of projects that nobody uses are given up, the longest unused first.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._faces: dict[Key, Face] = {}
        self._furnished: dict[Key, anyio.CancelScope] = {}
        self._guests: Counter[Key] = Counter()
        self._begin = anyio.Event()
        self._open = anyio.Event()
        self._home: Home | None = None
        self._tasks: TaskGroup | None = None

    @property
    def home(self) -> Home | None:
        """The memory, once it is open."""
        return self._home

    def face(self, options: Options) -> Face:
        """The face for a client, furnished or not."""
        key = _key(options)
        face = self._faces.pop(key, None) or Face(self._config.home, _owner(options))
        self._faces[key] = face  # the last one is the one that was used last
        return face

    def server(self, options: Options) -> MCPServer[Connection]:
        """The furnished server for a client. Only once the memory is open."""
        self._furnish(options)
        return self.face(options).server

    def of_agent(self, agent: str) -> MCPServer[Connection]:
        """The same for who only says which agent it is: over HTTP no client has a folder."""
        return self.server(Options(agent))

    def app_for(self, options: Options) -> App:
        """The memory of a client: of its agent, in its project. Only once the memory is open.

        Raises ConfigError for what its agent cannot have."""
        assert self._home is not None, "the memory is not open yet"
        return self._home.app(*_key(options))

    @contextmanager
    def guest(self, options: Options) -> Iterator[None]:
        """The time in which a client uses its face and its memory."""
        key = _key(options)
        self._guests[key] += 1
        try:
            yield
        finally:
            self._guests[key] -= 1
            self._give_up()

    def _give_up(self) -> None:
        """Close memories of projects that nobody uses, but for some that may be wanted again."""
        self._guests = +self._guests
        idle = [key for key in self._faces if key[1] is not None and key not in self._guests]
        for key in idle[: max(0, len(idle) - _IDLE)]:
            del self._faces[key]
            if (telling := self._furnished.pop(key, None)) is not None:
                telling.cancel()
            agent, project = key
            if self._home is not None and project is not None:
                self._home.close(agent, project)

    def begin(self) -> None:
        """Open the memory now."""
        self._begin.set()

    async def opened(self) -> Home:
        """Wait until the memory is open."""
        self._begin.set()
        await self._open.wait()
        assert self._home is not None
        return self._home

    async def ready(self, connection: Connection) -> None:
        """Wait until a client can be served in full. Raises what its agent cannot have."""
        await self.opened()
        self._furnish(connection.options)
        connection.open(self.app_for(connection.options))

    def _furnish(self, options: Options) -> None:
        key = _key(options)
        if key in self._furnished:
            return
        assert self._tasks is not None
        app, face = self.app_for(options), self.face(options)
        face.furnish(app)
        telling = self._furnished[key] = anyio.CancelScope()
        self._tasks.start_soon(_tell, face, app, telling)

    async def run(self) -> None:
        """Open the memory when it is time, and keep it open until cancelled.

        The first client is what decides the time: imports would slow its handshake down. Where
        none comes, there may still be jobs. Raises what opening raises.
        """
        with anyio.move_on_after(ALONE_SECONDS):
            await self._begin.wait()
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        for name in _HOUSE:  # on a thread: clients shake hands meanwhile
            await anyio.to_thread.run_sync(import_module, name, abandon_on_cancel=True)
        from memory_mcp.app import open_home

        async with open_home(self._config) as home, anyio.create_task_group() as tasks:
            self._home, self._tasks = home, tasks
            gc.freeze()
            gc.enable()
            home.start()
            self._open.set()
            state = Path(self._config.home) / STATE
            await anyio.to_thread.run_sync(sweep, state, time.time(), abandon_on_cancel=True)
            try:
                await anyio.sleep_forever()
            finally:
                tasks.cancel_scope.cancel()


def _key(options: Options) -> Key:
    return options.agent, options.project


async def _tell(face: Face, app: App, scope: anyio.CancelScope) -> None:
    """Each face tells its own clients what changed in the memory of its agent."""
    with scope:
        async with face.notices.running(app.index):
            await anyio.sleep_forever()


def _owner(options: Options) -> str:
    return owner(options.agent, options.project.id if options.project else None)
