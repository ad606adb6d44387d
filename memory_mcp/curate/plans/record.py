"""The record of a run: every plan that it carries out, with all bytes, before the first is made.

`<folder>/<run>.jsonl` is appended and synced. A plan without an end was cut off, and the record
has all that is needed to go on with it, or to take the whole run back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from memory_mcp.core.errors import InputError, NotFoundError, StorageError
from memory_mcp.core.slug import shown
from memory_mcp.curate.plans.names import is_job_id, job_id_of
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.notes.failure import explained
from memory_mcp.notes.sources import Source

KEEP = 500
"""Runs that can be taken back; the oldest go first."""

_ENDING = ".jsonl"
_END_BYTES = 100  # more than a line has that ends a plan
_UNDO = "undo-"

End = Literal["done", "undone"]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan in a record, and how it ended; None where it was cut off."""

    number: int
    changes: tuple[Change, ...]
    end: End | None = None
    takes_back: tuple[int, ...] = ()
    """Of an undo: the numbers of the plans that it takes back, of the run it is the undo of."""


class Records:
    """The records of runs in a folder. Blocking."""

    def __init__(self, folder: Path, sources: Iterable[Source]) -> None:
        """Changes are read back for these sources; those of others are left alone."""
        self._folder = folder
        self._sources = {source.id: source for source in sources}

    def begin(
        self,
        run: str,
        number: int,
        at: str,
        changes: Iterable[Change],
        takes_back: Iterable[int] = (),
    ) -> None:
        """Note durably what is about to be done. Raises StorageError."""
        line: dict[str, Any] = {"plan": number, "at": at}
        line["changes"] = [_line(change) for change in changes]
        if numbers := list(takes_back):
            line["takes_back"] = numbers
        if number == 1:
            self._prune()
        self._append(run, line)

    def end(self, run: str, number: int, end: End) -> None:
        """Note durably how a plan ended. Raises StorageError."""
        self._append(run, {"plan": number, "end": end})

    def plans(self, run: str) -> tuple[Planned, ...]:
        """The plans of a run, in order. Raises NotFoundError where no such run is known, and
        StorageError where another agent's notes are part of it or the record was damaged."""
        path = self._path(run)
        with explained(f"The record of run {run}", "read"):
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                raise NotFoundError(
                    f"There is no run {shown(run)} that can be taken back; memory-mcp jobs lists"
                    " what was done."
                ) from None
        try:
            return self._read(data)
        except (ValueError, ArithmeticError, TypeError, KeyError, AttributeError) as error:
            raise StorageError(
                f"The record of run {run} was damaged ({path}); the versions of its notes can"
                " still be restored one by one: memory-mcp history."
            ) from error

    def _read(self, data: bytes) -> tuple[Planned, ...]:
        found: dict[int, Planned] = {}
        for line in _lines(data):
            number = int(line["plan"])
            if "end" in line and number in found:
                found[number] = replace(found[number], end=line["end"])
            elif "changes" in line:
                changes = tuple(self._change(item) for item in line["changes"])
                found[number] = Planned(number, changes, None, tuple(line.get("takes_back", ())))
        return tuple(found.values())

    def open(self) -> tuple[str, ...]:
        """Runs of which a plan was cut off, as far as these sources are concerned."""
        return tuple(run for run in self.runs() if self._is_open(run))

    def _is_open(self, run: str) -> bool:
        """Whether the last plan of a run was cut off; the others have ended before it began."""
        try:
            return not self._is_ended(run) and any(p.end is None for p in self.plans(run))
        except (NotFoundError, StorageError):
            return False  # somebody else's, or damaged

    def _is_ended(self, run: str) -> bool:
        """Whether the last line says how a plan ended: then the bytes of all its changes need not
        be read. False also where that cannot be told."""
        try:
            with self._path(run).open("rb") as file:
                file.seek(-min(_END_BYTES, file.seek(0, os.SEEK_END)), os.SEEK_END)
                _, newline, last = file.read().rpartition(b"\n{")
                return any("end" in line for line in _lines(b"{" + last if newline else b""))
        except OSError:
            return False

    def runs(self) -> list[str]:
        """All runs, the oldest first. What else is there, such as a sync tool's copies or an
        editor's links, are no runs."""
        found: list[tuple[int, str]] = []
        with explained("The records of runs", "read"), suppress(FileNotFoundError):
            found = list(_files(self._folder))
        names = [name.removesuffix(_ENDING) for _, name in sorted(found) if name.endswith(_ENDING)]
        return [name for name in names if is_job_id(name)]

    def _prune(self) -> None:
        for run in self.runs()[: -KEEP + 1]:
            if not self._is_open(run):
                with explained(f"The record of run {run}", "removed"):
                    self._path(run).unlink(missing_ok=True)

    def _path(self, run: str) -> Path:
        return self._folder / f"{job_id_of(run.strip())}{_ENDING}"

    def _append(self, run: str, line: Mapping[str, Any]) -> None:
        path = self._path(run)
        with explained(f"The record of run {run}", "written"):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(fd, "rb+") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(size - 1, 0))
                cut = file.read(1) not in (b"", b"\n")  # by a crash: no line
                file.write((b"\n" if cut else b"") + json.dumps(line).encode("ascii") + b"\n")
                file.flush()
                os.fsync(fd)
            if size == 0 and os.name != "nt":
                handle = os.open(self._folder, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)

    def _change(self, item: Mapping[str, Any]) -> Change:
        source = self._sources.get(item["source"])
        if source is None:
            raise StorageError(
                f"The run changed {shown(str(item['reference']))} of another agent or project;"
                " take it back where that one is at home (--agent, or in the project's folder)."
            )
        before, after = _bytes(item["before"]), _bytes(item["after"])
        path = item["path"]
        if not isinstance(path, str):
            raise TypeError(f"a path is {path!r}")
        return Change(Spot(source, path), before, after, item.get("reason", ""))


def _files(folder: Path) -> Iterator[tuple[int, str]]:
    """(time of the last change, name) of the files in a folder; one may go meanwhile."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.is_file():
                    yield entry.stat().st_mtime_ns, entry.name


def _line(change: Change) -> dict[str, Any]:
    return {
        "source": change.spot.source.id,
        "path": change.spot.path,
        "reference": change.reference,
        "before": _text(change.before),
        "after": _text(change.after),
        "reason": change.reason,
    }


def _text(data: bytes | None) -> str | None:
    """Bytes as JSON can hold them: what is no UTF-8 as lone surrogates."""
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut by a crash, so nothing of it was done
        if isinstance(value, dict) and "plan" in value:
            yield value


def run_id_of(text: str) -> str:
    """A name that a run can have. Raises InputError."""
    if not text.strip():
        raise InputError("The run is not named; give the id of the job that made it.")
    return job_id_of(text.strip())


def undo_of(run: str) -> str:
    """The run that takes a run back."""
    return f"{_UNDO}{run.strip()}"[:100]


def is_undo_of(undo: str, run: str) -> bool:
    """Whether a run is this one, the undo of it, the undo of that, and so on."""
    name = undo.strip()
    for _ in range(name.count(_UNDO) + 1):
        if name == run.strip():
            return True
        run = undo_of(run)
    return False
