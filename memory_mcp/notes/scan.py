"""What notes a source holds right now, by looking at names and stamps only. Nothing is opened.

Symbolic links are never followed: what they lead to inside the source is found under its own path.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memory_mcp.core.note import Stamp
from memory_mcp.notes import names
from memory_mcp.notes.failure import plain_reason
from memory_mcp.notes.folder import Folder, open_folder
from memory_mcp.notes.place import LONGEST, counts
from memory_mcp.notes.sources import Source

State = Literal["ready", "empty", "missing"]


@dataclass(frozen=True, slots=True)
class Found:
    """A note that is there. `path` is canonical (normal form C, no `.md`), `disk` as on disk."""

    path: str
    disk: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know about a file or folder, by its reference."""

    reference: str
    message: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What one look at a source found."""

    files: dict[str, Found]
    """By canonical path."""
    state: State
    """missing: the root cannot be looked into, so nothing is known about its notes."""
    warnings: tuple[Warned, ...] = ()
    left_out: int = 0
    """Notes beyond `max_files`, and folders beyond `max_depth`."""
    folders: tuple[str, ...] = ()
    """Disk paths of the folders that were looked into; the root is ''."""


def scan(source: Source, below: str = "") -> Scan:
    """All notes of a source, or those at or below the disk path of a folder or file. Blocking.

    Those nearest to the root come first, then by name, so that the bounds always leave out the
    same ones. `max_files` counts within one call. `state` is 'empty' only for a whole source.
    """
    walk = _Walk(source)
    try:
        walk.run(below.strip("/"))
    except (FileNotFoundError, NotADirectoryError):
        return Scan({}, "missing")
    except OSError as error:
        message = f"the folder {source.root} cannot be looked into: {plain_reason(error)}"
        return Scan({}, "missing", (Warned(source.name, message),))
    return walk.result(whole=not below)


def folders(source: Source) -> tuple[str, ...]:
    """Disk paths of all folders a scan looks into; none where the root is missing. Blocking."""
    walk = _Walk(source, only_folders=True)
    try:
        walk.run("")
    except OSError:
        return ()
    return walk.result(whole=False).folders


class _Walk:
    """One walk through a source, folder by folder, the nearest to the root first."""

    def __init__(self, source: Source, *, only_folders: bool = False) -> None:
        self._source = source
        self._only_folders = only_folders
        self._excludes = names.excludes_of(source.exclude)
        self._files: dict[str, Found] = {}
        self._warnings: list[Warned] = []
        self._too_many = 0
        self._too_deep: list[str] = []
        self._folders: list[str] = []
        self._waiting: deque[str] = deque()

    def run(self, below: str) -> None:
        """Walk. Raises OSError only where the root cannot be opened."""
        with open_folder(self._source.root) as root:
            if below:
                self._start(below)
            else:
                self._look_into("", root)
        while self._waiting:
            self._enter(self._waiting.popleft())

    def result(self, *, whole: bool) -> Scan:
        """What the walk found, with the warnings about what it left out."""
        name = self._source.name
        if self._too_many:
            self._warn_of_source(
                f"{self._too_many} notes beyond {self._source.max_files} were left out; exclude"
                f" folders, or raise sources.{name}.max_files"
            )
        if self._too_deep:
            self._warn_of_source(
                f"{len(self._too_deep)} folders deeper than {self._source.max_depth} were left out"
                f" (the first: {self._too_deep[0][:80]}); raise sources.{name}.max_depth"
            )
        return Scan(
            self._files,
            "empty" if whole and not self._files else "ready",
            tuple(self._warnings),
            self._too_many + len(self._too_deep),
            tuple(self._folders),
        )

    def _start(self, below: str) -> None:
        *above, name = below.split("/")
        # A note's name stands in for the folder's own, so that only the rules for folders speak.
        if above and not counts(self._source, "/".join([*above, "x.md"])):
            return
        try:
            with open_folder(self._source.root, above) as folder:
                state = folder.state(name)
                prefix = "/".join(above) + "/" if above else ""
                self._meet(folder, prefix, names.to_system(name), state.st_mode, lambda: state)
        except OSError:  # gone, or a link by now: nothing is there
            return

    def _enter(self, disk: str) -> None:
        try:
            with open_folder(self._source.root, disk.split("/")) as folder:
                self._look_into(f"{disk}/", folder)
        except (FileNotFoundError, NotADirectoryError):
            return  # gone since its parent was read
        except OSError as error:
            self._warn(disk, f"the folder cannot be looked into: {plain_reason(error)}")

    def _look_into(self, prefix: str, folder: Folder) -> None:
        with folder.entries() as entries:
            kept = filter(_is_folder, entries) if self._only_folders else entries
            found = sorted(kept, key=_by_name)
            self._folders.append(prefix.removesuffix("/"))
            for entry in found:
                if not entry.name.startswith("."):
                    self._meet(folder, prefix, entry.name, _kind(entry), _stater(entry))

    def _meet(
        self,
        folder: Folder,
        prefix: str,
        raw: str,
        mode: int,
        state: Callable[[], os.stat_result],
    ) -> None:
        """Sort one name into notes, folders, links, warnings, and what is none of our business."""
        if not (raw.endswith(names.ENDING) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            if raw.lower().endswith(names.ENDING):
                self._warn(prefix + raw, "ends in capital letters; only .md is read: rename it")
            return
        name = names.from_system(raw)
        if name is None or names.has_odd_letters(name):
            self._warn(
                prefix + raw,
                "the name has bytes that are not UTF-8, a control character or a backslash;"
                " rename it",
            )
        elif stat.S_ISLNK(mode):
            self._meet_link(folder, prefix + name, raw)
        elif stat.S_ISDIR(mode):
            self._meet_folder(prefix + name, name)
        else:
            self._meet_file(prefix + name, name, state)

    def _meet_folder(self, disk: str, name: str) -> None:
        if names.is_skipped_folder(name) or self._excludes.folder(disk):
            return
        if self._source.is_foreign(disk):
            return
        if disk.count("/") + 1 > self._source.max_depth:
            self._too_deep.append(disk)
            return
        self._waiting.append(disk)

    def _meet_file(self, disk: str, name: str, state: Callable[[], os.stat_result]) -> None:
        if not names.is_note(name) or self._excludes.file(disk):
            return
        if len(self._files) >= self._source.max_files:
            self._too_many += 1
            return
        try:
            found = state()
        except FileNotFoundError:
            return
        except OSError as error:
            self._warn(disk, f"cannot be looked at: {plain_reason(error)}")
            return
        path = names.path_of(disk)
        if not stat.S_ISREG(found.st_mode):
            self._warn(disk, "is no regular file (a pipe, socket or device) and was not opened")
        elif len(path) > LONGEST:
            self._warn(
                disk, f"the path has {len(path)} characters, more than {LONGEST}: shorten it"
            )
        elif path in self._files:
            first = self._files[path].disk
            self._warn(
                disk,
                f"{disk!a} and {first!a} are one name to people, in two spellings; only"
                f" {first!a} is read: rename or merge one",
            )
        else:
            stamp = Stamp(found.st_mtime_ns, found.st_size, found.st_ino)
            self._files[path] = Found(path, disk, stamp)

    def _meet_link(self, folder: Folder, disk: str, raw: str) -> None:
        """Links are not followed; say so where something is lost by that."""
        if self._excludes.file(disk) or self._excludes.folder(disk):
            return
        concerns = raw.endswith(names.ENDING) or "." not in raw
        try:
            mode = folder.target(raw).st_mode
        except OSError:
            if concerns:
                self._warn(disk, "is a link that leads nowhere (dangling); remove or correct it")
            return
        if not stat.S_ISDIR(mode) and not raw.endswith(names.ENDING):
            return
        real = os.path.realpath(os.path.join(folder.path, raw))  # noqa: PTH118 - text, not a Path
        inside = os.path.relpath(real, names.to_system(str(self._source.root)))
        if inside.startswith(".."):
            self._warn(
                disk,
                "is a link that leads outside of the source, and is not followed; copy the text"
                " here, or name its folder as a source",
            )
        elif stat.S_ISREG(mode) and names.is_skipped(inside):
            self._warn(disk, "is a link to a file that is no note itself, and is not followed")

    def _warn(self, disk: str, message: str) -> None:
        path = names.printable(names.to_system(disk)).removesuffix(names.ENDING)
        self._warnings.append(Warned(f"{self._source.name}/{path}", message))

    def _warn_of_source(self, message: str) -> None:
        self._warnings.append(Warned(self._source.name, message))


def _by_name(entry: os.DirEntry[str]) -> tuple[bool, str]:
    """Of two spellings of one name, the one in normal form C first."""
    return (names.nfc(entry.name) != entry.name, entry.name)


def _kind(entry: os.DirEntry[str]) -> int:
    """The type of an entry as mode bits, without asking the file system again."""
    if entry.is_symlink():
        return stat.S_IFLNK
    return stat.S_IFDIR if entry.is_dir(follow_symlinks=False) else stat.S_IFREG


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _stater(entry: os.DirEntry[str]) -> Callable[[], os.stat_result]:
    return lambda: entry.stat(follow_symlinks=False)
