"""Where a note is on disk: its folder, opened, and its name as the file system spells it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.errors import InputError, RefusedError, StorageError
from memory_mcp.core.slug import is_lost_on_windows
from memory_mcp.notes.failure import explained
from memory_mcp.notes.folder import Folder, LinkError, open_folder
from memory_mcp.notes.names import ENDING, excludes_of, has_odd_letters, is_skipped, nfc
from memory_mcp.notes.own import real
from memory_mcp.notes.sources import Source

LONGEST = 1_000
"""Characters of a path. A longer one is no name any more."""

_ON_WINDOWS = os.name == "nt"


@dataclass(frozen=True, slots=True)
class Place:
    """An open folder and a name in it. The file may be missing."""

    reference: str
    folder: Folder
    name: str
    disk: str


@contextmanager
def find(source: Source, path: str) -> Iterator[Place | None]:
    """The place of an existing note, its folder held open; None where there is none that counts.

    Raises InputError for what is no path, RefusedError where a step is a link, OSError.
    """
    reference = f"{source.name}/{path}"
    with _guarded(reference):
        wanted = _checked(path) + ENDING
        disk = _spelled(source.root, wanted) if counts(source, wanted) else None
        if disk is None:
            yield None
            return
        *folders, name = disk.split("/")
        with open_folder(source.root, folders) as folder:
            yield Place(reference, folder, name, disk)


@contextmanager
def prepared(source: Source, path: str, home: Path) -> Iterator[Place]:
    """The place of a note that is to be created, with the folders on the way to it.

    The root itself is created only where it lies below the home. Raises as `find`, and
    StorageError where the root is missing.
    """
    reference = f"{source.name}/{path}"
    check_root(source, home)
    with _guarded(reference):
        disk = _nearest(source.root, _checked(path) + ENDING)
        *folders, name = disk.split("/")
        with open_folder(source.root, folders, make=True) as folder:
            yield Place(reference, folder, name, disk)


def check_name(source: Source, path: str) -> None:
    """Raise RefusedError for a name that would never be listed."""
    if not counts(source, _checked(path) + ENDING):
        raise RefusedError(
            f"{source.name}/{path} would not be listed: its name or a folder is hidden, excluded,"
            " or belongs to another source; choose another name"
        )


def check_case(place: Place) -> None:
    """Raise RefusedError where the disk takes another spelling of the letters for this name."""
    if not _takes_other_case(place.folder, place.name):
        return
    names = {nfc(name) for name in place.folder.names()}
    if nfc(place.name) in names:
        return
    folded = nfc(place.name).casefold()
    known = next((name for name in sorted(names) if name.casefold() == folded), place.name)
    raise RefusedError(
        f"{place.reference} is written {known.removesuffix(ENDING)!r} on this disk, which does not"
        " tell capital letters from small ones; use that spelling, or choose another name"
    )


def check_root(source: Source, home: Path | None = None) -> None:
    """Raise StorageError where the source's folder is missing, or a link came in its place; below
    the home it is created. Raises OSError."""
    with suppress(FileNotFoundError):
        _look_at_root(source)
        return
    inside = None if home is None else real(home)
    if inside is None or not source.root.is_relative_to(inside):
        raise StorageError(
            f"The folder of {source.name}, {source.root}, is not there; connect its disk, or"
            f" correct sources.{source.name}.path"
        )
    steps = source.root.relative_to(inside).parts
    with (
        explained(f"The folder of {source.name}, {source.root}", "created"),
        open_folder(inside, steps, make=True, mode=0o700),
    ):
        pass


def _look_at_root(source: Source) -> None:
    try:
        with open_folder(source.root):
            return
    except NotADirectoryError as error:
        raise StorageError(
            f"The folder of {source.name}, {source.root}, is no folder any more, or a link came in"
            " its place or above it; put the folder back, or start again to follow the link"
        ) from error


def is_taken(source: Source, path: str) -> bool:
    """Whether anything has the name that a note would have: also a link, a folder or a pipe.

    Blocking. Raises StorageError.
    """
    with explained(f"{source.name}/{path}", "looked at"):
        return _spelled(source.root, _checked(path) + ENDING) is not None


def counts(source: Source, disk: str) -> bool:
    """Whether a file at this relative path would be a note of this source."""
    if is_skipped(disk):
        return False
    excludes = excludes_of(source.exclude)
    parts = disk.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts))]
    if any(source.is_foreign(folder) or excludes.folder(folder) for folder in above):
        return False
    return not excludes.file(disk)


def _checked(path: str) -> str:
    """The path in its canonical spelling. Raises InputError for what could lead elsewhere."""
    if len(path) > LONGEST:
        raise InputError(
            f"{path[:60]!r}… has {len(path)} characters; at most {LONGEST} can be used"
        )
    if any(part in ("", ".", "..") for part in path.split("/")) or has_odd_letters(path):
        raise InputError(
            f"{path!r} is no path of a note; write it as 'people/alice', from the source's folder"
        )
    if _ON_WINDOWS and any(map(is_lost_on_windows, (path + ENDING).split("/"))):
        raise InputError(
            f"{path!r} cannot be a file on Windows, which would open something else by this name"
            " (a device, a stream); use letters, digits, - and _"
        )
    return nfc(path)


def _spelled(root: Path, wanted: str) -> str | None:
    """The relative path of a file as the disk spells it, the wanted spelling first."""
    if _exists(root, wanted):
        return wanted
    found = [""]
    for part in wanted.split("/"):
        found = [f"{above}{name}/" for above in found for name in _names_like(root, above, part)]
    return found[0].removesuffix("/") if found else None


def _nearest(root: Path, wanted: str) -> str:
    """The wanted path, where folders that exist in another spelling are taken as they are."""
    *folders, name = wanted.split("/")
    disk = ""
    for part in folders:
        names = _names_like(root, disk, part)
        disk += f"{names[0] if names else part}/"
    return disk + name


def _exists(root: Path, disk: str) -> bool:
    """Whether a file has these very letters. A disk that does not tell capital letters from small
    ones opens `private/x`, too, where `Private` is excluded."""
    *folders, name = disk.split("/")
    with ExitStack() as opened:
        try:
            folder = opened.enter_context(open_folder(root))
            for part in folders:
                below = folder.child(part)
                opened.callback(below.close)
                if not _is_spelled_so(folder, part):
                    return False
                folder = below
            folder.state(name)
            return _is_spelled_so(folder, name)
        except (FileNotFoundError, NotADirectoryError):
            return False


def _is_spelled_so(folder: Folder, name: str) -> bool:
    return not _takes_other_case(folder, name) or name in map(nfc, folder.names())


def _takes_other_case(folder: Folder, name: str) -> bool:
    try:
        return folder.state(name.swapcase()).st_ino == folder.state(name).st_ino
    except OSError:
        return False


def _names_like(root: Path, above: str, part: str) -> list[str]:
    """The names in a folder that are `part` in normal form C, that spelling first."""
    try:
        with open_folder(root, above.split("/")[:-1]) as folder:
            names = folder.names()
    except (FileNotFoundError, NotADirectoryError):
        return []
    wanted = nfc(part)
    return sorted((name for name in names if nfc(name) == wanted), key=lambda name: name != wanted)


@contextmanager
def _guarded(reference: str) -> Iterator[None]:
    try:
        yield
    except LinkError as error:
        raise RefusedError(
            f"{reference} leads through a symbolic link ({error.args[1]!r}); links are not"
            " followed: put the text itself there"
        ) from error
