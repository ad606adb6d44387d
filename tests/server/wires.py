"""A client's end of a connection in memory: raw lines in, messages out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import MCPServer

from memory_mcp.server.connection import serve
from memory_mcp.server.session import Connection

SECONDS = 5.0

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


class Bytes:
    """One direction. `receive` ends when the other side closes."""

    def __init__(self) -> None:
        self._send: MemoryObjectSendStream[bytes]
        self._receive: MemoryObjectReceiveStream[bytes]
        self._send, self._receive = anyio.create_memory_object_stream[bytes](1000)

    async def send(self, item: bytes) -> None:
        await self._send.send(item)

    async def receive(self, max_bytes: int = 65536) -> bytes:
        return await self._receive.receive()

    def close(self) -> None:
        self._send.close()

    def refuse(self) -> None:
        """Nobody reads any more."""
        self._receive.close()

    def close_all(self) -> None:
        self._send.close()
        self._receive.close()


class RawClient:
    """Sends lines and waits for answers."""

    def __init__(self, to_server: Bytes, from_server: Bytes) -> None:
        self.to_server = to_server
        self.from_server = from_server
        self.first_answers = 0
        self.ended = anyio.Event()

    async def send(self, message: Any) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        await self.to_server.send(line)

    async def next(self) -> dict[str, Any]:
        """The next message of the server."""
        with anyio.fail_after(SECONDS):
            message: dict[str, Any] = json.loads(await self.from_server.receive())
        return message

    async def answer(self, number: int | str) -> dict[str, Any]:
        """The answer with this id; what comes before is dropped."""
        while True:
            message = await self.next()
            if message.get("id") == number and "method" not in message:
                return message

    async def call(self, number: int | str, method: str, **params: Any) -> dict[str, Any]:
        """A request and its answer."""
        await self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await self.answer(number)

    async def hello(self) -> dict[str, Any]:
        """The handshake of the older era."""
        await self.send(HELLO)
        answer = await self.answer(0)
        await self.send(READY)
        return answer

    async def gone(self) -> None:
        """Wait until the server has ended this connection."""
        with anyio.fail_after(SECONDS):
            await self.ended.wait()


@asynccontextmanager
async def connected(
    server: MCPServer[Connection],
    state: Connection,
    ready: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[RawClient]:
    """A raw client of a server."""
    to_server, from_server = Bytes(), Bytes()
    client = RawClient(to_server, from_server)

    def first() -> None:
        client.first_answers += 1

    async def run() -> None:
        await serve(to_server, from_server, server, state, first, ready)
        client.ended.set()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            yield client
            to_server.close()
            await client.gone()
    finally:
        to_server.close_all()
        from_server.close_all()
