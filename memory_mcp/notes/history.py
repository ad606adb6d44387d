"""What the tools replaced or deleted, kept as files a person can read.

`<home>/.history/<source>/<path>/<UTC time>-<revision>.md` holds the bytes of one old version.
Letters that not every file system takes are written as `%XX`; a name that would be too long is cut
and ends in `%~` and a hash, and the folder then tells its reference in `reference.txt`.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, unquote

from memory_mcp.core.errors import AmbiguousError, NotFoundError, StorageError
from memory_mcp.notes.failure import explained
from memory_mcp.notes.names import nfc, printable, to_system
from memory_mcp.notes.recent import Recent

KEEP = 1_000
"""Versions of one note. Text is small; only a program that saves all day ever gets here."""

_TIME = "%Y%m%dT%H%M%S.%fZ"
_FILE = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-([0-9a-f]{12})(?:-(.*))?\.md")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*%\\]|^\.|[. ]$')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LONGEST_NAME = 180  # bytes; file systems take 255, and some encrypt names to longer ones
_LONGEST_PATH = 1_500  # bytes, well below the 4,096 that a call takes
_NAME_FILE = "reference.txt"


@dataclass(frozen=True, slots=True)
class Version:
    """An old version of a note: the revision of its bytes, when it was replaced, its size."""

    revision: str
    at: datetime
    size: int
    note: str = ""


class History:
    """The old versions of all notes of a home, below `root` (`<home>/.history`).

    Each agent has an inbox of its own under the one name `memory`: that of another agent than
    `default` is kept below `memory@<agent>`.
    """

    def __init__(self, root: Path, agent: str = "default") -> None:
        self.root = Path(to_system(str(root)))
        self.recent = Recent()
        """What clients saw lately, and nobody replaced by a tool yet."""
        self._inbox = "memory" if agent == "default" else f"memory@{agent}"
        self.locks = self.root.parent / ".state" / "locks"
        """Where the processes of this home lock the notes they change."""

    def lock_of(self, root: Path, path: str) -> Path:
        """The lock file of a note: one for all spellings that some disk takes for the same."""
        name = f"{root}\0{nfc(path).casefold()}".encode("utf-8", "surrogateescape")
        return self.locks / f"{hashlib.sha256(name).hexdigest()[:32]}.lock"

    def keep(self, reference: str, data: bytes, at: datetime, note: str = "") -> str:
        """Keep a version durably and return its revision. `note` says why, in a few words.

        Bytes equal to the newest version are not kept twice: that one is dated anew. No two
        versions share a time, and none is older than one that was there before: where the clock
        went back it is dated a microsecond after it. Raises StorageError.
        """
        revision = hashlib.sha256(data).hexdigest()[:12]
        with explained(f"The old text of {reference}", "kept in the history"):
            folder = self._make_folder(reference)
            files = _names_in(folder)
            newest = files[0] if files else None
            if newest is not None and _is_same(folder / newest, revision, data):
                _date(folder / newest, _after(newest, at))
                return revision
            _store(folder, _after(newest, at), f"{revision}{_ending(note)}", data)
            for name in files[KEEP - 1 :]:
                (folder / name).unlink(missing_ok=True)
        return revision

    def versions(self, reference: str) -> tuple[Version, ...]:
        """All versions of a note, the newest first; none where nothing was ever replaced."""
        with explained(f"The history of {reference}", "read"):
            return tuple(version for _, version in _versions_in(self._folder(reference)))

    def newest(self, reference: str) -> datetime | None:
        """When the newest version was replaced; None where there is none."""
        with explained(f"The history of {reference}", "read"):
            names = _names_in(self._folder(reference))
        return _time(names[0].partition("-")[0]) if names else None

    def load(self, reference: str, revision: str | None = None) -> bytes:
        """The bytes of a version: the newest, or that of a revision or the start of one.

        Raises NotFoundError, AmbiguousError, and StorageError where the kept file was damaged.
        """
        with explained(f"The history of {reference}", "read"):
            files = _versions_in(self._folder(reference))
            path, version = _pick(reference, revision, files)
            data = path.read_bytes()
        if not hashlib.sha256(data).hexdigest().startswith(version.revision):
            raise StorageError(
                f"The kept version {version.revision} of {reference} was changed on disk"
                f" ({printable(str(path))}); look at the file yourself, or choose another revision"
            )
        return data

    def references(self) -> tuple[str, ...]:
        """All references that have old versions, sorted."""
        found = set()
        for parent, _, files in os.walk(self.root):
            if any(_FILE.fullmatch(name) for name in files):
                found.add(_reference_of(Path(parent), self.root))
        return tuple(sorted(reference for kept in found if (reference := self._visible(kept))))

    def _kept(self, reference: str) -> str:
        """The name below the root: the reference, but for the inbox of a further agent."""
        source, slash, rest = nfc(reference).partition("/")
        top = self._inbox if slash and source == "memory" else source
        return f"{top}{slash}{rest}"

    def _visible(self, kept: str) -> str | None:
        """The reference of a name below the root; None where it is another agent's."""
        source, slash, rest = kept.partition("/")
        if source == self._inbox:
            return f"memory{slash}{rest}"
        return None if source == "memory" or source.startswith("memory@") else kept

    def _folder(self, reference: str) -> Path:
        return self.root.joinpath(*map(to_system, _steps(self._kept(reference))))

    def _make_folder(self, reference: str) -> Path:
        reference = self._kept(reference)
        steps = _steps(reference)
        folder = self.root
        _make(folder)
        for step in steps:
            folder = folder / to_system(step)
            _make(folder)
        if any("%~" in step for step in steps) and not (folder / _NAME_FILE).exists():
            _write(folder, _NAME_FILE, reference.encode("utf-8"))
        return folder


