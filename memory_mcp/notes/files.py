"""Reading and changing one note: by descriptor, in one step, never over somebody's change.

Whoever looks at a note at any moment sees a whole version. Its old bytes are in the history before
the new ones take its place.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memory_mcp.core.errors import ConflictError, NotFoundError, RefusedError, StorageError
from memory_mcp.core.note import Stamp
from memory_mcp.notes.failure import explained
from memory_mcp.notes.folder import Folder, LinkError
from memory_mcp.notes.history import History
from memory_mcp.notes.lock import locked
from memory_mcp.notes.place import Place, check_case, check_name, check_root, find, prepared
from memory_mcp.notes.sources import Source

LARGEST = 16 * 1024 * 1024
"""Bytes of a note. Larger files are data, not notes; reading them would cost everybody else."""

_ATTEMPTS = 20
_NO_HARD_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV}

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
        current = _current(place) if place is not None else None
        if place is None or current is None:
            check_root(source)
            raise NotFoundError(f"There is no note {reference}; list the notes to see their names")
        data, state = current
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
                current = _current(place) if place is not None else None
                if place is not None and current is not None:
                    written = _change(place, current, change, keep)
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
    current: tuple[bytes, os.stat_result],
    change: Change,
    keep: Callable[[str, bytes], str],
) -> Written | None:
    """Change or delete a file that exists; None where somebody else changed it meanwhile."""
    before, state = current
    after = change(before)
    if after == before:
        return Written(before, after, None)
    _check_change(place, state, after)
    kept = keep(place.reference, before)
    done = _delete(place, before) if after is None else _put(place, before, after, state)
    return Written(before, after, kept) if done else None


def _create(source: Source, path: str, change: Change, home: Path) -> Written | None:
    """Create a file that is missing; None where somebody else did so meanwhile."""
    after = change(None)
    if after is None:
        return Written(None, None, None)
    _check_size(f"{source.name}/{path}", after)
    with prepared(source, path, home) as place:
        return Written(None, after, None) if _put(place, None, after, None) else None


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


def _current(place: Place) -> tuple[bytes, os.stat_result] | None:
    """Bytes and state of the file, None where there is none. The state is that before reading."""
    try:
        fd = place.folder.open(place.name)
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


def _put(place: Place, before: bytes | None, after: bytes, state: os.stat_result | None) -> bool:
    """Put the new bytes in place; False where the file is not any more what it was."""
    folder = place.folder
    temporary = f".{place.name.removesuffix('.md')[:40]}.{secrets.token_hex(6)}.tmp"
    try:
        _write(folder, temporary, after, state)
        if not _unchanged(place, before):
            return False
        if before is None:
            if not _put_new(folder, temporary, place.name):
                return False
        else:
            folder.replace(temporary, place.name)
    finally:
        with suppress(FileNotFoundError):
            folder.remove(temporary)
    folder.sync()
    return True


def _put_new(folder: Folder, temporary: str, name: str) -> bool:
    """Give a new file its name; False where the name was taken meanwhile."""
    try:
        folder.link(temporary, name)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        folder.replace(temporary, name)  # its absence was seen a moment ago
    return True


def _delete(place: Place, before: bytes | None) -> bool:
    if not _unchanged(place, before):
        return False
    try:
        place.folder.remove(place.name)
    except FileNotFoundError:
        return False
    place.folder.sync()
    return True


def _unchanged(place: Place, before: bytes | None) -> bool:
    current = _current(place)
    return (current[0] if current is not None else None) == before


def _write(folder: Folder, name: str, data: bytes, old: os.stat_result | None) -> None:
    """Write a file beside, durably; a new version gets owner and mode of the old one."""
    fd = folder.create(name, 0o666 if old is None else 0o600)
    with os.fdopen(fd, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        if old is not None:
            _take_over(fd, old)
        os.fsync(fd)


def _take_over(fd: int, old: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):  # only root may give files away
            os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


def _stamp(state: os.stat_result) -> Stamp:
    return Stamp(state.st_mtime_ns, state.st_size, state.st_ino)


def _modified(state: os.stat_result) -> str:
    try:
        return datetime.fromtimestamp(int(state.st_mtime), tz=UTC).isoformat()
    except (ValueError, OverflowError, OSError):  # a clock far outside of what a date can be
        return datetime.fromtimestamp(0, tz=UTC).isoformat()
