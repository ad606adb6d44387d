"""A way to a server, and the shortest one: streams in memory. Others are in files beside."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fuzz_checks import Breach, Ear, resident
from fuzz_grammar import KEPT
from fuzz_messages import Line
from mcp.server import MCPServer

from memory_mcp.app import open_app
from memory_mcp.core.config import Config
from memory_mcp.server.build import build
from memory_mcp.server.connection import serve
from memory_mcp.server.session import Connection

END_SECONDS = 8.0
_CHUNK = 1 << 16


class Wire(Protocol):
    """One connection."""

    async def send(self, lines: Sequence[Line], rng: random.Random) -> None:
        """Send lines."""
        ...

    def heard(self) -> AsyncIterator[bytes]:
        """Bytes of the server until it ends."""
        ...

    async def close(self) -> None:
        """Send nothing more; the server must end its side. Raises Breach."""
        ...


@dataclass(slots=True)
class Place:
    """A server that is there. `pid`: the process whose memory counts, None where each connection
    has its own."""

    home: Path
    connect: Callable[[], AbstractAsyncContextManager[Wire]]
    pid: int | None

    def size(self) -> float:
        """The resident memory of the process in MB, 0 where there is none."""
        return 0.0 if self.pid is None else resident(self.pid)


def furnish(outer: Path) -> Path:
    """A home below `outer` with notes, and files beside it."""
    home = outer / "home"
    files = {
        "beside.md": "# Beside\n\nNot in any source.\n",
        "vault/plan.md": "---\ntags: [red]\n---\n\n# Plan\n\nPlant leeks. [[garden]]\n",
        "vault/deep/er/note.md": "Far down.\n" * 3000,
        "home/config.yml": "sources: {vault: {path: ../vault}}\nembedding: {provider: none}\n",
        "home/wiki/garden.md": "# Garden\n\nLemon tree, leeks. #red\n\n## Beds\n\nThree.\n",
        "home/wiki/people/ada.md": "---\naliases: [Ada L.]\n---\n# Ada\n\nKnows the kettle.\n",
        "home/prompts/prompt.md": "Be brief.\n",
    }
    for number, slug in enumerate(KEPT):
        text = f"---\ntitle: Z{number}\n---\r\n\r\nZebrafinch {number}. é\n[[garden]]\n"
        files[f"home/agents/default/memory/{slug}.md"] = text
    for name, text in files.items():
        path = outer / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return home


@asynccontextmanager
async def in_memory(home: Path, ear: Ear) -> AsyncIterator[Place]:
    """A real memory behind streams of bytes."""
    config = Config.model_validate(
        {
            "home": str(home),
            "embedding": {"provider": "none"},
            "sources": {"vault": {"path": "../vault"}},
        }
    )
    async with open_app(config) as app:
        app.start()
        await app.settled(30)
        server = build(app)

        @asynccontextmanager
        async def connect() -> AsyncIterator[Wire]:
            async with anyio.create_task_group() as tasks:
                wire = _Streams()
                tasks.start_soon(wire.run, server, Connection.of(app))
                try:
                    yield wire
                finally:
                    wire.forget()
                    tasks.cancel_scope.cancel()

        yield Place(home, connect, os.getpid())


class _Streams:
    """A pair of byte streams in memory. The bytes come in pieces of any size."""

    def __init__(self) -> None:
        self._to: tuple[MemoryObjectSendStream[bytes], MemoryObjectReceiveStream[bytes]]
        self._from: tuple[MemoryObjectSendStream[bytes], MemoryObjectReceiveStream[bytes]]
        self._to = anyio.create_memory_object_stream[bytes](4)
        self._from = anyio.create_memory_object_stream[bytes](4)
        self._ended = anyio.Event()

    async def run(self, server: MCPServer[Connection], state: Connection) -> None:
        """Serve this connection."""
        await serve(_Source(self._to[1]), self._from[0], server, state)
        self._ended.set()
        self._from[0].close()

    async def send(self, lines: Sequence[Line], rng: random.Random) -> None:
        """Send lines."""
        data = b"".join(line.data for line in lines)
        while data:
            size = rng.choice((7, 300, 5000, _CHUNK, _CHUNK))
            await self._to[0].send(data[:size])
            data = data[size:]

    async def heard(self) -> AsyncIterator[bytes]:
        """Bytes of the server."""
        async for data in self._from[1]:
            yield data

    async def close(self) -> None:
        """End the input; the server must end."""
        self._to[0].close()
        with anyio.move_on_after(END_SECONDS):
            await self._ended.wait()
            return
        raise Breach("the server did not end with its input")

    def forget(self) -> None:
        """Close what is still open."""
        for stream in (*self._to, *self._from):
            stream.close()


class _Source:
    def __init__(self, stream: MemoryObjectReceiveStream[bytes]) -> None:
        self._stream = stream

    async def receive(self, max_bytes: int = _CHUNK) -> bytes:
        return await self._stream.receive()
