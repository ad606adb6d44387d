"""Bytes of a client as lines. A line of many megabytes is not kept but passed on in pieces."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_BYTES = 4 << 20
"""A line up to this size is kept whole, read, and sent again where an engine dies."""


class Piece:
    """A part of what came: a whole line, or a piece of one that is too long to be kept."""

    __slots__ = ("data", "first", "last")

    def __init__(self, data: bytes, first: bool = True, last: bool = True) -> None:
        self.data = data
        self.first = first
        self.last = last

    @property
    def whole(self) -> bool:
        """Whether this is a line of its own."""
        return self.first and self.last


class Splitter:
    """Cuts bytes into lines, each with its end."""

    __slots__ = ("_cut", "_limit", "_pieces", "_size")

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._cut = False
        """Whether the start of the current line has been passed on."""

    def feed(self, data: bytes) -> Iterator[Piece]:
        """What is complete with these bytes, blank lines left out."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            yield from self._end(part + b"\n")
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
            if self._size > self._limit or self._cut:
                yield self._take(last=False)

    def end(self) -> Iterator[Piece]:
        """An unfinished last line counts as a line."""
        if self._pieces or self._cut:
            yield from self._end(b"\n")

    def _end(self, part: bytes) -> Iterator[Piece]:
        self._pieces.append(part)
        piece = self._take(last=True)
        if not piece.whole or piece.data.strip():
            yield piece

    def _take(self, last: bool) -> Piece:
        piece = Piece(b"".join(self._pieces), not self._cut, last)
        self._pieces, self._size, self._cut = [], 0, not last
        return piece
