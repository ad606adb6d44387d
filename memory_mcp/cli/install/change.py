"""A change to one client's file: worked out first, shown or made afterwards."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.cli.install import files
from memory_mcp.cli.install.catalog import Target
from memory_mcp.cli.install.json_tree import BrokenError
from memory_mcp.cli.install.record import Record, Records, digest
from memory_mcp.core.errors import RefusedError


@dataclass(frozen=True, slots=True)
class Change:
    """What a file holds, and what it is to hold; None: no file."""

    target: Target
    before: bytes | None
    after: bytes | None
    base: bytes | None
    """The file without anything of ours: what comes back in the end."""

    @property
    def needed(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after

    def diff(self) -> list[str]:
        """The lines of a unified diff."""
        name = str(self.target.file)
        old, new = (_lines(data) for data in (self.before, self.after))
        here, there = (
            name if data is not None else os.devnull for data in (self.before, self.after)
        )
        return [line.rstrip("\r\n") for line in difflib.unified_diff(old, new, here, there)]


def entering(target: Target, records: Records) -> Change:
    """What installing would do. Raises RefusedError for a file that cannot be read as its format,
    or holds another server by our name."""
    before = files.read(target.file)
    text = files.text_of(target.file, before)
    try:
        after = target.part.enter(text)
        record = _valid(records, target, before)
        if record:
            base = None if record.created else records.base(target.file)
        else:
            known = records.base(target.file) if _own(records, target) else None
            bare = target.part.remove(text, files.text_of(target.file, known) if known else None)
            base = before if bare == text else bare.encode()
    except BrokenError as error:
        raise _broken(target.file, error) from error
    except RefusedError as error:
        raise RefusedError(f"{target.file}: {error}") from error
    return Change(target, before, before if after == text else after.encode(), base)


def leaving(target: Target, records: Records) -> Change:
    """What uninstalling would do: the bytes of before where nobody has changed the file since,
    else without what is ours. Raises RefusedError."""
    before = files.read(target.file)
    record = _own(records, target)
    base = records.base(target.file) if record else None
    if _valid(records, target, before):
        return Change(target, before, base, base)
    text = files.text_of(target.file, before)
    created = record is not None and record.created
    known = "" if created else files.text_of(target.file, base) if base is not None else None
    try:
        bare = target.part.remove(text, known)
    except BrokenError as error:
        raise _broken(target.file, error) from error
    except RefusedError as error:
        raise RefusedError(f"{target.file}: {error}") from error
    if bare == text:
        return Change(target, before, before, base)
    gone = created and bare.strip() in ("", "{}")
    return Change(target, before, None if gone else bare.encode(), base)


def enter(change: Change, records: Records, client: str, project: Path | None) -> None:
    """Make the change, and note the way back. Raises ConflictError, StorageError."""
    file = change.target.file
    record = records.find(file)
    if change.after is None or not change.needed:
        return
    folders = files.write(file, change.before, change.after, lambda old: records.keep(file, old))
    if change.before is None and project is None:
        files.close(file)
    new = Record(
        client=client,
        file=str(file),
        kind=change.target.kind,
        what=change.target.what,
        name=change.target.name,
        after=digest(change.after),
        created=change.base is None,
        folders=(*map(str, folders), *(record.folders if record else ())),
        project=str(project) if project else None,
    )
    records.enter(new, change.base)


def leave(change: Change, records: Records) -> None:
    """Make the change, and forget the file. Raises ConflictError, StorageError."""
    file = change.target.file
    record = _own(records, change.target)
    if change.needed and change.before is not None:
        if change.after is None:
            files.delete(file, change.before, lambda old: records.keep(file, old))
            _remove(record.folders if record else ())
        else:
            files.write(file, change.before, change.after, lambda old: records.keep(file, old))
    if record:
        records.forget(file)


def _remove(folders: Sequence[str]) -> None:
    for folder in folders:
        with suppress(OSError):  # it holds something by now
            Path(folder).rmdir()


def _own(records: Records, target: Target) -> Record | None:
    """The record of this very entry; a file may hold several, of which the last one is noted."""
    record = records.find(target.file)
    return record if record and record.name == target.name else None


def _valid(records: Records, target: Target, now: bytes | None) -> Record | None:
    """The record of a file that nobody has changed since."""
    record = _own(records, target)
    if record is None or now is None or digest(now) != record.after:
        return None
    return record if record.created or records.base(target.file) is not None else None


def _broken(file: Path, error: BrokenError) -> RefusedError:
    return RefusedError(
        f"{file} cannot be read: {error}; nothing was written. Mend it, then install again"
    )


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
