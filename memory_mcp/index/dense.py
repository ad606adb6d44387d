"""Nearest neighbours in this process: Qdrant's embedded client, the default.

In memory, refilled from the embedding cache. Vectors have unit length, so the dot product is the
cosine and costs half of it. Points carry ids only: local mode tests a filter point by point in
Python, for ten times the search. Not safe for threads: one lane owns a store.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from memory_mcp.core.ports import Vectors
from memory_mcp.index.sieve import sieve

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_UPSERT = 512  # points a call
_PAGE = 10_000  # ids a page
_DEAR = 2  # a vector that is read costs as much as so many hits


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
    """The vectors of one source (a `VectorIndex`)."""

    def __init__(self, client: QdrantClient, name: str, dimension: int) -> None:
        from qdrant_client import models

        self._client = client
        self._name = name
        params = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        client.create_collection(name, vectors_config=params)

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add or replace unit vectors, shape (len(ids), dimension)."""
        from qdrant_client import models

        for start in range(0, len(ids), _UPSERT):
            batch = models.Batch(
                ids=list(ids[start : start + _UPSERT]),
                vectors=vectors[start : start + _UPSERT].tolist(),
            )
            self._client.upsert(self._name, batch)

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        from qdrant_client import models

        if ids:
            self._client.delete(self._name, models.PointIdsList(points=list(ids)))

    def nearest(
        self, vector: Vectors, limit: int, allowed: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the nearest, of `allowed` or of all, best first.

        Where few are allowed they are looked at alone, else more of the nearest than asked for.
        """
        if allowed is None or limit < 1:
            return self._query(vector, limit)
        ask = partial(self._query, vector)
        kept = sieve(ask, limit, allowed, self.count(), _DEAR * len(allowed))
        if kept is None:
            found = self.cosines(vector, allowed)
            kept = sorted(found.items(), key=lambda hit: -hit[1])[:limit]
        return kept

    def _query(self, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        if limit < 1:
            return []
        found = self._client.query_points(
            self._name, query=vector.tolist(), limit=limit, with_payload=False
        )
        return [(int(point.id), float(point.score)) for point in found.points]

    def cosines(self, vector: Vectors, ids: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the ids that have a vector."""
        found = self.vectors(list(ids))
        if not found:
            return {}
        scores = np.stack(list(found.values())) @ vector
        return dict(zip(found, scores.tolist(), strict=True))

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of these ids, where there are any."""
        if not ids:
            return {}
        found = self._client.retrieve(self._name, list(ids), with_payload=False, with_vectors=True)
        return {int(p.id): np.asarray(p.vector, np.float32) for p in found if p.vector is not None}

    def ids(self) -> Iterator[int]:
        """All ids."""
        offset = None
        while True:
            points, offset = self._client.scroll(
                self._name, limit=_PAGE, offset=offset, with_payload=False
            )
            yield from (int(point.id) for point in points)
            if offset is None:
                return

    def count(self) -> int:
        """How many vectors there are."""
        return self._client.count(self._name).count

    def close(self) -> None:
        """Drop the collection."""
        self._client.delete_collection(self._name)
