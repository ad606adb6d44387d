"""A port on a home: opened while the block lasts, closed without losing an answer."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import uvicorn
from anyio.abc import TaskStatus
from mcp.server import MCPServer

from memory_mcp.server.http.app import MCP_PATH, SSE_PATH, application
from memory_mcp.server.http.binding import addresses_of, check_grants, listen, url_of
from memory_mcp.server.http.exchanges import Exchanges
from memory_mcp.server.http.grants import PortRequest
from memory_mcp.server.http.guard import HEADER_BYTES
from memory_mcp.server.http.hosts import Hosts, hosts_for
from memory_mcp.server.http.logs import quieten
from memory_mcp.server.http.rooms import Memories, Memory
from memory_mcp.server.http.wire import Wire
from memory_mcp.server.session import Connection

if TYPE_CHECKING:
    from memory_mcp.app import Home

FINISH_SECONDS = 2.0
"""How long answers that are under way may take when the port closes."""

CLOSE_SECONDS = 1
"""And how long the connections may take to go after that. Together well below 4 s."""

Opening = Callable[[], Awaitable["Home"]]
"""The home, once it is open."""

Faces = Callable[[str], MCPServer[Connection]]
"""The server that speaks for an agent of an open home. Raises ConfigError for one that cannot be
there."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A port that is open."""

    host: str
    port: int
    url: str
    """Where a client on this machine connects."""

    def as_json(self) -> dict[str, Any]:
        """What the engine answers to who asked for the port."""
        return {"host": self.host, "port": self.port, "url": self.url}


@asynccontextmanager
async def open_port(home: Opening, faces: Faces, request: PortRequest) -> AsyncIterator[Opened]:
    """A home on a port, for as long as the block lasts.

    `home` waits until the memory is open: the port is there before, and its requests wait. Raises
    InputError, RefusedError or StorageError where the port cannot or must not be opened; nothing
    is open then. Leaving the block lets answers that are under way end, for FINISH_SECONDS at
    most, ends streams, and closes the port, all within 4 s. A call that hangs on a disk gets no
    answer then, but the block is left only when it is done with its file.
    """

    async def memory(agent: str) -> Memory:
        app = (await home()).app(agent)
        return Memory(app, faces(agent))

    quieten()
    addresses = await anyio.to_thread.run_sync(addresses_of, request.host)
    check_grants(request.host, addresses, request.grants)
    sockets = listen(request.host, addresses, request.port)
    hosts = hosts_for(request.host, addresses, sockets[0].getsockname()[1])
    leave = anyio.Event()
    async with anyio.create_task_group() as tasks:
        try:
            await tasks.start(_serve, request, hosts, memory, sockets, leave)
            path = MCP_PATH if request.transport == "streamable-http" else SSE_PATH
            url = url_of(request.host, hosts.port) + path
            yield Opened(request.host, hosts.port, url)
        finally:
            leave.set()


async def _serve(
    request: PortRequest,
    hosts: Hosts,
    memories: Memories,
    sockets: list[socket.socket],
    leave: anyio.Event,
    *,
    task_status: TaskStatus[None],
) -> None:
    """Serve until `leave`, whoever is cancelled meanwhile: answers that are under way get out."""
    agent = request.grants[0].options.agent
    with anyio.CancelScope(shield=True):
        async with anyio.create_task_group() as tasks, anyio.create_task_group() as sessions:
            inner = application(request, hosts, memories, agent, sessions)
            server = _Server(inner.exchanges)
            tasks.start_soon(server.serve, sockets)
            await server.listening.wait()
            task_status.started()
            await leave.wait()
            server.listen_no_more()
            await inner.finish(FINISH_SECONDS)
            sessions.cancel_scope.cancel()
            server.should_exit = True


class _Server(uvicorn.Server):
    """Runs in a loop that is somebody else's: signals are not its business."""

    def __init__(self, app: Exchanges) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Wire,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                h11_max_incomplete_event_size=2 * HEADER_BYTES,
                timeout_graceful_shutdown=CLOSE_SECONDS,
            )
        )
        self.listening = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections."""
        await super().startup(sockets)
        self.listening.set()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until `should_exit`."""
        try:
            await super().serve(sockets)
        finally:
            for one in sockets or ():
                one.close()

    def listen_no_more(self) -> None:
        """Give the port back; connections that are there stay."""
        for one in self.servers:
            one.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to whoever runs the loop."""
        yield
