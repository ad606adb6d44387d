"""Which passages hold the words of a question: in memory, or by candidates of a server.

With words on a server a member keeps no postings. The server names candidates, and they are scored
here as always, by the words of the notes and their statistics, so that a score means the same
wherever the words are. What is not on the server yet is looked at too; while the server does not
answer, everything is.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import checkpoint

from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import Term, Words
from memory_mcp.index.chosen import labels_of
from memory_mcp.index.known import Known
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.payload import has_rule
from memory_mcp.index.queue import Pulse
from memory_mcp.index.server_words import SentNote, WordCollection
from memory_mcp.index.slices import Slices
from memory_mcp.index.table import Entry, Table

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Allowed = Mapping[str, Collection[int]]
_AT_ONCE = 4  # calls to the server
_NOTES = 64  # sent at once
_SPARE = 2
"""Times as many candidates as asked for: the server's order is not quite ours, since a form that
few notes have counts for more there. Of our best 100 on LoCoMo 98.1 % are among its first 100, all
but one in 20,000 among 200."""
_ANSWER_SECONDS = 2.0
_FEW_UNSENT = 256  # notes; with more of them all documents are read, on a thread
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 1.0, 60.0


class MemoryWords:
    """Postings in memory (a `WordSearch`)."""

    trouble: str | None = None
    idle = True

    async def best(
        self,
        words: Words,
        terms: Sequence[Term],
        limit: int,
        allowed: Allowed | None = None,
    ) -> list[tuple[int, float]]:
        """(point, BM25) of the best passages that hold a term, best first."""
        return words.passages(terms, limit, allowed)

    async def run(self) -> None:
        """Nothing to do: the table has the postings."""

    async def close(self) -> None:
        """Nothing to let go of."""


class ServerWords:
    """Candidates of a server, scored here (a `WordSearch`). Lives on the event loop."""

    def __init__(
        self,
        collection: WordCollection,
        derivation: str,
        table: Table,
        known: Mapping[str, Known],
        pulse: Pulse,
    ) -> None:
        """`derivation`: by which rules words are made. The table tells which notes change."""
        self.trouble: str | None = None
        self._collection = collection
        self._derivation = derivation
        self._table = table
        self._known = known
        self._pulse = pulse
        self._limiter = CapacityLimiter(_AT_ONCE)
        self._there: dict[str, dict[int, str]] | None = None
        self._unsearched: set[str] = set()
        """Sources on the server that may have notes there which are gone."""
        self._changed: set[NoteKey] = set()
        self._in_hand: set[NoteKey] = set()
        table.touched = self._changed

    @property
    def idle(self) -> bool:
        """Whether the server has the words of all notes."""
        return self._there is not None and not (self._changed or self._in_hand)

    async def best(
        self,
        words: Words,
        terms: Sequence[Term],
        limit: int,
        allowed: Allowed | None = None,
    ) -> list[tuple[int, float]]:
        """(point, BM25) of the best passages that hold a term, best first."""
        scopes = {
            sid: None if allowed is None else allowed.get(sid, ()) for sid in words.source_ids
        }
        if self._there is not None and len(self._changed) <= _FEW_UNSENT:
            try:
                return await self._by_server(scopes, terms, limit)
            except StorageError as error:
                self._fails(error)
        found = await to_thread.run_sync(words.passages, terms, limit, allowed)
        return [hit for hit in found if self._table.at(hit[0]) is not None]

    async def _by_server(
        self, scopes: Mapping[str, Collection[int] | None], terms: Sequence[Term], limit: int
    ) -> list[tuple[int, float]]:
        unsent = set(self._unsent(scopes))
        forms = [term.forms for term in terms]
        ask = partial(self._collection.candidates, forms, _SPARE * limit, scopes)
        found = await self._ask(ask)
        kept = self._live(found, scopes)
        if len(kept) < limit <= len(found) and any(map(has_rule, scopes.values())):
            kept = self._live(await self._ask(partial(ask, by_id=True)), scopes)
        by_source: dict[str, list[int]] = {}
        for point in dict.fromkeys((*kept, *self._live(unsent, scopes))):
            by_source.setdefault(self._table.source_of(point), []).append(point)
        points = [point for own in by_source.values() for point in own]
        parts, _ = self._table.words(scopes).of_passages(terms, by_source)
        scores = parts.sum(axis=1).tolist()
        held = sorted((-score, n) for score, n in zip(scores, points, strict=True) if score > 0)
        return [(point, -score) for score, point in held[:limit]]

    async def _ask(self, work: Callable[[], list[int]]) -> list[int]:
        """An answer that does not come soon is none: the words here take less time."""
        with anyio.move_on_after(_ANSWER_SECONDS):
            return await to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)
        raise StorageError(
            f"the Qdrant server at vectors.url did not answer within {_ANSWER_SECONDS:g} s"
        )

    def _live(
        self, points: Iterable[int], scopes: Mapping[str, Collection[int] | None]
    ) -> list[int]:
        """Those of the points that are live in these sources, and that the filter leaves."""
        kept = []
        for point in points:
            source_id = self._table.source_of(point)
            if source_id in scopes:
                allowed = scopes[source_id]
                if allowed is None or point in allowed:
                    kept.append(point)
        return kept

    def _unsent(self, source_ids: Collection[str]) -> Iterable[int]:
        """Points of notes whose words may not be on the server as they are now."""
        for key in (*self._changed, *self._in_hand):
            if key[0] in source_ids and (entry := self._table.entry(*key)) is not None:
                yield from entry.points

    def _fails(self, error: StorageError) -> None:
        """What is on the server is to be learnt anew, once it answers."""
        if self.trouble is None:
            log.warning("words are looked for without the server: %s", error)
        self._there, self.trouble = None, str(error)
        self._pulse.beat()

    async def _do(self, work: Callable[[], Result]) -> Result:
        return await to_thread.run_sync(work, limiter=self._limiter)

    async def run(self) -> None:
        """Send the words of notes that change, until cancelled."""
        wait = _FIRST_WAIT_SECONDS
        while True:
            try:
                opened = self._there is None and await self._open()
                worked = await self._send() or opened
                wait = _FIRST_WAIT_SECONDS
            except StorageError as error:
                self._fails(error)
                await anyio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
                continue
            if worked:
                self._pulse.beat()
                await checkpoint()
            elif self._there is not None:
                await self._pulse.wait()

    async def _open(self) -> bool:
        there = await self._do(self._collection.open)
        slices = Slices()
        for entry in self._table.entries():
            if there.get(entry.source.id, {}).get(_marker(entry.key)) != self._made(entry):
                self._changed.add(entry.key)
            elif self._table.entry(*entry.key) is entry:
                self._changed.discard(entry.key)
            await slices.pause()
        self._there, self._unsearched = there, set(there)
        self.trouble = None
        return True

    def _made(self, entry: Entry) -> str:
        text = f"{self._derivation}\0{entry.digest}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    async def _send(self) -> bool:
        """Some of what changed. False where nothing waits."""
        there = self._there
        if there is None:
            return False
        gone = self._strays(there)
        self._in_hand = set(islice(self._changed, _NOTES))
        self._changed -= self._in_hand
        back = self._in_hand
        try:
            notes = []
            for key in self._in_hand:
                entry, known = self._table.entry(*key), there.get(key[0], {}).get(_marker(key))
                if entry is None:
                    gone += [(key[0], _marker(key))] if known is not None else []
                elif known != self._made(entry):
                    notes.append(self._note(entry))
            worked = bool(self._in_hand or gone)
            if notes or gone:
                markers = [marker for _, marker in gone]
                await self._do(partial(self._collection.put, notes, markers))
            for note in notes:
                there.setdefault(note.source_id, {})[note.marker] = note.made
            for source_id, marker in gone:
                there[source_id].pop(marker, None)
            back = set()
        finally:
            self._changed |= back
            self._in_hand = set()
        return worked

    def _strays(self, there: Mapping[str, Collection[int]]) -> list[tuple[str, int]]:
        """(source id, marker) of notes that are gone since the last run, once all of a source are
        known."""
        strays = []
        for source_id in tuple(self._unsearched):
            known = self._known.get(source_id)
            if known is not None and known.state != "scanning":
                self._unsearched.discard(source_id)
                live = {_marker(entry.key) for entry in self._table.entries([source_id])}
                strays += [(source_id, one) for one in there[source_id] if one not in live]
        return strays

    def _note(self, entry: Entry) -> SentNote:
        words = self._table.words([entry.source.id])
        return SentNote(
            source_id=entry.source.id,
            marker=_marker(entry.key),
            made=self._made(entry),
            labels=labels_of(entry.card),
            passages={point: words.frequencies(point) for point in entry.points},
        )

    async def close(self) -> None:
        """Let go of the server."""
        await self._do(self._collection.close)


def _marker(key: NoteKey) -> int:
    """The id of the point that stands for a note: 63 bits of a hash, as those of passages are."""
    text = "\0".join((*key, "note"))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]) >> 1
