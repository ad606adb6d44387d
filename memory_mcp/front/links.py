"""Two kinds of link that a relay can have: a socket to an engine, pipes to a child of its own."""

from __future__ import annotations

import contextlib
import os
import socket

from memory_mcp.front.hello import LineReader
from memory_mcp.front.streams import CHUNK, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from memory_mcp.front.starting import Connection

    Link = "EngineLink | ChildLink"


class EngineLink:
    """A connection to the engine of a home."""

    recognises = True
    """It knows what it did for this client before."""

    def __init__(self, connection: Connection) -> None:
        self._socket = connection.socket
        self._lines = connection.lines
        answer = connection.answer
        self.offers = f"{answer.get('version', '')} {answer.get('offers', '')}"
        """The version and the options: with others there may be other tools and prompts."""

    def send(self, data: bytes) -> None:
        """Send all of it. Raises OSError."""
        self._socket.sendall(data)

    def lines(self) -> Iterator[bytes]:
        """Whole lines until the engine is gone; half a line is never among them."""
        try:
            yield from self._lines
        except OSError:
            return

    def end_input(self) -> None:
        """Tell the other side that nothing more will come."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def interrupt(self) -> None:
        """End `lines`, from another thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> int | None:
        """Let go. None: an engine has no exit code for us."""
        self.interrupt()  # the thread that sends may be waiting in it
        self._socket.close()
        return None


class ChildLink:
    """A server of our own on pipes, for where no engine can be had."""

    recognises = False
    """It is new: what was done before it, it cannot know."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._in = process.stdin
        self._out = process.stdout
        self.offers = ""

    def send(self, data: bytes) -> None:
        """Send all of it. Raises OSError."""
        try:
            write(self._in.fileno(), data)
        except ValueError as error:  # closed meanwhile
            raise OSError(str(error)) from error

    def lines(self) -> Iterator[bytes]:
        """Whole lines until the child is gone."""
        reader = LineReader(self)
        yield from reader

    def recv(self, size: int) -> bytes:
        """Bytes from the child; empty at the end."""
        try:
            return os.read(self._out.fileno(), min(size, CHUNK))
        except (OSError, ValueError):
            return b""

    def end_input(self) -> None:
        """Tell the child that nothing more will come."""
        with contextlib.suppress(OSError):
            self._in.close()

    def interrupt(self) -> None:
        """End `lines`, from another thread."""
        with contextlib.suppress(OSError):
            self._process.terminate()

    def close(self) -> int | None:
        """Let go; its exit code."""
        self.end_input()
        self._out.close()
        return self._process.wait()
