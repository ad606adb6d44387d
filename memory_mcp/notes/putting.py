"""Putting new bytes in the place of old ones, or nothing, without losing what others save.

An editor may save between a look at the file and the step that replaces it. Where the system can
exchange two names in one step, what was displaced is looked at afterwards, and put back where it
is not what was expected. The old bytes are kept before they are displaced.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable
from contextlib import suppress

from memory_mcp.core.errors import RefusedError
from memory_mcp.notes.exchange import exchange
from memory_mcp.notes.folder import Folder
from memory_mcp.notes.place import Place
from memory_mcp.notes.reading import current

Keep = Callable[[bytes], str]
"""Keeps bytes in the history and returns their revision."""

_NO_HARD_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV}


def create(place: Place, after: bytes) -> bool:
    """Create a file; False where its name was taken meanwhile. Raises RefusedError where a folder
    has it."""
    _check_no_folder(place)
    temporary = _temporary(place)
    try:
        _write(place.folder, temporary, after, None)
        if current(place) is not None or not _put_new(place.folder, temporary, place.name):
            return False
    finally:
        _remove(place.folder, temporary)
    place.folder.sync()
    return True


def _check_no_folder(place: Place) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(place.folder.state(place.name).st_mode):
            raise RefusedError(
                f"A folder has the name of {place.reference} ({place.name}); rename the folder, or"
                " choose another name"
            )


def replace(
    place: Place, before: bytes, after: bytes, state: os.stat_result, keep: Keep
) -> str | None:
    """Put new bytes in place, and return the revision under which the old ones are kept; None
    where the file is not any more what it was."""
    temporary = _temporary(place)
    try:
        _write(place.folder, temporary, after, state)
        if not _is(place, place.name, before):
            return None
        kept = keep(before)
        if not _is(place, place.name, before):
            return None
        if not exchange(place.folder, temporary, place.name):
            if not _is(place, place.name, before):
                return None
            place.folder.replace(temporary, place.name)
        elif not _is(place, temporary, before):
            _give_back(place, temporary, after, keep)
            return None
    finally:
        _remove(place.folder, temporary)
    place.folder.sync()
    return kept


def delete(place: Place, before: bytes, keep: Keep) -> str | None:
    """Delete a file, and return the revision under which its bytes are kept; None where it is not
    any more what it was."""
    temporary = _temporary(place)
    kept = keep(before)
    if not _is(place, place.name, before):
        return None
    try:
        place.folder.replace(place.name, temporary)
        if not _is(place, temporary, before):
            if not _put_new(place.folder, temporary, place.name):
                _keep_all(place, temporary, keep)
            return None
    except FileNotFoundError:
        return None
    finally:
        _remove(place.folder, temporary)
    place.folder.sync()
    return kept


def _give_back(place: Place, temporary: str, after: bytes, keep: Keep) -> None:
    """Put what somebody saved in the last moment back in its place; what stands there by now, and
    is not our own, is kept."""
    exchange(place.folder, temporary, place.name)
    if not _is(place, temporary, after):
        _keep_all(place, temporary, keep)


def _keep_all(place: Place, name: str, keep: Keep) -> None:
    found = current(place, name)
    if found is not None:
        keep(found[0])


def _is(place: Place, name: str, data: bytes) -> bool:
    try:
        found = current(place, name)
    except RefusedError:  # a link or a folder by now
        return False
    return found is not None and found[0] == data


def _temporary(place: Place) -> str:
    return f".{place.name.removesuffix('.md')[:40]}.{secrets.token_hex(6)}.tmp"


def _remove(folder: Folder, name: str) -> None:
    with suppress(FileNotFoundError):
        folder.remove(name)


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
