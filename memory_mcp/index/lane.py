"""The one lane to the vector store: blocking calls, one at a time, on a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
from anyio import CancelScope, CapacityLimiter, to_thread
from anyio.lowlevel import checkpoint

from memory_mcp.core.errors import StorageError
from memory_mcp.core.note import Labels
from memory_mcp.core.ports import Vectors, VectorStore

Result = TypeVar("Result")
_ADDED = 128  # vectors at a time; 8 ms of the embedded store
_MOVED = 512  # vectors copied in one go
_SPARE = 16  # more than asked for: some of the nearest may have just been removed
AT_ONCE = 20_000
"""Vectors in memory up to which they are asked on the event loop while nobody has the lane: that
takes a millisecond or two, and the way to a thread and back a third of one."""


class Lane:
    """Vectors by source. `placed` says which points have one; it is right on the event loop."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._limiter = CapacityLimiter(1)
        self._store: VectorStore | None = None
        self._placed: dict[str, set[int]] = {}

    @property
    def is_open(self) -> bool:
        """Whether there is a store to ask."""
        return self._store is not None

    async def open(self, make: Callable[[], VectorStore], source_ids: Sequence[str]) -> None:
        """Open the store and learn what it has; also in place of the one that is open. Raises
        StorageError."""

        def work() -> tuple[VectorStore, dict[str, set[int]]]:
            store = make()
            try:
                return store, {sid: set(store.collection(sid).ids()) for sid in source_ids}
            except BaseException:
                store.close()
                raise

        old = self._store
        self._store, self._placed = await self._do(work)
        if old is not None:
            await self._do(old.close)

    async def is_complete(self) -> bool:
        """Whether the open store has as many vectors of each source as are known here. Raises
        StorageError."""
        store, placed = self._open_store(), list(self._placed)
        there = await self._do(lambda: {sid: store.collection(sid).count() for sid in placed})
        return all(len(self.placed(sid)) == number for sid, number in there.items())

    @property
    def kind(self) -> str | None:
        """memory | edge | server; None while there is no store."""
        return self._store.kind if self._store is not None else None

    async def move(self, make: Callable[[], VectorStore]) -> None:
        """Copy all vectors to another store, a few at a time, and use that one from then on; what
        is here answers meanwhile. Raises StorageError; all stays as it was then."""
        old = self._open_store()
        new = await self._do(make)
        there: dict[str, set[int]] = {}
        try:
            while some := self._not_in(there):
                source_id, points = some
                await self._do(partial(_copy, old, new, source_id, points))
                there.setdefault(source_id, set()).update(points)
            for source_id, points_there in there.items():
                gone = list(points_there.difference(self.placed(source_id)))
                await self._do(partial(new.collection(source_id).remove, gone))
        except BaseException:
            with CancelScope(shield=True):
                await self._do(new.close)
            raise
        if self._not_in(there):  # added while the last were removed
            raise StorageError("the vectors changed while they were moved; they stay in memory")
        self._store = new
        await self._do(old.close)

    def _not_in(self, there: Mapping[str, set[int]]) -> tuple[str, list[int]] | None:
        for source_id, placed in self._placed.items():
            missing = placed.difference(there.get(source_id, ()))
            if missing:
                return source_id, list(islice(missing, _MOVED))
        return None

    def knows(self, source_id: str) -> bool:
        """Whether the store is open and has a place for the vectors of a source."""
        return source_id in self._placed

    async def join(self, source_id: str) -> None:
        """Make a place in the open store for the vectors of one more source, and learn what it
        has of it. Raises StorageError."""
        store = self._open_store()
        found = await self._do(lambda: set(store.collection(source_id).ids()))
        if store is self._store:
            self._placed.setdefault(source_id, found)

    async def _do(self, work: Callable[[], Result]) -> Result:
        return await to_thread.run_sync(work, limiter=self._limiter)

    def _open_store(self) -> VectorStore:
        assert self._store is not None, "the lane is used only while it is open"
        return self._store

    def placed(self, source_id: str) -> Collection[int]:
        """Points of a source that have a vector."""
        return self._placed.get(source_id, frozenset())

    def count(self, source_ids: Collection[str]) -> int:
        """How many points of some sources have a vector."""
        return sum(len(self.placed(source_id)) for source_id in source_ids)

    async def add(
        self,
        source_id: str,
        vectors: Mapping[int, Vectors],
        labels: Mapping[int, Labels] | None = None,
    ) -> None:
        """Add vectors by point, with the labels of each, a few at a time: searches come in
        between. Raises StorageError."""
        waiting = iter(vectors.items())
        while some := dict(islice(waiting, _ADDED)):
            rows = np.stack(list(some.values()))
            told = [labels[point] for point in some] if labels else ()
            await self._do(partial(_add, self._open_store(), source_id, list(some), rows, told))
            self._placed[source_id].update(some)

    async def remove(self, source_id: str, points: Sequence[int]) -> None:
        """Remove vectors by point. Raises StorageError."""
        if not points:
            return
        store = self._open_store()
        self._placed[source_id].difference_update(points)
        try:
            await self._do(lambda: store.collection(source_id).remove(points))
        except StorageError:
            self._placed[source_id].update(points)
            raise

    async def nearest(
        self,
        source_ids: Collection[str],
        vector: Vectors,
        limit: int,
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> list[tuple[int, float]]:
        """(point, cosine) over some sources, best first, a few to spare; of those `allowed` by
        source, or of all. Raises StorageError."""
        found, _ = await self.around(source_ids, vector, limit, {}, allowed)
        return found

    async def around(
        self,
        source_ids: Collection[str],
        vector: Vectors,
        limit: int,
        points: Mapping[str, Sequence[int]],
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> tuple[list[tuple[int, float]], dict[int, float]]:
        """What `nearest` and `cosine` give, in one turn. Raises StorageError."""
        if self._is_quick(source_ids):
            await checkpoint()  # who asks again and again must not keep the loop
        if self._store is None:
            return [], {}
        wanted = [sid for sid in source_ids if self._placed.get(sid)]
        wanted.sort(key=lambda sid: -len(self._placed[sid]))
        ask = partial(_nearest, self._store, wanted, vector, limit + _SPARE, allowed)
        more = partial(_cosine, self._store, points, vector)
        if self._is_quick(wanted):
            return ask(), more()
        return await self._do(lambda: (ask(), more()))

    def _is_quick(self, source_ids: Collection[str]) -> bool:
        """Nobody else comes to the store before an answer on the loop is there: nothing waits."""
        free = not self._limiter.borrowed_tokens
        return free and self.kind == "memory" and self.count(source_ids) <= self._at_once

    async def cosine(
        self, points: Mapping[str, Sequence[int]], vector: Vectors
    ) -> dict[int, float]:
        """Exact cosine of points (by source id) that have vectors. Raises StorageError."""
        if self._store is None:
            return {}
        return await self._do(partial(_cosine, self._store, points, vector))

    async def close(self) -> None:
        """Close the store."""
        store, self._store = self._store, None
        self._placed = {}
        if store is not None:
            await self._do(store.close)


def _nearest(
    store: VectorStore,
    source_ids: Sequence[str],
    vector: Vectors,
    limit: int,
    allowed: Mapping[str, Collection[int]] | None,
) -> list[tuple[int, float]]:
    """What cannot be among the best of all is not asked for: each hit costs a store time."""
    found: list[tuple[int, float]] = []
    for sid in source_ids:
        own = None if allowed is None else allowed.get(sid, ())
        least = found[-1][1] if len(found) == limit else None
        found += store.collection(sid).nearest(vector, limit, own, least)
        found = sorted(found, key=lambda hit: -hit[1])[:limit]
    return found


def _cosine(
    store: VectorStore, points: Mapping[str, Sequence[int]], vector: Vectors
) -> dict[int, float]:
    result: dict[int, float] = {}
    for source_id, ids in points.items():
        result |= store.collection(source_id).cosines(vector, ids)
    return result


def _add(
    store: VectorStore,
    source_id: str,
    points: Sequence[int],
    rows: Vectors,
    labels: Sequence[Labels],
) -> None:
    store.collection(source_id).add(points, rows, labels)


def _copy(old: VectorStore, new: VectorStore, source_id: str, points: Sequence[int]) -> None:
    vectors = old.collection(source_id).vectors(points)
    if vectors:
        new.collection(source_id).add(list(vectors), np.stack(list(vectors.values())))
