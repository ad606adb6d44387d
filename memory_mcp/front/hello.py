"""The first line between a front and an engine, its answer, and lines over a socket.

A hello is one JSON object on one line; so is the answer. Afterwards the connection carries
lines of MCP, among which the engine may put control lines of its own.
"""

from __future__ import annotations

import json
import os

from memory_mcp import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Protocol

    class Source(Protocol):
        """What bytes are received from, a socket for example."""

        def recv(self, size: int, /) -> bytes:
            """Bytes; empty at the end. Raises OSError."""
            ...


PROTOCOL = 1
FOLDER_VARIABLE = "MEMORY_MCP_FOLDER"
"""Names the folder of a client that is started elsewhere than where it works."""

HELLO_BYTES = 1 << 20
"""Of a hello line; an engine hangs up on more."""

CHUNK = 1 << 16
_MARK = b'"memory_mcp"'


def hello(kind: str, environ: Mapping[str, str], flags: Mapping[str, object]) -> dict[str, Any]:
    """What a client says of itself; the token is added for the engine that is found.

    `kind` is mcp, ask or serve; `flags` are those of the start on stdio.
    """
    return {
        "memory_mcp": PROTOCOL,
        "kind": kind,
        "version": __version__,
        "pid": os.getpid(),
        "cwd": _folder(environ),
        "flags": {
            name: value
            for name, value in flags.items()
            if name not in ("home", "in_process") and value is not None
        },
        "env": {name: value for name, value in environ.items() if name.startswith("MEMORY_MCP_")},
    }


def _folder(environ: Mapping[str, str]) -> str:
    """Where the client works; a client that starts its servers elsewhere says so."""
    try:
        return os.path.abspath(environ.get(FOLDER_VARIABLE) or "")
    except OSError:  # it was deleted
        return ""


def encode(value: Mapping[str, Any]) -> bytes:
    """One line. ASCII, so that halves of letters in names of folders survive."""
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> dict[str, Any] | None:
    """The object in a line of this protocol; None for anything else."""
    if _MARK not in line:
        return None
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and value.get("memory_mcp") == PROTOCOL else None


def event_in(line: bytes) -> str | None:
    """The event of a control line; None for a line of MCP."""
    if _MARK not in line[:64]:
        return None
    value = decode(line)
    if value is None or "jsonrpc" in value:
        return None
    return str(value.get("event", ""))


def messages_of(answer: Mapping[str, Any]) -> list[str]:
    """The reasons in an answer or a report."""
    found = answer.get("messages")
    return [str(text) for text in found] if isinstance(found, list) else []


class LineReader:
    """Whole lines, with their end."""

    __slots__ = ("_pieces", "_ready", "_source")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ready: list[bytes] = []
        self._pieces: list[bytes] = []

    def line(self) -> bytes | None:
        """The next line; None at the end, where an unfinished line is dropped.

        Raises OSError, TimeoutError among them."""
        while not self._ready:
            data = self._source.recv(CHUNK)
            if not data:
                return None
            self._split(data)
        return self._ready.pop()

    def _split(self, data: bytes) -> None:
        first, *more = data.split(b"\n")
        self._pieces.append(first)
        if more:
            rest = more.pop()
            found = [b"".join(self._pieces), *more]
            self._ready = [line + b"\n" for line in reversed(found)]
            self._pieces = [rest] if rest else []

    def __iter__(self) -> Iterator[bytes]:
        while (line := self.line()) is not None:
            yield line
