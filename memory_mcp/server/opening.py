"""A memory that is opened behind its client's back, once the client has its handshake."""

from __future__ import annotations

import gc
from importlib import import_module

import anyio
import anyio.to_thread

from memory_mcp.core.config import Config
from memory_mcp.recall.kept import owner
from memory_mcp.server.build import Face
from memory_mcp.server.session import Connection, Options
from memory_mcp.settings.project import Project

_HOUSE = ("memory_mcp.app", "memory_mcp.server.tools", "memory_mcp.server.resources")


class Opening:
    """The server for one client, at once, and its memory, a moment later."""

    def __init__(self, config: Config, project: Project | None = None) -> None:
        self.face = Face(config.home, owner(config.agent, project.id if project else None))
        self.state = Connection(None, Options.of(config, project))
        self._config = config
        self._project = project
        self._begin = anyio.Event()
        self._open = anyio.Event()

    def begin(self) -> None:
        """Open the memory now."""
        self._begin.set()

    async def ready(self) -> None:
        """Wait until the memory is open and the server has all it offers."""
        self._begin.set()
        await self._open.wait()

    async def run(self) -> None:
        """Open the memory when it is time, and keep it open until cancelled.

        Raises what opening raises; importing the house takes most of the time.
        """
        await self._begin.wait()
        for name in _HOUSE:  # on a thread: a client that goes meanwhile is not kept waiting
            await anyio.to_thread.run_sync(import_module, name, abandon_on_cancel=True)
        from memory_mcp.app import open_app

        async with open_app(self._config, self._project) as app:
            self.face.furnish(app)
            self.state.open(app)
            gc.freeze()
            gc.enable()
            app.start()
            async with self.face.notices.running(app.index):
                self._open.set()
                await anyio.sleep_forever()
