"""Lines of bytes as JSON-RPC messages, and what can be said about a line that is none."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import mcp_types as t

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of one line. A message is rarely a megabyte; the rest is protection."""

METHOD_LIMIT = 200
"""Letters of a method's name; the errors of the SDK repeat it."""
_LEAD = rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*'
_ID = rb'\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\\x00-\x1f]{1,200}")\s*'
_FIRST_ID = re.compile(_LEAD + _ID + rb"[,}]")
_LAST_ID = re.compile(rb"," + _ID + rb"\}\s*\Z")  # without its end a number may be cut off
_METHOD = re.compile(rb'"method"\s*:')


class ByteSource(Protocol):
    """Where bytes come from; raises EndOfStream at the end."""

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next bytes, at least one."""
        ...


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that is no message: why, and the ids that can be answered with an error."""

    reason: str
    code: int
    ids: tuple[str | int, ...] = ()

    def replies(self) -> list[t.JSONRPCError]:
        """One error for every id."""
        error = t.ErrorData(code=self.code, message=self.reason)
        return [t.JSONRPCError(jsonrpc="2.0", id=number, error=error) for number in self.ids]


async def lines(source: ByteSource, limit: int = LINE_LIMIT) -> AsyncIterator[bytes | Bad]:
    """Lines without their end, blank ones left out; a line over the limit comes as Bad.

    An unfinished last line counts as a line.
    """
    held = _Held(limit)
    async for chunk in _chunks(source):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            held.add(piece)
            if line := held.take():
                yield line
        held.add(rest)
    if line := held.take():
        yield line


class _Held:
    """The pieces of an unfinished line; of one that is too long only the start is kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        """One more piece of the line."""
        self._size += len(piece)
        if piece and (self._size <= self._limit or not self._pieces):
            self._pieces.append(piece)
        elif self._size > self._limit:
            del self._pieces[1:]

    def take(self) -> bytes | Bad:
        """The line, empty where it is blank; afterwards a new one begins."""
        pieces, size = self._pieces, self._size
        self._pieces, self._size = [], 0
        if size > self._limit:
            return _too_long(pieces[0], self._limit)
        return b"".join(pieces).strip()


async def _chunks(source: ByteSource) -> AsyncIterator[bytes]:
    while True:
        try:
            yield await source.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return


def parse(line: bytes) -> t.JSONRPCMessage | Bad:
    """The message in a line. Broken halves of letters (lone surrogates) become U+FFFD, and a byte
    order mark, as some shells put it in front, does not count."""
    line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return _sized(t.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        pass
    try:
        value = cleaned(json.loads(line.decode("utf-8")))
    except UnicodeDecodeError:
        return Bad("Parse error: the line is not valid UTF-8", t.PARSE_ERROR, _ids_in(line))
    except RecursionError:
        return Bad("Parse error: nested too deeply", t.PARSE_ERROR, _ids_in(line))
    except ValueError:
        return Bad("Parse error: the line is not valid JSON", t.PARSE_ERROR, _ids_in(line))
    try:
        return _sized(t.jsonrpc_message_adapter.validate_python(value, by_name=False))
    except ValueError:
        return _no_message(value)


def _sized(message: t.JSONRPCMessage) -> t.JSONRPCMessage | Bad:
    if isinstance(message, t.JSONRPCRequest) and len(message.method) > METHOD_LIMIT:
        reason = f"Method not found: its name has more than {METHOD_LIMIT} letters"
        return Bad(reason, t.METHOD_NOT_FOUND, (message.id,))
    return message


def cleaned(value: Any) -> Any:
    """The JSON value with every lone surrogate in its texts replaced by U+FFFD."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return value
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return value


def dump(message: t.JSONRPCMessage) -> bytes:
    """One line with its end. Unicode's line separators are escaped: some clients split there."""
    try:
        data = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        value = cleaned(message.model_dump(by_alias=True, exclude_unset=True))
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    for letter in ("\u2028", "\u2029", "\u0085"):
        data = data.replace(letter.encode(), b"\\u%04x" % ord(letter))
    return data + b"\n"


def _too_long(start: bytes, limit: int) -> Bad:
    found = _FIRST_ID.match(start) if _METHOD.search(start[:4096]) else None
    reason = f"Invalid request: a line of more than {limit:,} bytes"
    return Bad(reason, t.INVALID_REQUEST, (_id(found),) if found else ())


def _no_message(value: Any) -> Bad:
    reason = "not a JSON-RPC 2.0 message"
    if isinstance(value, list):
        reason = "batches are not supported, send one by one"
    return Bad(f"Invalid request: {reason}", t.INVALID_REQUEST, _answerable_ids(value))


def _answerable_ids(value: Any) -> tuple[str | int, ...]:
    """The ids of what looks like requests whose sender waits for an answer."""
    items = value if isinstance(value, list) else [value]
    return tuple(cleaned(item["id"]) for item in items if _answerable(item))


def _answerable(value: Any) -> bool:
    """Whether a value looks like a request whose sender waits for an answer."""
    if not isinstance(value, dict) or "result" in value or "error" in value:
        return False
    number = value.get("id")
    return isinstance(number, (str, int)) and not isinstance(number, bool)


def _ids_in(line: bytes) -> tuple[str | int, ...]:
    """The ids of a line that is no JSON: those it has with its letters mended, else the one that
    stands at the top, first or last."""
    try:
        return _answerable_ids(json.loads(line.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        pass
    if b'"result"' in line[:4096] or b'"error"' in line[:4096]:
        return ()
    found = _FIRST_ID.match(line) or (_LAST_ID.search(line) if _METHOD.search(line) else None)
    return (_id(found),) if found else ()


def _id(found: re.Match[bytes]) -> str | int:
    text = found[1].decode("utf-8", "replace")
    return text[1:-1] if text.startswith('"') else int(text)
