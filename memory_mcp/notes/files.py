"""Reading and changing one note: by descriptor, in one step, never over somebody's change.

Whoever looks at a note at any moment sees a whole version. Its old bytes are in the history before
the new ones take its place.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memory_mcp.core.errors import ConflictError, NotFoundError, RefusedError, StorageError
from memory_mcp.core.note import Stamp
from memory_mcp.notes.failure import explained
from memory_mcp.notes.history import History
from memory_mcp.notes.lock import locked
from memory_mcp.notes.place import Place, check_case, check_name, check_root, find, prepared
from memory_mcp.notes.putting import create, delete, replace
from memory_mcp.notes.reading import LARGEST, current, saved
from memory_mcp.notes.sources import Source

_ATTEMPTS = 20

Change = Callable[[bytes | None], bytes | None]


@dataclass(frozen=True, slots=True)
class Content:
    """A note as it was read. `modified` is the file's own time, ISO text with offset."""

    data: bytes
    stamp: Stamp
    modified: str
    disk: str
    """Relative path with `/`, as the file system spells it."""


@dataclass(frozen=True, slots=True)
class Written:
    """The bytes before and after an update (None: no file), and the revision that was kept."""

    before: bytes | None
    after: bytes | None
    kept: str | None


def read(source: Source, path: str) -> Content:
    """Read a note by its canonical path. Blocking.

    Raises NotFoundError, RefusedError (a link, no regular file, more than 16 MiB), StorageError.
    """
    reference = f"{source.name}/{path}"
    with explained(reference, "read"), find(source, path) as place:
        found = current(place) if place is not None else None
        if place is None or found is None:
            check_root(source)
            raise NotFoundError(f"There is no note {reference}; list the notes to see their names")
        data, state = found
        return Content(data, _stamp(state), _modified(state), place.disk)


def update(
    source: Source, path: str, change: Change, history: History, at: datetime, note: str = ""
) -> Written:
    """Change, create or delete a note. Blocking; processes of one home take turns.

    `change` gets the current bytes (None: no file) and returns the new ones (None: delete); it may
    raise, then nothing is written, and it is called again where somebody else saved meanwhile. It
    must not update the same note itself. Equal bytes write nothing. The old bytes are in the
    history first, with `at` and `note`. Raises ConflictError where the file never stands still,
    RefusedError (a link, not a note's name, too large), StorageError.
    """
    reference = f"{source.name}/{path}"
    check_name(source, path)
    keep = partial(history.keep, at=at, note=note)
    with locked(history.lock_of(source.root, path), reference), explained(reference, "written"):
        for _ in range(_ATTEMPTS):
            with find(source, path) as place:
                found = saved(place) if place is not None else None
                if place is not None and found is not None:
                    written = _change(place, found, change, keep)
                else:
                    written = _create(source, path, change, history.root.parent)
            if written is not None:
                return written
    raise ConflictError(
        f"{reference} was changed by another program at each of {_ATTEMPTS} attempts;"
        " nothing was written; read it again and try again"
    )


def _change(
    place: Place,
    found: tuple[bytes, os.stat_result],
    change: Change,
    keep: Callable[[str, bytes], str],
) -> Written | None:
    """Change or delete a file that exists; None where somebody else changed it meanwhile."""
    before, state = found
    after = change(before)
    if after == before:
        return Written(before, after, None)
    _check_change(place, state, after)
    keep_it = partial(keep, place.reference)
    if after is None:
        kept = delete(place, before, keep_it)
    else:
        kept = replace(place, before, after, state, keep_it)
    return Written(before, after, kept) if kept is not None else None


def _create(source: Source, path: str, change: Change, home: Path) -> Written | None:
    """Create a file that is missing; None where somebody else did so meanwhile."""
    after = change(None)
    if after is None:
        return Written(None, None, None)
    _check_size(f"{source.name}/{path}", after)
    with prepared(source, path, home) as place:
        return Written(None, after, None) if create(place, after) else None


def _check_size(reference: str, after: bytes) -> None:
    if len(after) > LARGEST:
        raise RefusedError(
            f"{reference} would have {len(after):,} bytes; at most {LARGEST:,} are taken: split it"
        )


def _check_change(place: Place, state: os.stat_result, after: bytes | None) -> None:
    if after is not None:
        _check_size(place.reference, after)
    check_case(place)
    if not state.st_mode & 0o222:
        raise StorageError(
            f"{place.reference} is write-protected (mode {stat.S_IMODE(state.st_mode):o});"
            " if it may be changed, allow it with chmod u+w"
        )


def _stamp(state: os.stat_result) -> Stamp:
    return Stamp(state.st_mtime_ns, state.st_size, state.st_ino)


def _modified(state: os.stat_result) -> str:
    try:
        return datetime.fromtimestamp(int(state.st_mtime), tz=UTC).isoformat()
    except (ValueError, OverflowError, OSError):  # a clock far outside of what a date can be
        return datetime.fromtimestamp(0, tz=UTC).isoformat()