def _pick(
    reference: str, revision: str | None, files: list[tuple[Path, Version]]
) -> tuple[Path, Version]:
    wanted = (revision or "").strip().lower()
    fitting = [item for item in files if item[1].revision.startswith(wanted)]
    if not files:
        raise NotFoundError(f"{reference} has no old versions: no tool has replaced or deleted it")
    known = ", ".join(dict.fromkeys(version.revision for _, version in files[:10]))
    if not fitting:
        raise NotFoundError(f"{reference} has no version {revision!r}; the newest are {known}")
    if wanted and len({version.revision for _, version in fitting}) > 1:
        raise AmbiguousError(
            f"More than one version of {reference} begins with {revision!r}; choose one of {known}"
        )
    return fitting[0]


def _names_in(folder: Path) -> list[str]:
    """The names of the versions in a folder, the newest first."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        found = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        return sorted(filter(_FILE.fullmatch, found), reverse=True)
    return []


def _versions_in(folder: Path) -> list[tuple[Path, Version]]:
    """The versions in a folder, the newest first."""
    found = []
    for name in _names_in(folder):
        match = _FILE.fullmatch(name)
        if match:
            size = (folder / name).stat().st_size
            version = Version(match[2], _time(match[1]), size, unquote(match[3] or ""))
            found.append((folder / name, version))
    return found


def _is_same(path: Path, revision: str, data: bytes) -> bool:
    return f"Z-{revision}" in path.name and path.read_bytes() == data


def _time(text: str) -> datetime:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC)


def _after(newest: str | None, at: datetime) -> datetime:
    """`at`, or a moment after the newest version."""
    time = at.astimezone(UTC)
    if newest is None:
        return time
    return max(time, _time(newest.partition("-")[0]) + timedelta(microseconds=1))


def _store(folder: Path, time: datetime, ending: str, data: bytes) -> None:
    while True:
        try:
            _write(folder, f"{time.strftime(_TIME)}-{ending}.md", data)
            return
        except FileExistsError:
            time += timedelta(microseconds=1)


def _date(path: Path, time: datetime) -> None:
    """Say that a version was replaced at this time."""
    path.rename(path.with_name(f"{time.strftime(_TIME)}-{path.name.partition('-')[2]}"))
    _sync(path.parent)


def _ending(note: str) -> str:
    safe = quote(" ".join(note.split())[:60], safe=" ,;()'")
    return f"-{safe[:90]}" if safe else ""


def _write(folder: Path, name: str, data: bytes) -> None:
    """Write a file in one step, durably. Raises FileExistsError."""
    temporary = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if (folder / name).exists():
            raise FileExistsError(name)
        temporary.replace(folder / name)
    finally:
        temporary.unlink(missing_ok=True)
    _sync(folder)


def _make(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True, parents=True)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _steps(reference: str) -> list[str]:
    """The folder names of a reference below the root of the history."""
    source, *rest = nfc(reference).split("/")
    steps = [_step(part) for part in (source, *rest)]
    if sum(len(step.encode()) + 1 for step in steps) > _LONGEST_PATH:
        return [steps[0], _cut("", nfc(reference))]
    return steps


def _step(part: str) -> str:
    safe = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), part)
    if _RESERVED.fullmatch(safe) or not safe or _FILE.fullmatch(safe):
        safe = f"%{ord(safe[0]):02X}{safe[1:]}" if safe else "%00"
    return safe if len(safe.encode()) <= _LONGEST_NAME else _cut(safe, part)


def _cut(safe: str, whole: str) -> str:
    start = safe.encode()[:120].decode("utf-8", "ignore")
    return f"{start}%~{hashlib.sha256(whole.encode()).hexdigest()[:24]}"


def _reference_of(folder: Path, root: Path) -> str:
    named = folder / _NAME_FILE
    if named.is_file():
        return named.read_bytes().decode("utf-8")
    parts: Iterator[str] = (unquote(printable(part)) for part in folder.relative_to(root).parts)
    return nfc("/".join(parts))
