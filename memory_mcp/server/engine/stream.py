"""A connection as the engine uses it: a first line, then bytes; writers take turns."""

from __future__ import annotations

import socket

import anyio
from anyio.abc import SocketStream

from memory_mcp.front.hello import HELLO_BYTES, encode

CHUNK = 1 << 16


class Stream:
    """Bytes both ways. What is sent goes out whole, one after the other."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._rest = b""
        self._lock = anyio.Lock()
        self._torn = False
        self.ended = False
        """Whether the other side has said all it wanted to: the connection did not just break."""

    async def first_line(self) -> bytes | None:
        """The hello; None where there is none, or it is too long."""
        held = bytearray()
        while b"\n" not in held:
            if len(held) > HELLO_BYTES:
                return None
            try:
                held += await self._stream.receive(CHUNK)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return None
        line, _, self._rest = bytes(held).partition(b"\n")
        return line

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        """The next bytes. Raises EndOfStream, BrokenResourceError."""
        if self._rest:
            data, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
            return data
        try:
            return await self._stream.receive(max_bytes)
        except anyio.EndOfStream:
            self.ended = True
            raise

    async def send(self, item: bytes) -> None:
        """Send all of it. Raises BrokenResourceError, also where an item before was cut off in
        the middle: what follows would be read as its rest. Raises ClosedResourceError."""
        async with self._lock:
            if self._torn:
                raise anyio.BrokenResourceError
            self._torn = True
            await self._stream.send(item)
            self._torn = False

    async def say(self, **values: object) -> None:
        """Send an object of the engine's own protocol."""
        await self.send(encode({"memory_mcp": 1, **values}))

    async def until_closed(self) -> None:
        """Wait until the other side hangs up."""
        while True:
            try:
                await self._stream.receive(CHUNK)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def finish(self) -> None:
        """No more will be sent; let what was sent arrive."""
        try:
            await self._stream.send_eof()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return


async def accept(bound: socket.socket) -> SocketStream:
    """The next connection of a listening socket. Raises OSError.

    Waiting for it and taking it are two steps: a wait that is cancelled while a connection comes
    then leaves it to whoever listens next (asyncio's own accept reports an error there)."""
    bound.setblocking(False)
    while True:
        await anyio.wait_readable(bound)
        try:
            connection, _ = bound.accept()
        except BlockingIOError:
            continue  # it went again
        connection.setblocking(False)
        return await SocketStream.from_socket(connection)
