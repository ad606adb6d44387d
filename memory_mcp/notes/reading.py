"""The bytes of a note as they are now, read by descriptor."""

from __future__ import annotations

import os
import stat
from threading import Event

from memory_mcp.core.errors import RefusedError
from memory_mcp.notes.folder import LinkError
from memory_mcp.notes.place import Place

LARGEST = 16 * 1024 * 1024
"""Bytes of a note. Larger files are data, not notes; reading them would cost everybody else."""

_LOOKS = 5
_PAUSE = 0.02  # seconds


def current(place: Place, name: str | None = None) -> tuple[bytes, os.stat_result] | None:
    """Bytes and state of the file, None where there is none. The state is that before reading.

    `name` is another name in the same folder. Raises RefusedError for what is no regular file or
    too large, OSError.
    """
    try:
        fd = place.folder.open(name or place.name)
    except FileNotFoundError:
        return None
    except LinkError as error:
        raise RefusedError(
            f"{place.reference} is a symbolic link; links are not followed: put the text there"
        ) from error
    except IsADirectoryError as error:
        raise RefusedError(_irregular(place)) from error
    try:
        return _settled_read(fd, place)
    finally:
        os.close(fd)


def saved(place: Place) -> tuple[bytes, os.stat_result] | None:
    """As `current`, for who is going to replace it. An editor that saves in place empties the file
    first: one that is empty is looked at again for a moment."""
    found = current(place)
    for _ in range(_LOOKS):
        if found is None or found[0]:
            break
        Event().wait(_PAUSE)
        found = current(place)
    return found


def _settled_read(fd: int, place: Place) -> tuple[bytes, os.stat_result] | None:
    """Read until the file stood still meanwhile, a few times at most."""
    for _ in range(5):
        state = os.fstat(fd)
        if stat.S_ISDIR(state.st_mode):
            return None
        if not stat.S_ISREG(state.st_mode):
            raise RefusedError(_irregular(place))
        data = _read_all(fd, place)
        after = os.fstat(fd)
        if (after.st_mtime_ns, after.st_size) == (state.st_mtime_ns, len(data)):
            break
    return data, state


def _irregular(place: Place) -> str:
    return f"{place.reference} is no regular file (a pipe, socket or device); it is not opened"


def _read_all(fd: int, place: Place) -> bytes:
    os.lseek(fd, 0, os.SEEK_SET)
    pieces: list[bytes] = []
    total = 0
    while piece := os.read(fd, 1 << 20):
        pieces.append(piece)
        total += len(piece)
        if total > LARGEST:
            raise RefusedError(
                f"{place.reference} has more than {LARGEST:,} bytes; a note has at most that many:"
                " split it"
            )
    return b"".join(pieces)
