"""Vectors follow the words: from the cache, else from the model, batch by batch.

Order for each note: embed, keep in the cache, add, remove the old, record. A crash in between
repeats work and never skips it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from anyio import to_thread

from memory_mcp.core.errors import EmbeddingError, ModelError, StorageError
from memory_mcp.core.note import Labels
from memory_mcp.core.ports import Embedder, Tokens, Vectors
from memory_mcp.index.cache import EmbeddingCache
from memory_mcp.index.chosen import labels_of
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.lane import Lane
from memory_mcp.index.model import Model
from memory_mcp.index.queue import Pulse, WorkQueue
from memory_mcp.index.records import Records
from memory_mcp.index.slices import Slices
from memory_mcp.index.table import Entry, Parsed, Table

log = logging.getLogger(__name__)

_NOTES = 256  # in hand at once
_LOOKUP = 1000  # passages looked up in the cache at once
_Missing = Sequence[tuple[Entry, int]]
"""(note, place in its passages) of passages without a vector."""


class Filler:
    """Gives the notes of its queue their vectors and their rows. Lives on the event loop."""

    def __init__(
        self,
        table: Table,
        model: Model,
        lane: Lane,
        cache: EmbeddingCache,
        records: Records,
        pulse: Pulse,
    ) -> None:
        self.queue = WorkQueue(pulse)
        self.decided = False
        """Whether it is known if there is a model and a store; rows wait for it."""
        self.trouble: str | None = None
        """Why the last step got no vectors; None where it did, or there was nothing to do."""
        self.refused: dict[NoteKey, str] = {}
        """Notes that the model does not take, each with the reason."""
        self._table = table
        self._model = model
        self._lane = lane
        self._cache = cache
        self._records = records
        self._absent: set[str] = set()
        self._redo: set[int] = set()

    @property
    def waits(self) -> bool:
        """Whether there is something to do now."""
        rest = bool(self._table.dropped) or self._records.is_lost
        return self.decided and (self.queue.waits or rest)

    @property
    def idle(self) -> bool:
        """Whether all is done, as far as it is known what there is to do."""
        return self.decided and self.queue.idle and not self._records.is_lost

    @property
    def is_removing(self) -> bool:
        """Whether vectors wait to be removed."""
        return bool(self._table.dropped)

    @property
    def passages(self) -> int:
        """How many live passages there are."""
        return self._table.size

    @property
    def reasons(self) -> Sequence[str]:
        """Why the catalog or the cache was made anew in this process, a sentence each."""
        return (*self._records.reasons, *self._cache.database.reasons)

    @property
    def _embedder(self) -> Embedder | None:
        return self._model.embedder if self._lane.is_open else None

    async def step(self) -> None:
        """One batch. Raises EmbeddingError or StorageError where vectors could not be had; the
        notes wait again then."""
        if self._records.is_lost:
            self._records.accept_loss()
            self.put_all()
        self._take_relabelled()
        taken = self.queue.take(_NOTES)
        notes = [note for key in taken if (note := self._table.entry(*key)) is not None]
        back: list[NoteKey] = list(taken)
        try:
            embedder = self._embedder
            if embedder is not None:
                await self._fill(embedder, notes)
            ready = [entry for entry in notes if embedder is None or not self._missing([entry])]
            await self._finish(ready, embedder)
            done = {entry.key for entry in ready} | (taken.keys() - {e.key for e in notes})
            back = [key for key in taken if key not in done]
        finally:
            self.queue.done(back)

    def _take_relabelled(self) -> None:
        """A server filters by labels: vectors whose note has new ones are to be added again."""
        if not self._lane.is_open:
            return
        points, self._table.relabelled = self._table.relabelled, set()
        if self._lane.kind == "server":
            self._redo.update(point for point in points if self._table.at(point) is not None)

    def _missing(self, notes: Iterable[Entry]) -> list[tuple[Entry, int]]:
        """Passages without a vector, of notes that the model takes."""
        return [
            (entry, place)
            for entry in notes
            if entry.key not in self.refused
            for place, point in enumerate(entry.points)
            if point not in self._lane.placed(entry.source.id) or point in self._redo
        ]

    async def _fill(self, embedder: Embedder, notes: Sequence[Entry]) -> None:
        missing = self._missing(notes)[:_LOOKUP]
        known = await self._look_up(embedder, missing)
        await self._add(missing, known)
        rest = [one for one in missing if _key(one) not in known]
        texts = dict.fromkeys(map(_key, rest))
        batch = set(list(texts)[: embedder.batch])
        if batch:
            await self._embed(embedder, [one for one in rest if _key(one) in batch])

    async def _look_up(self, embedder: Embedder, missing: _Missing) -> Mapping[str, Vectors]:
        keys = list({_key(one) for one in missing} - self._absent)
        if not keys:
            return {}
        load = partial(self._cache.load, embedder.identity, keys, embedder.dimension)
        try:
            found = await to_thread.run_sync(load)
        except StorageError as error:
            log.warning("the embedding cache cannot be read: %s", error)
            found = {}
        self._absent.update(key for key in keys if key not in found)
        return found

    async def _embed(self, embedder: Embedder, batch: _Missing) -> None:
        texts = {_key(one): one[0].passages[one[1]].embedded for one in batch}
        keys = list(texts)
        try:
            vectors, tokens = await self._model.passages([texts[key] for key in keys])
        except ModelError:
            raise
        except EmbeddingError:
            if self.trouble is None or len(keys) == 1:
                raise
            await self._embed_singly(embedder, batch, texts)
            return
        told = dict(zip(keys, tokens, strict=True)) if tokens is not None else {}
        await self._keep(embedder, batch, dict(zip(keys, vectors, strict=True)), told)

    async def _embed_singly(
        self, embedder: Embedder, batch: _Missing, texts: Mapping[str, str]
    ) -> None:
        """After a second failure: find out whether it is a text, or the model that is away."""
        vectors: dict[str, Vectors] = {}
        told: dict[str, Tokens] = {}
        errors: dict[str, str] = {}
        for key, text in texts.items():
            try:
                (vectors[key],), tokens = await self._model.passages([text])
                told.update({key: tokens[0]} if tokens is not None else {})
            except EmbeddingError as error:
                errors[key] = str(error)
        if not vectors:
            raise EmbeddingError(next(iter(errors.values())))
        taken = [one for one in batch if _key(one) in vectors]
        await self._keep(embedder, taken, vectors, told)
        for entry, place in batch:
            if _key((entry, place)) in errors:
                self.refused[entry.key] = errors[_key((entry, place))]

    async def _keep(
        self,
        embedder: Embedder,
        batch: _Missing,
        vectors: Mapping[str, Vectors],
        tokens: Mapping[str, Tokens],
    ) -> None:
        try:
            await to_thread.run_sync(self._cache.save, embedder.identity, vectors, tokens)
        except StorageError as error:
            log.warning("vectors are kept in memory only: %s", error)
        self._absent.difference_update(vectors)
        await self._add(batch, vectors)

    async def _add(self, passages: _Missing, vectors: Mapping[str, Vectors]) -> None:
        by_source: dict[str, dict[int, Vectors]] = {}
        labels: dict[int, Labels] = {}
        for one in passages:
            entry, place = one
            if _key(one) in vectors:
                some = by_source.setdefault(entry.source.id, {})
                some[entry.points[place]] = vectors[_key(one)]
                labels[entry.points[place]] = labels_of(entry.card)
        for source_id, some in by_source.items():
            await self._lane.add(source_id, some, labels)
            self._redo.difference_update(some)
            self._table.dropped.update((source_id, p) for p in some if self._table.at(p) is None)

    async def _finish(self, notes: Sequence[Entry], embedder: Embedder | None) -> None:
        """Remove the vectors of old texts, then record the notes that are complete."""
        await self._tidy()
        current = [entry for entry in notes if self._table.entry(*entry.key) is entry]
        if embedder is not None:
            current = [self._complete(entry) for entry in current]
        identity = embedder.identity if embedder is not None else None
        rows = [(entry, partial(self._parsed, entry)) for entry in current]
        await self._records.record(rows, identity)

    def _parsed(self, entry: Entry) -> Parsed | None:
        live = self._table.entry(*entry.key) is entry
        return self._table.parsed(entry) if live else None

    def _complete(self, entry: Entry) -> Entry:
        if entry.embedded or entry.key in self.refused:
            return entry
        return self._table.update(entry, embedded=True)

    async def _tidy(self) -> None:
        dropped, self._table.dropped = self._table.dropped, set()
        by_source: dict[str, list[int]] = {}
        for source_id, point in dropped:
            if self._table.at(point) is None and point in self._lane.placed(source_id):
                by_source.setdefault(source_id, []).append(point)
        for source_id, points in by_source.items():
            self._redo.difference_update(points)
            try:
                await self._lane.remove(source_id, points)
            except StorageError:
                self._table.dropped.update(dropped)
                raise

    def put_all(self) -> None:
        """Look at every note again: after a model came, or rows were lost."""
        self.put(entry.key for entry in self._table.entries())

    def put(self, keys: Iterable[NoteKey]) -> None:
        """Look at notes again; those that are not live are left out."""
        for key in keys:
            if self._table.entry(*key) is not None:
                self.queue.put(key)

    async def put_bare(self) -> None:
        """Look again at the notes that miss vectors: after the store lost some."""
        slices = Slices()
        for entry in self._table.entries():
            if self._missing([entry]):
                self.queue.put(entry.key)
            await slices.pause()

    def find_strays(self, source_id: str) -> None:
        """Have vectors removed that a server still has of notes that are not live."""
        strays = set(self._lane.placed(source_id)) - self._table.points
        self._table.dropped.update((source_id, point) for point in strays)

    def retry(self) -> None:
        """Try the notes again that the model did not take."""
        keys = list(self.refused)
        self.refused.clear()
        self.put(keys)

    async def embed_again(self, identity: str) -> None:
        """Forget all kept vectors of an identity and make those of the live notes anew."""
        try:
            await to_thread.run_sync(self._cache.forget, identity)
        except StorageError as error:
            log.warning("the embedding cache could not be emptied: %s", error)
        for entry in self._table.entries():
            self._redo.update(entry.points)
            self.queue.put(entry.key)


def _key(one: tuple[Entry, int]) -> str:
    return one[0].passages[one[1]].key
