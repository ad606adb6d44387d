"""The memory behind all connections: opened once, with a server for each agent in front of it."""

from __future__ import annotations

import gc
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from memory_mcp.core.config import Config
from memory_mcp.front.home import STATE
from memory_mcp.server.build import Face
from memory_mcp.server.ledger import sweep
from memory_mcp.server.session import Connection

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from mcp.server import MCPServer

    from memory_mcp.app import App, Home

ALONE_SECONDS = 2.0
"""How long an engine waits for its first client before it opens the memory anyway."""

_THREADS = 100
"""Worker threads at most. Writes to one note wait for each other, each on a thread: reads must
still find one."""

_HOUSE = ("memory_mcp.app", "memory_mcp.server.tools", "memory_mcp.server.resources")


class Faces:
    """Servers by agent. They shake hands before the memory is open."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._faces: dict[str, Face] = {}
        self._furnished: set[str] = set()
        self._begin = anyio.Event()
        self._open = anyio.Event()
        self._home: Home | None = None
        self._tasks: TaskGroup | None = None

    @property
    def home(self) -> Home | None:
        """The memory, once it is open."""
        return self._home

    def face(self, agent: str) -> Face:
        """The face for an agent, furnished or not."""
        if agent not in self._faces:
            self._faces[agent] = Face(self._config.home, agent)
        return self._faces[agent]

    def server(self, agent: str) -> MCPServer[Connection]:
        """The furnished server for an agent. Only once the memory is open."""
        self._furnish(agent)
        return self.face(agent).server

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
        home = await self.opened()
        agent = connection.options.agent
        self._furnish(agent)
        connection.open(home.app(agent))

    def _furnish(self, agent: str) -> None:
        if agent in self._furnished:
            return
        assert self._home is not None and self._tasks is not None
        app = self._home.app(agent)
        face = self.face(agent)
        face.furnish(app)
        self._furnished.add(agent)
        self._tasks.start_soon(_tell, face, app)

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


async def _tell(face: Face, app: App) -> None:
    """Each face tells its own clients what changed in the memory of its agent."""
    async with face.notices.running(app.index):
        await anyio.sleep_forever()
