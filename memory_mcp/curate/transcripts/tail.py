"""Transcripts of clients on the disk. They are read only, and their paths are what a client says:
whatever is wrong with one, there is just nothing in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

TAIL_BYTES = 1 << 20
"""What is read of the end of a transcript for the last turns; a result of a tool is often larger
than all that was said."""


def lines_from_end(path: str, most: int = TAIL_BYTES) -> Iterator[bytes]:
    """The whole lines in the last `most` bytes of a file, the latest first. Blocking.

    Nothing where it is no regular file (a pipe would be waited for), or cannot be read.
    """
    try:
        data, whole = _tail(path, most)
    except (OSError, ValueError):
        return
    lines = data.split(b"\n")
    yield from reversed(lines if whole else lines[1:])


def _tail(path: str, most: int) -> tuple[bytes, bool]:
    """The last bytes of a file, and whether these are all. Raises OSError and ValueError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("no regular file")
        start = max(found.st_size - most, 0)
        os.lseek(handle, start, os.SEEK_SET)
        return os.read(handle, most), start == 0
    finally:
        os.close(handle)
