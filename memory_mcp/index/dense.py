"""Nearest neighbours in this process: Qdrant's embedded client, the default.

In memory, refilled from the embedding cache. Vectors have unit length, so the dot product is the
cosine and costs half of it. Points carry ids only: local mode tests a filter point by point in
Python, for ten times the search. Not safe for threads: one lane owns a store.

The client is asked to keep vectors, not to search them: it makes a checked object of each hit, so
that the hundred nearest take three times as long as the product, and a filter that is applied to
more of the nearest as much again. Its columns (`LocalCollection.vectors`, `ids`, `deleted`, the
same from 1.15 to 1.20) are read where they are. Nor does it give the place of a removed vector to
another: where the same notes are written again and again the dead would outnumber the living, in
memory and in each product. So a new id is entered there for one of the dead before it is added.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memory_mcp.core.note import Labels
from memory_mcp.core.ports import Vectors
from memory_mcp.index.best import best_of, best_where

if TYPE_CHECKING:
    from qdrant_client.local.qdrant_local import QdrantLocal

_UPSERT = 64  # points a call: its parts each hold the interpreter's lock for half a millisecond
Marks = npt.NDArray[np.bool_]
_UNNAMED = ""  # how the client calls the only vector of a point
_FEW = 5  # times the number asked for: so many allowed vectors are looked at alone


class DenseStore:
    """The collections of one home, one for each source."""

    kind = "memory"

    def __init__(self, dimension: int) -> None:
        from qdrant_client.local.qdrant_local import QdrantLocal

        # Said above 20,000 points; the limits of each choice stand in our own documentation.
        warnings.filterwarnings("ignore", "Local mode is not recommended", UserWarning)
        self._dimension = dimension
        self._client = QdrantLocal(":memory:")
        self._collections: dict[str, DenseIndex] = {}

    def collection(self, source_id: str) -> DenseIndex:
        """The vectors of a source; created where there are none."""
        known = self._collections.get(source_id)
        if known is None:
            # Not every id of a source may be the name of a collection.
            name = str(len(self._collections))
            known = self._collections[source_id] = DenseIndex(self._client, name, self._dimension)
        return known

    def close(self) -> None:
        """Let go of the client; the vectors are gone then."""
        self._collections.clear()
        self._client.close()


class DenseIndex:
    """The vectors of one source (a `VectorIndex`)."""

    def __init__(self, client: QdrantLocal, name: str, dimension: int) -> None:
        from qdrant_client import models

        self._client = client
        self._name = name
        params = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        client.create_collection(name, vectors_config=params)
        self._held = client.collections[name]
        self._gone: dict[int, int] = {}
        """The places of removed vectors, by id."""

    def add(self, ids: Sequence[int], vectors: Vectors, labels: Sequence[Labels] = ()) -> None:
        """Add or replace unit vectors, shape (len(ids), dimension)."""
        from qdrant_client import models

        for start in range(0, len(ids), _UPSERT):
            some = list(ids[start : start + _UPSERT])
            rows = vectors[start : start + _UPSERT].astype(np.float32)
            self._take_places(some)
            self._client.upsert(self._name, models.Batch(ids=[*some], vectors=rows.tolist()))

    def _take_places(self, ids: Sequence[int]) -> None:
        """Enter new ids in the places of removed ones; what is there stays removed until it is
        replaced."""
        held = self._held
        for point in ids:
            if point in held.ids:
                self._gone.pop(point, None)
            elif self._gone:
                old, slot = self._gone.popitem()
                del held.ids[old]
                held.ids[point], held.ids_inv[slot] = slot, point

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        from qdrant_client import models

        if ids:
            known, slots = self._known(ids)
            self._client.delete(self._name, models.PointIdsList(points=list(ids)))
            self._gone.update(zip(known, slots, strict=True))

    def nearest(
        self,
        vector: Vectors,
        limit: int,
        allowed: Collection[int] | None = None,
        above: float | None = None,
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the nearest, of `allowed` or of all, best first; those that are not
        better than `above` may be left out."""
        if allowed is not None and len(allowed) <= _FEW * limit:
            return nlargest(limit, self.cosines(vector, allowed).items(), key=itemgetter(1))
        scores, ids = self._rows @ vector, self._held.ids_inv
        found = np.flatnonzero(self._live)
        if above is not None:
            found = found[scores[found] > above]
        orders = np.arange(len(scores))
        if allowed is None:
            best = best_of(scores, orders, found, limit)
        else:
            best = best_where(scores, orders, found, lambda slot: ids[slot] in allowed, limit)
        return list(zip([int(ids[slot]) for slot in best], scores[best].tolist(), strict=True))

    def cosines(self, vector: Vectors, ids: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the ids that have a vector."""
        known, slots = self._known(ids)
        scores = self._rows[slots] @ vector
        return dict(zip(known, scores.tolist(), strict=True))

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of these ids, where there are any."""
        known, slots = self._known(ids)
        return dict(zip(known, self._rows[slots], strict=True))

    def ids(self) -> Iterator[int]:
        """All ids."""
        return iter([int(self._held.ids_inv[slot]) for slot in np.flatnonzero(self._live)])

    def count(self) -> int:
        """How many vectors there are."""
        return int(np.count_nonzero(self._live))

    @property
    def _rows(self) -> Vectors:
        """One vector a slot; the client keeps room for more."""
        rows = np.asarray(self._held.vectors[_UNNAMED], np.float32)
        return rows[: len(self._held.ids_inv)]

    @property
    def _live(self) -> Marks:
        """By slot: whether its vector was not removed."""
        live: Marks = np.equal(self._held.deleted, 0)
        return live

    def _known(self, ids: Collection[int]) -> tuple[list[int], list[int]]:
        """Those of the ids that have a vector, and their slots."""
        there = self._held.ids
        known = [point for point in ids if point in there]
        slots = [there[point] for point in known]
        gone = self._held.deleted[slots].tolist()
        if any(gone):
            known = [point for point, one in zip(known, gone, strict=True) if not one]
            slots = [there[point] for point in known]
        return known, slots

    def close(self) -> None:
        """Drop the collection."""
        self._client.delete_collection(self._name)
