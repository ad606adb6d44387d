"""From the disk to the table: one path for events, sweeps, refresh and rebuild.

A scan says what is there; a changed stamp means read and hash; the hash decides (`intake`). What
was put on the table after a scan began is newer than the scan and is not removed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anyio import Lock, to_thread

from memory_mcp.core.change import Changes, diff
from memory_mcp.core.note import Stamp
from memory_mcp.index.intake import Intake
from memory_mcp.index.known import Known
from memory_mcp.index.queue import Pulse
from memory_mcp.index.records import Records
from memory_mcp.index.slices import Slices
from memory_mcp.index.state import SourceStateName
from memory_mcp.index.table import Table
from memory_mcp.notes.names import ENDING, path_of
from memory_mcp.notes.scan import Scan, scan
from memory_mcp.notes.sources import Source


class Sync:
    """Keeps the table what the disk is. Lives on the event loop; scans on worker threads."""

    def __init__(
        self,
        known: Mapping[str, Known],
        table: Table,
        records: Records,
        intake: Intake,
        pulse: Pulse,
    ) -> None:
        self._known = known
        self._table = table
        self._records = records
        self._intake = intake
        self._pulse = pulse
        self._hints: dict[tuple[str, str], bool] = {}
        self._busy = False
        self._scanning = Lock()

    @property
    def idle(self) -> bool:
        """Whether no folder waits to be looked at."""
        return not self._hints and not self._busy

    @property
    def is_scanning(self) -> bool:
        """Whether a source was not looked at yet."""
        return any(known.state == "scanning" for known in self._known.values())

    def hint(self, source_id: str, disk: str = "", *, anew: bool = False) -> None:
        """Look again at or below a disk path ("": the whole source) as soon as possible. `anew`:
        read even what has its old stamp and its old bytes."""
        if source_id in self._known:
            key = (source_id, disk.strip("/"))
            self._hints[key] = self._hints.get(key, False) or anew
            self._pulse.beat()

    async def step(self) -> bool:
        """Do the oldest sweep that waits. False where none did."""
        if not self._hints:
            return False
        key = next(iter(self._hints))
        anew = self._hints.pop(key)
        self._busy = True
        try:
            await self.sweep(self._known[key[0]].source, key[1], anew=anew)
        finally:
            self._busy = False
            self._pulse.beat()
        return True

    async def sweep(self, source: Source, disk: str = "", *, anew: bool = False) -> None:
        """Compare a source, or what is at or below a disk path in it, with the table; queue what
        changed, remove what is gone."""
        known = self._known[source.id]
        async with self._scanning:
            turn = self._table.turn
            found, changes = await to_thread.run_sync(
                _compare, source, disk, self._stamps(source, disk)
            )
            if found.state == "missing" or (not disk and known.guarded and not found.files):
                await self._set_aside(known, found)
            elif disk and self._leaves_nothing(known, found, changes):
                self.hint(source.id)
            elif known.aside is None and known.state != "scanning":
                await self._apply(known, disk, found, changes, turn, anew)
            elif disk:
                self.hint(source.id)
            else:
                await self._bring_back(known, found, turn)

    def _stamps(self, source: Source, disk: str) -> dict[str, Stamp]:
        """Stamps of the live notes at or below a disk path."""
        entries = self._table.paths(source.id)
        if not disk:
            return {path: entry.stamp for path, entry in entries.items()}
        covered = _covered(disk)
        return {path: entry.stamp for path, entry in entries.items() if covered(path)}

    def _leaves_nothing(self, known: Known, found: Scan, changes: Changes) -> bool:
        """Whether the last notes of a source would go by a look at a part of it."""
        live = len(self._table.paths(known.source.id))
        return known.guarded and not found.files and 0 < live <= len(changes.removed)

    async def _set_aside(self, known: Known, found: Scan) -> None:
        """Serve nothing from a folder that is missing or suddenly empty, and forget nothing."""
        source = known.source
        if known.aside is None:
            live = list(self._table.paths(source.id))
            known.aside = len(live)
            known.aside = len(live) or len(await self._records.rows(source.id))
            self._intake.drop_source(source.id)
            await self._intake.remove(source, live)
        known.failures.clear()
        known.scanned = found.warnings
        state: SourceStateName = "empty"
        if found.state == "missing" and not known.comes_later:
            state = "missing"
        if known.state != state:
            known.state = state
            self._intake.announce(source.id, frozenset(), listing=True)

    async def _bring_back(self, known: Known, found: Scan, turn: int) -> None:
        """First sight of a folder, or it is back: take from the catalog what still holds."""
        source = known.source
        known.aside, known.scanned = None, found.warnings
        stamps = {path: one.stamp for path, one in found.files.items()}
        slices = Slices()
        async for parsed in self._records.restore(source.id, stamps):
            if self._table.entry(source.id, parsed.card.path) is None:
                self._intake.put(source, parsed, quiet=True)
            await slices.pause()
        for path, stamp in stamps.items():
            entry = self._table.entry(source.id, path)
            if entry is None or entry.stamp != stamp:
                self._intake.files.put((source.id, path))
            await slices.pause()
        known.state = "ready" if stamps else "empty"
        await self._remove_gone(source, "", found, turn)
        self._intake.announce(source.id, frozenset(), listing=True)

    async def _apply(
        self, known: Known, disk: str, found: Scan, changes: Changes, turn: int, anew: bool
    ) -> None:
        source = known.source
        for path in self._to_read(known, disk, found, changes, anew):
            self._intake.files.put((source.id, path), urgent=bool(disk), anew=anew)
        await self._remove_gone(source, disk, found, turn)
        if not disk:
            known.scanned = found.warnings
            for path in [path for path in known.failures if path not in found.files]:
                await self._intake.forget_failure(source, path)
        known.state = "ready" if found.files or self._table.paths(source.id) else "empty"
        self._pulse.beat()

    async def _remove_gone(self, source: Source, disk: str, found: Scan, turn: int) -> None:
        """Remove the notes that the scan did not find. Of those that were read meanwhile the scan
        proves nothing, nor do they prove that they are still there: look again."""
        covered = _covered(disk)
        live = self._table.paths(source.id)
        absent = [path for path in live if path not in found.files and covered(path)]
        late = {p for p in absent if self._table.touched_after((source.id, p), turn)}
        if late:
            self.hint(source.id, disk)
        for source_id, path in list(self._intake.files):
            if source_id == source.id and path not in found.files and covered(path):
                self._intake.files.put((source_id, path))
        await self._intake.remove(source, [path for path in absent if path not in late])

    @staticmethod
    def _to_read(
        known: Known, disk: str, found: Scan, changes: Changes, anew: bool
    ) -> Sequence[str]:
        """What is to be read. A hint at one file beats its unchanged stamp."""
        if anew or path_of(disk) in found.files:
            return list(found.files)
        young = sorted(known.young.intersection(found.files))
        return list(dict.fromkeys((*changes.added, *changes.changed, *young)))


def _covered(disk: str) -> Callable[[str], bool]:
    """Whether the path of a note lies at or below a disk path."""
    if not disk:
        return lambda path: True
    below = path_of(f"{disk}/x{ENDING}")[:-1]
    exact = path_of(disk) if disk.endswith(ENDING) else None
    return lambda path: path == exact or path.startswith(below)


def _compare(source: Source, disk: str, known: Mapping[str, Stamp]) -> tuple[Scan, Changes]:
    found = scan(source, disk)
    return found, diff({path: one.stamp for path, one in found.files.items()}, known)
