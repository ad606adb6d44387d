"""A real memory on a real port, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskGroup
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer

from memory_mcp.app import App, Home, open_home
from memory_mcp.core.config import Config
from memory_mcp.server.build import Face
from memory_mcp.server.http.grants import Grant, PortRequest, Transport
from memory_mcp.server.http.server import Faces, Opening, open_port
from memory_mcp.server.session import Connection, Options
from tests.fakes import HashEmbedder
from tests.server.worlds import SECONDS, Talk, write_files

TOKEN = "tok-0123456789"
OPEN = Grant("open", None, Options())
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
TRANSPORTS: tuple[Transport, ...] = ("streamable-http", "sse")


def grant(
    name: str = "default", token: str = TOKEN, agent: str = "default", *, read_only: bool = False
) -> Grant:
    """A grant with a token."""
    return Grant(name, token, Options(agent, read_only))


@dataclass(frozen=True, slots=True)
class Place:
    """A home behind an open port."""

    folder: Path
    home: Home
    transport: Transport
    host: str
    port: int
    url: str
    """Where MCP is spoken."""

    @property
    def root(self) -> str:
        """The address without a path."""
        return self.url.rpartition("/")[0]

    def inbox(self, slug: str, agent: str = "default") -> Path:
        """The file of an inbox note."""
        return self.folder / "agents" / agent / "memory" / f"{slug}.md"

    @asynccontextmanager
    async def talking(
        self, mode: Any = "auto", token: str | None = None, **options: Any
    ) -> AsyncIterator[Talk]:
        """A client of the SDK."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if self.transport == "sse":
            target: Any = sse_client(self.url, headers=headers)
            left = False
            try:
                async with Client(target, mode=mode, **options) as client:
                    yield Talk(client)
                    left = True
            except* anyio.BrokenResourceError:
                if not left:  # else the SDK's client was handed news while it was leaving
                    raise
            return
        async with httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http:
            target = streamable_http_client(self.url, http_client=http)
            async with Client(target, mode=mode, **options) as client:
                yield Talk(client)

    def asking(self, token: str | None = None, **options: Any) -> httpx2.AsyncClient:
        """A plain client of HTTP."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.AsyncClient(
            base_url=self.root, headers=headers, timeout=SECONDS, trust_env=False, **options
        )


class _Faces:
    """A server for each agent, as the engine has them."""

    def __init__(self, home: Home, tasks: TaskGroup) -> None:
        self._home = home
        self._tasks = tasks
        self._faces: dict[str, Face] = {}

    def __call__(self, agent: str) -> MCPServer[Connection]:
        face = self._faces.get(agent)
        if face is None:
            app = self._home.app(agent)
            face = self._faces[agent] = Face(app.config.home, agent)
            face.furnish(app)
            self._tasks.start_soon(_announce, face, app)
        return face.server


async def _announce(face: Face, app: App) -> None:
    async with face.notices.running(app.index):
        await anyio.sleep_forever()


@asynccontextmanager
async def memory(
    folder: Path,
    files: Mapping[str, str | bytes] | None = None,
    *,
    work: bool = True,
    **settings: Any,
) -> AsyncIterator[tuple[Home, Faces]]:
    """A home with these files, and servers for its agents; indexed, where it may work."""
    write_files(folder, files or {})
    config = Config.model_validate({"home": str(folder), **settings})
    async with (
        open_home(config, embedder=HashEmbedder) as home,
        anyio.create_task_group() as tasks,
    ):
        home.app(config.agent)
        if work:
            home.start()
            assert await home.settled(SECONDS)
        yield home, _Faces(home, tasks)
        tasks.cancel_scope.cancel()


def opened_already(home: Home) -> Opening:
    """Waits for nothing."""

    async def opened() -> Home:
        return home

    return opened


@asynccontextmanager
async def place(
    folder: Path,
    files: Mapping[str, str | bytes] | None = None,
    *,
    transport: Transport = "streamable-http",
    grants: Sequence[Grant] = (OPEN,),
    host: str = "127.0.0.1",
    **settings: Any,
) -> AsyncIterator[Place]:
    """A memory on a free port."""
    async with memory(folder, files, **settings) as (home, faces):
        request = PortRequest(transport, host, 0, tuple(grants))
        async with open_port(opened_already(home), faces, request) as opened:
            yield Place(folder, home, transport, host, opened.port, opened.url)


async def raw(place: Place, request: bytes, *, host: str = "127.0.0.1") -> tuple[int, bytes]:
    """Send bytes, and read until the server closes the connection: status and the whole answer.

    The request should ask for `Connection: close`.
    """
    answer = b""
    with anyio.fail_after(SECONDS):
        async with await anyio.connect_tcp(host, place.port) as stream:
            await stream.send(request)
            try:
                while True:
                    answer += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                pass
    return (int(answer.split(b" ", 2)[1]) if answer else 0), answer


async def initialize(http: httpx2.AsyncClient) -> httpx2.Response:
    """Open a session of the handshake era on `/mcp`; its id is in a header of the answer."""
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    reply = await http.post("/mcp", headers=HEADERS, json=message)
    assert reply.status_code == 200, reply.text
    return reply
