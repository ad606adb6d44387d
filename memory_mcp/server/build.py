"""The MCP server of a memory: it can shake hands before the memory is open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types as t
from mcp.server import MCPServer
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError

from memory_mcp import __version__
from memory_mcp.recall.kept import kept, owner
from memory_mcp.server.notices import Notices
from memory_mcp.server.session import Connection
from memory_mcp.settings.prompts import fill, load

if TYPE_CHECKING:
    from memory_mcp.app import App

PLACE = "{index}"
"""Where the index section stands in the instructions."""


def build(app: App) -> MCPServer[Connection]:
    """A server for the app. It starts nothing and opens nothing.

    The state of a client is a `Connection`: give one to `connection.serve`, or let the server's
    lifespan make one with the options of the settings.
    """
    face = Face(app.config.home, owner(app.config.agent, app.project.id if app.project else None))
    face.furnish(app)
    return face.server


class Face:
    """A server that knows its name, its instructions and what it can do; `furnish` adds the rest.

    The rest is what costs time to import, and a client that starts the server waits for the
    handshake alone.
    """

    def __init__(self, home: str, owner: str) -> None:
        """`owner` is whose index section the instructions hold; see `recall.kept`."""
        self._home = home
        self.notices = Notices()
        self.server = MCPServer[Connection](
            "memory-mcp",
            title="Memory",
            version=__version__,
            instructions=_instructions(home, kept(home, owner)),
            lifespan=self._lifespan,
            subscriptions=self.notices.bus,
            log_level="WARNING",
        )
        self._app: App | None = None
        self.notices.register(self.server)
        low: Any = self.server._lowlevel_server
        low.add_request_handler("completion/complete", t.CompleteRequestParams, _not_yet)
        _announce_changes(low)

    def furnish(self, app: App) -> None:
        """Add tools, resources and prompts, which work on this app."""
        from memory_mcp.server import prompting, resources, tools

        self._app = app
        tools.register(self.server)
        resources.register(self.server)
        prompting.register(self.server, app.config.home)
        app.recall.listen(self._instruct)

    def _instruct(self, section: str) -> None:
        """Tell clients that come from now on what there is."""
        self.server._lowlevel_server.instructions = _instructions(self._home, section)

    @asynccontextmanager
    async def _lifespan(self, _: MCPServer[Connection]) -> AsyncIterator[Connection]:
        if self._app is None:
            raise RuntimeError("the server was opened before it was furnished")
        async with self.notices.running(self._app.index):
            yield Connection.of(self._app)


def _instructions(home: str, section: str) -> str:
    """How to use the tools, and what there is: where the prompt has a place for it, else last."""
    text = load("instructions", home)
    return fill(text if PLACE in text else f"{text.rstrip()}\n\n{PLACE}\n", index=section.strip())


async def _not_yet(ctx: Any, params: Any) -> t.EmptyResult:
    """Stands for a request that is answered once the server is furnished."""
    raise MCPError(code=t.INTERNAL_ERROR, message="The memory is not open yet; try again.")


def _announce_changes(low: Any) -> None:
    """Say in the handshake what changes; the SDK says so in the newer era only. Tools and prompts
    do with the settings, which the front tells a client of when another engine has read them."""
    original = low.create_initialization_options

    def options(
        notification_options: NotificationOptions | None = None, *rest: Any, **named: Any
    ) -> InitializationOptions:
        changes = notification_options or NotificationOptions(
            resources_changed=True, tools_changed=True, prompts_changed=True
        )
        result: InitializationOptions = original(changes, *rest, **named)
        return result

    low.create_initialization_options = options
