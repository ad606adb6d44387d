"""The one lane to the vector store: blocking calls, one at a time, on a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from anyio import CapacityLimiter, to_thread

from memory_mcp.core.ports import Vectors
from memory_mcp.index.dense import DenseStore

Result = TypeVar("Result")
_SPARE = 16  # more than asked for: some of the nearest may have just been removed


class Lane:
    """Vectors by source. `placed` says which points have one; it is right on the event loop."""

    def __init__(self) -> None:
        self._limiter = CapacityLimiter(1)
        self._store: DenseStore | None = None
        self._placed: dict[str, set[int]] = {}

    @property
    def is_open(self) -> bool:
        """Whether there is a store to ask."""
        return self._store is not None

    async def open(self, make: Callable[[], DenseStore], source_ids: Sequence[str]) -> None:
        """Open the store and learn what it has. Raises StorageError."""

        def work() -> tuple[DenseStore, dict[str, set[int]]]:
            store = make()
            try:
                return store, {sid: set(store.collection(sid).ids()) for sid in source_ids}
            except BaseException:
                store.close()
                raise

        self._store, self._placed = await self._do(work)

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

    def _open_store(self) -> DenseStore:
        assert self._store is not None, "the lane is used only while it is open"
        return self._store

    def placed(self, source_id: str) -> Collection[int]:
        """Points of a source that have a vector."""
        return self._placed.get(source_id, frozenset())

    def count(self, source_ids: Collection[str]) -> int:
        """How many points of some sources have a vector."""
        return sum(len(self.placed(source_id)) for source_id in source_ids)

    async def add(self, source_id: str, vectors: Mapping[int, Vectors]) -> None:
        """Add vectors by point. Raises StorageError."""
        if not vectors:
            return
        store, ids = self._open_store(), list(vectors)
        rows = np.stack([vectors[point] for point in ids])
        await self._do(lambda: store.collection(source_id).add(ids, rows))
        self._placed[source_id].update(ids)

    async def remove(self, source_id: str, points: Sequence[int]) -> None:
        """Remove vectors by point. Raises StorageError."""
        if not points:
            return
        store = self._open_store()
        self._placed[source_id].difference_update(points)
        await self._do(lambda: store.collection(source_id).remove(points))

    async def nearest(
        self, source_ids: Collection[str], vector: Vectors, limit: int
    ) -> list[tuple[int, float]]:
        """(point, cosine) over some sources, best first, a few to spare. Raises StorageError."""
        if self._store is None:
            return []
        wanted = [sid for sid in source_ids if self._placed.get(sid)]
        return await self._do(partial(_nearest, self._store, wanted, vector, limit + _SPARE))

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
    store: DenseStore, source_ids: Sequence[str], vector: Vectors, limit: int
) -> list[tuple[int, float]]:
    found = [hit for sid in source_ids for hit in store.collection(sid).nearest(vector, limit)]
    return sorted(found, key=lambda hit: -hit[1])[:limit]


def _cosine(
    store: DenseStore, points: Mapping[str, Sequence[int]], vector: Vectors
) -> dict[int, float]:
    result: dict[int, float] = {}
    for source_id, ids in points.items():
        for point, other in store.collection(source_id).vectors(ids).items():
            result[point] = float(np.dot(other, vector))
    return result
