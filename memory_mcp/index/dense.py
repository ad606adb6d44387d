"""Nearest neighbours in this process: Qdrant's embedded client, the default.

In memory, refilled from the embedding cache. Vectors have unit length, so the dot product is the
cosine and costs half of it. Points carry ids only: local mode tests a filter point by point in
Python, for ten times the search. Not safe for threads: one lane owns a store.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from memory_mcp.core.ports import Vectors
from memory_mcp.index.sieve import sieve

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_UPSERT = 64  # points a call: its parts each hold the interpreter's lock for half a millisecond
_CHEAP = 10  # a hit of the client costs as much as so many cosines


class DenseStore:
    """The collections of one home, one for each source."""

    kind = "memory"

    def __init__(self, dimension: int) -> None:
        from qdrant_client import QdrantClient

        # Said above 20,000 points; the limits of each choice stand in our own documentation.
        warnings.filterwarnings("ignore", "Local mode is not recommended", UserWarning)
        self._dimension = dimension
        self._client = QdrantClient(":memory:")
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
    """The vectors of one source (a `VectorIndex`).

    The client gives a vector back as a list of numbers, each checked: 50 us for each vector. The
    rows are therefore kept beside it (1.5 KB a passage) for the exact cosine of given ids.
    """

    def __init__(self, client: QdrantClient, name: str, dimension: int) -> None:
        from qdrant_client import models

        self._client = client
        self._name = name
        self._rows: dict[int, Vectors] = {}
        params = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        client.create_collection(name, vectors_config=params)

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add or replace unit vectors, shape (len(ids), dimension)."""
        from qdrant_client import models

        for start in range(0, len(ids), _UPSERT):
            some = list(ids[start : start + _UPSERT])
            rows = vectors[start : start + _UPSERT].astype(np.float32)
            self._client.upsert(self._name, models.Batch(ids=[*some], vectors=rows.tolist()))
            self._rows.update(zip(some, rows, strict=True))

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        from qdrant_client import models

        if ids:
            self._client.delete(self._name, models.PointIdsList(points=list(ids)))
            for point in ids:
                self._rows.pop(point, None)

    def nearest(
        self,
        vector: Vectors,
        limit: int,
        allowed: Collection[int] | None = None,
        above: float | None = None,
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the nearest, of `allowed` or of all, best first; those that are not
        better than `above` may be left out.

        Where few are allowed they are looked at alone, else more of the nearest than asked for.
        """
        if allowed is None or limit < 1:
            return self._query(vector, above, limit)
        ask = partial(self._query, vector, above)
        kept = sieve(ask, limit, allowed, self.count(), len(allowed) // _CHEAP)
        if kept is None:
            found = self.cosines(vector, allowed).items()
            kept = nlargest(limit, found, key=itemgetter(1))
        return kept

    def _query(self, vector: Vectors, above: float | None, limit: int) -> list[tuple[int, float]]:
        from qdrant_client import models

        if limit < 1:
            return []
        # Not checked, so that it stays an array: numbers of a list are twice as wide, and the
        # client would widen all its vectors for each question, for ten times the product's time.
        query = models.NearestQuery.model_construct(nearest=vector.astype(np.float32), mmr=None)
        found = self._client.query_points(
            self._name, query=query, limit=limit, score_threshold=above, with_payload=False
        )
        return [(int(point.id), float(point.score)) for point in found.points]

    def cosines(self, vector: Vectors, ids: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the ids that have a vector."""
        known = [point for point in ids if point in self._rows]
        if not known:
            return {}
        scores = np.stack([self._rows[point] for point in known]) @ vector
        return dict(zip(known, scores.tolist(), strict=True))

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of these ids, where there are any."""
        return {point: self._rows[point] for point in ids if point in self._rows}

    def ids(self) -> Iterator[int]:
        """All ids."""
        return iter(tuple(self._rows))

    def count(self) -> int:
        """How many vectors there are."""
        return len(self._rows)

    def close(self) -> None:
        """Drop the collection."""
        self._rows.clear()
        self._client.delete_collection(self._name)
