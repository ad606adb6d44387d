"""Reading a transcript on from where it was left, piece by piece, whole lines only."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from memory_mcp.curate.transcripts.exports import turns_in
from memory_mcp.curate.transcripts.marker import Marker
from memory_mcp.curate.transcripts.turns import Turn, is_whole, size_of, turn_of

TEXTS = (".md", ".markdown", ".txt")
"""Exports; all else is read as lines of JSON."""

PIECE = 20_000
"""Characters of one piece: what a small model can judge with care."""

_BLOCK = 1 << 20
_LARGEST_EXPORT = 16_000_000  # bytes
_LARGEST_LINE = 64_000_000  # bytes that are looked through for the end of one line


@dataclass(frozen=True, slots=True)
class Piece:
    """Turns that are judged together, and the bytes of the file that they are from.

    `end` is the place after them (and after what says nothing behind them), `rest` whether the
    file goes on.
    """

    turns: tuple[Turn, ...]
    start: int
    end: int
    rest: bool


class Reading:
    """One pass over a transcript, from its marker on. Blocking; its methods raise OSError for what
    cannot be read, or is no regular file."""

    def __init__(self, path: str, marker: Marker) -> None:
        self.path = path
        self._hash = self._ahead = hashlib.sha256()
        self.marker = self._placed(marker)

    def next(self, characters: int = PIECE) -> Piece:
        """What comes after the marker: about so many characters of speech at most; exactly up to
        `marker.upto` where that is set."""
        self._ahead = self._hash.copy()
        with _opened(self.path) as file:
            if self.path.lower().endswith(TEXTS):
                return _of_export(file, self.marker, characters, self._ahead.update)
            return _of_lines(file, self.marker, characters, self._ahead.update)

    def taken_up(self, piece: Piece) -> Marker:
        """The marker while a piece is judged."""
        self.marker = replace(self.marker, upto=piece.end)
        return self.marker

    def passed(self, piece: Piece) -> Marker:
        """The marker behind the piece that was read last; its digest is of what was read."""
        self._hash = self._ahead
        digest = self._hash.hexdigest()
        self.marker = replace(self.marker, offset=piece.end, digest=digest, upto=0)
        return self.marker

    def _placed(self, marker: Marker) -> Marker:
        """The marker as it holds for the file now: at the beginning where the bytes before it are
        not those that were read."""
        whole = self._passes(marker.offset)
        if marker.offset and not (whole and self._hash.hexdigest() == marker.digest):
            self._hash = hashlib.sha256()
            return Marker(anew=marker.anew, session=marker.session)
        if marker.upto > Path(self.path).stat().st_size:
            return replace(marker, upto=0)
        return marker

    def _passes(self, end: int) -> bool:
        """Let the bytes before a place count; False where the file has not so many."""
        with _opened(self.path) as file:
            while end > 0:
                block = file.read(min(end, _BLOCK))
                if not block:
                    return False
                self._hash.update(block)
                end -= len(block)
        return True


Count = Callable[[bytes], object]
"""Takes the bytes that were read."""


def _of_lines(file: BinaryIO, marker: Marker, characters: int, count: Count) -> Piece:
    turns: list[Turn] = []
    end = marker.offset
    file.seek(end)
    for line in _lines(file, end):
        if marker.upto and end >= marker.upto:
            return Piece(tuple(turns), marker.offset, end, True)
        found = tuple(turn_of(line, end))
        full = turns and size_of(turns) + size_of(found) > characters
        if found and full and not marker.upto:
            return Piece(tuple(turns), marker.offset, end, True)
        turns += found
        end += len(line)
        count(line)
    return Piece(tuple(turns), marker.offset, end, False)


def _lines(file: BinaryIO, start: int) -> Iterator[bytes]:
    """The lines from here on; the last one only where it is whole."""
    while line := file.readline(_LARGEST_LINE):
        if not line.endswith(b"\n") and len(line) < _LARGEST_LINE and not is_whole(line):
            return
        yield line


def _of_export(file: BinaryIO, marker: Marker, characters: int, count: Count) -> Piece:
    data = file.read(_LARGEST_EXPORT + 1)
    if len(data) > _LARGEST_EXPORT:
        raise OSError(f"it has more than {_LARGEST_EXPORT:,} bytes")
    taken: list[Turn] = []
    end, rest = len(data), False
    for turn in turns_in(data, marker.offset):
        beyond = marker.upto and turn.start >= marker.upto
        full = taken and size_of([*taken, turn]) > characters and turn.start > taken[-1].start
        if beyond or (full and not marker.upto):
            end, rest = turn.start, True
            break
        taken.append(turn)
    count(data[marker.offset : end])
    return Piece(tuple(taken), marker.offset, end, rest)


def _opened(path: str) -> BinaryIO:
    """A regular file; a pipe would be waited for. Raises OSError."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("it is no regular file")
    return os.fdopen(handle, "rb")
