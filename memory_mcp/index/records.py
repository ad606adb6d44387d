"""The catalog from the event loop: what is on disk of each note. A full disk costs a warning."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from memory_mcp.core.errors import StorageError
from memory_mcp.core.note import Stamp
from memory_mcp.index.catalog import Catalog, Row, written
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.slices import Slices, on_thread
from memory_mcp.index.table import Entry, Parsed

log = logging.getLogger(__name__)

Result = TypeVar("Result")
_BATCH = 128  # rows read in one go
_Mark = tuple[Stamp, str, str]
"""(stamp, digest, identity) of a row."""


class Records:
    """Reads and writes catalog rows; remembers what is recorded, so that rows are written once."""

    def __init__(self, folder: Path, derivation: str) -> None:
        self._catalog = Catalog(folder)
        self._derivation = derivation
        self._recorded: dict[NoteKey, _Mark] = {}
        self._renewals = 0
        self._turn: int | None = None
        self.trouble: str | None = None
        """Why the catalog could not be used the last time; None where it could."""

    @property
    def reasons(self) -> Sequence[str]:
        """Why the catalog was made anew in this process."""
        return self._catalog.database.reasons

    async def _run(self, work: Callable[[], Result], otherwise: Result) -> Result:
        try:
            result = await to_thread.run_sync(work)
        except (StorageError, UnicodeError) as error:
            if self.trouble is None:
                log.warning("the catalog cannot be used: %s", error)
            self.trouble = str(error)
            return otherwise
        self.trouble = None
        return result

    @property
    def is_lost(self) -> bool:
        """Whether the file was made anew or replaced: then every row is to be written again."""
        return self._catalog.database.renewals != self._renewals

    def accept_loss(self) -> None:
        """Remember nothing as recorded."""
        self._renewals = self._catalog.database.renewals
        self._recorded.clear()

    async def check(self) -> list[NoteKey]:
        """Look at the file although nothing is to be written: loss and damage are noticed, and
        notes are named whose row another process removed or wrote from less than is known here
        (an older text, or no vectors). Those are to be recorded again."""
        turn: int | None = await self._run(self._catalog.turn, None)
        if turn is None or turn == self._turn or self.is_lost:
            return []
        rows: list[Row] | None = await self._run(self._catalog.rows, None)
        if rows is None:
            return []
        self._turn = turn
        lost = await to_thread.run_sync(_less, rows, dict(self._recorded))
        for key in lost:
            self._recorded.pop(key, None)
        return lost

    async def rows(self, source_id: str) -> list[Row]:
        """The rows of a source, without content; none where the catalog cannot be read."""
        return await self._run(lambda: self._catalog.rows(source_id), [])

    async def restore(self, source_id: str, stamps: Mapping[str, Stamp]) -> AsyncIterator[Parsed]:
        """What is recorded of the files that still have these stamps, in their order. Rows of
        files that are gone are removed."""
        rows = {row.path: row for row in await self.rows(source_id)}
        good = iter([p for p, stamp in stamps.items() if self._holds(rows.get(p), stamp)])
        while paths := list(islice(good, _BATCH)):
            for parsed in await self._contents(source_id, paths):
                row = rows[parsed.card.path]
                self._recorded[row.key] = (row.stamp, row.digest, row.identity)
                yield parsed
        await self.forget([row.key for path, row in rows.items() if path not in stamps])

    def _holds(self, row: Row | None, stamp: Stamp) -> bool:
        if row is None or row.failure is not None:
            return False
        return row.stamp == stamp and row.derivation == self._derivation

    async def _contents(self, source_id: str, paths: Sequence[str]) -> list[Parsed]:
        return await self._run(lambda: self._catalog.contents(source_id, paths), [])

    async def record(
        self, notes: Sequence[tuple[Entry, Callable[[], Parsed | None]]], identity: str | None
    ) -> None:
        """Write the rows of notes whose row is not up to date. `identity`: of their vectors; None
        while there is no model: a row whose text is the same keeps the one it has. A note that
        gives None has changed meanwhile, and is left out."""
        rows: list[tuple[Row, Parsed | None]] = []
        slices = Slices()
        for entry, parsed in notes:
            mark = self._mark(entry, identity)
            if self._recorded.get(entry.key) != mark and (content := parsed()) is not None:
                rows.append((self._row(entry, mark), content))
                await slices.pause()
        if not rows:
            return
        if await self._write(rows):
            for row, _ in rows:
                self._recorded[row.key] = (row.stamp, row.digest, row.identity)

    async def _write(self, rows: Sequence[tuple[Row, Parsed | None]]) -> bool:
        def work() -> bool:
            self._catalog.record(made)
            return True

        made = await on_thread(lambda row: written(*row), rows)
        return await self._run(work, otherwise=False)

    def _mark(self, entry: Entry, identity: str | None) -> _Mark:
        before = self._recorded.get(entry.key)
        if identity is None:
            same = before is not None and before[1] == entry.digest
            identity = before[2] if before is not None and same else ""
        return entry.stamp, entry.digest, identity

    def _row(self, entry: Entry, mark: _Mark) -> Row:
        return Row(
            *entry.key,
            stamp=mark[0],
            digest=mark[1],
            derivation=self._derivation,
            identity=mark[2],
            passages=len(entry.passages),
            warnings=entry.card.warnings,
        )

    async def fail(self, key: NoteKey, stamp: Stamp, message: str) -> None:
        """Record that a file cannot be read; it is tried again at each sweep."""
        self._recorded.pop(key, None)
        row = Row(*key, stamp, "", self._derivation, "", 0, message)
        await self._write([(row, None)])

    async def forget(self, keys: Collection[NoteKey]) -> None:
        """Remove rows."""
        for key in keys:
            self._recorded.pop(key, None)
        if keys:
            await self._run(lambda: self._catalog.forget(keys), None)

    async def prune(self, keeps: Callable[[str], bool]) -> None:
        """Remove the rows of sources whose id is not to be kept; asked on a worker thread."""
        await self._run(lambda: self._catalog.prune(keeps), None)

    async def state(self, name: str, value: str) -> None:
        """Keep a fact about the whole index for other processes."""
        await self._run(lambda: self._catalog.state(name, value), None)

    async def close(self) -> None:
        """Close the file."""
        await to_thread.run_sync(self._catalog.close)


def _less(rows: Sequence[Row], recorded: Mapping[NoteKey, _Mark]) -> list[NoteKey]:
    there = {row.key: (row.stamp, row.digest, row.identity) for row in rows}
    return [key for key, mark in recorded.items() if _is_less(there.get(key), mark)]


def _is_less(there: _Mark | None, mark: _Mark) -> bool:
    """Whether a row lacks something. Vectors of another model are no less: both processes may be
    right, and would undo each other's work for ever."""
    return there is None or there[:2] != mark[:2] or bool(mark[2] and not there[2])
