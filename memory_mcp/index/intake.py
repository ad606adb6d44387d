"""Files that changed are read, cut and put on the table: words first, vectors follow."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from anyio import Lock, to_thread

from memory_mcp.core.config import Config
from memory_mcp.core.note import Stamp
from memory_mcp.index.frames import frames
from memory_mcp.index.known import Known
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.prepare import Failed, Gone, Outcome, Same, prepare
from memory_mcp.index.queue import Pulse, WorkQueue
from memory_mcp.index.records import Records
from memory_mcp.index.slices import Slices, first_of
from memory_mcp.index.state import IndexEvent
from memory_mcp.index.table import Entry, Parsed, Table
from memory_mcp.notes.names import ENDING
from memory_mcp.notes.scan import Scan, scan
from memory_mcp.notes.sources import Source

log = logging.getLogger(__name__)

_BATCH = 32  # files a turn on the thread, at most
_YOUNG_NS = 2_000_000_000  # stamps are this coarse on some disks


class Intake:
    """One worker reads; one lock keeps it and `refresh` apart, so that the newest text wins."""

    def __init__(
        self,
        config: Config,
        known: Mapping[str, Known],
        table: Table,
        records: Records,
        vectors: WorkQueue,
        pulse: Pulse,
    ) -> None:
        self.files = WorkQueue(pulse)
        self.doubtful: set[str] = set()
        """Sources in which a note was not found where it should be: to be swept."""
        self._config = config
        self._known = known
        self._table = table
        self._records = records
        self._vectors = vectors
        self._pulse = pulse
        self._events: list[IndexEvent] = []
        self._reading = Lock()

    def take_events(self) -> list[IndexEvent]:
        """What happened since the last call."""
        events, self._events = self._events, []
        return events

    def announce(self, source_id: str, changed: frozenset[str], *, listing: bool) -> None:
        """Say what changed in a source."""
        self._events.append(IndexEvent(changed, listing, source_id))
        self._pulse.beat()

    async def step(self) -> bool:
        """Read some of the files that wait. False where none did."""
        if not self.files.waits:
            return False
        async with self._reading:
            taken = self.files.take(_BATCH)
            outcomes: dict[NoteKey, Outcome] = {}
            try:
                outcomes = await self._prepare([(k, self._digest(k, a)) for k, a in taken.items()])
                slices = Slices()
                for key, outcome in outcomes.items():
                    await self._settle(key, outcome)
                    await slices.pause()
            finally:
                self.files.done(back=[key for key in taken if key not in outcomes])
        return True

    async def refresh(self, source: Source, path: str) -> bool:
        """Take one note over right now, whatever its stamp says. False where there is none."""
        key = (source.id, path)
        async with self._reading:
            outcome = (await self._prepare([(key, self._digest(key, anew=False))]))[key]
            await self._settle(key, outcome)
        return not isinstance(outcome, Gone)

    def _digest(self, key: NoteKey, anew: bool) -> str | None:
        entry = self._table.entry(*key)
        return None if entry is None or anew else entry.digest

    async def _prepare(
        self, wanted: Sequence[tuple[NoteKey, str | None]]
    ) -> dict[NoteKey, Outcome]:
        """At least one, and as many as fit into a slice: those become searchable first."""
        sources = {key[0]: self._known[key[0]].source for key, _ in wanted}

        def work(one: tuple[NoteKey, str | None]) -> Outcome:
            (source_id, path), digest = one
            return _prepare_safely(sources[source_id], path, digest, self._config)

        outcomes = await to_thread.run_sync(first_of, work, wanted)
        return {key: outcome for (key, _), outcome in zip(wanted, outcomes, strict=False)}

    async def _settle(self, key: NoteKey, outcome: Outcome) -> None:
        known = self._known[key[0]]
        if known.aside is not None:
            return
        if not isinstance(outcome, Failed):
            known.failures.pop(key[1], None)
        match outcome:
            case Parsed():
                self.put(known.source, outcome)
                self._note_age(known, key[1], outcome.stamp)
            case Same():
                self._restamp(key, outcome)
                self._note_age(known, key[1], outcome.stamp)
            case Gone():
                if self._table.entry(*key) is not None:
                    self.doubtful.add(key[0])
            case Failed():
                await self._fail(known, key[1], outcome.message)

    @staticmethod
    def _note_age(known: Known, path: str, stamp: Stamp) -> None:
        """What was changed just before it was read is hashed once more by the next sweep."""
        if time.time_ns() - stamp.mtime_ns < _YOUNG_NS:
            known.young.add(path)
        else:
            known.young.discard(path)

    def put(self, source: Source, parsed: Parsed, *, quiet: bool = False) -> None:
        """Make a text the current one. `quiet`: it is no news (it comes from the catalog)."""
        key = (source.id, parsed.card.path)
        old = self._table.entry(*key)
        entry = self._table.put(source, parsed)
        self._vectors.put(key, urgent=not quiet and old is not None)
        if not quiet and (old is None or old.card.tags != entry.card.tags):
            self._table.relabelled.update(entry.points)
        if not quiet:
            reference = frozenset((entry.card.reference,))
            self.announce(source.id, reference, listing=_looks_different(old, entry))

    def _restamp(self, key: NoteKey, same: Same) -> None:
        entry = self._table.entry(*key)
        if entry is not None and (entry.stamp, entry.card.modified) != (same.stamp, same.modified):
            card = replace(entry.card, modified=same.modified)
            self._table.update(entry, stamp=same.stamp, card=card)
            self._vectors.put(key)

    async def _fail(self, known: Known, path: str, message: str) -> None:
        """A note that is there and cannot be read is not served; each sweep tries it again."""
        found: Scan = await to_thread.run_sync(scan, known.source, path + ENDING)
        there = found.files.get(path)
        if there is None:
            self.doubtful.add(known.source.id)
            return
        if path not in known.failures:
            log.warning("%s/%s: %s", known.source.name, path, message)
        known.failures[path] = message
        await self.remove(known.source, [path], forget=False)
        await self._records.fail((known.source.id, path), there.stamp, message)

    async def forget_failure(self, source: Source, path: str) -> None:
        """A note that could not be read is not there any more."""
        self._known[source.id].failures.pop(path, None)
        await self._records.forget([(source.id, path)])

    async def remove(self, source: Source, paths: Sequence[str], *, forget: bool = True) -> None:
        """Take notes off the table; their rows stay where the source is set aside."""
        slices = Slices()
        gone = []
        for path in paths:
            self._vectors.drop((source.id, path))
            self._known[source.id].young.discard(path)
            entry = self._table.remove(source.id, path)
            if entry is not None:
                gone.append(entry)
            await slices.pause()
        if not gone:
            return
        references = frozenset(entry.card.reference for entry in gone)
        self.announce(source.id, references, listing=True)
        if forget and self._known[source.id].aside is None:
            await self._records.forget([entry.key for entry in gone])

    def drop_source(self, source_id: str) -> None:
        """Forget the files of a source that wait to be read."""
        for key in [key for key in self.files if key[0] == source_id]:
            self.files.drop(key)


def _prepare_safely(source: Source, path: str, known: str | None, config: Config) -> Outcome:
    try:
        return prepare(source, path, known, config)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is in the log
        # One note must never cost the others; that it is a fault of ours is in the log.
        log.error("%s/%s could not be prepared: %s", source.name, path, frames(error))
        return Failed(f"could not be read ({type(error).__name__})")


def _looks_different(old: Entry | None, new: Entry) -> bool:
    """Whether a list of notes looks different now."""
    if old is None:
        return True
    before, after = old.card, new.card
    return (before.title, before.description) != (after.title, after.description)
