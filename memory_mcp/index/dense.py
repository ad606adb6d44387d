"""Nearest neighbours: the only file that knows Qdrant.

Embedded by default: in memory, refilled from the embedding cache. Vectors have unit length, so the
dot product is the cosine and costs half of it. Points carry ids only: a payload filter would cost
ten times the search. Not safe for threads: one lane owns a store.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from memory_mcp.core.config import VectorSettings
from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import Vectors

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_UPSERT = 512  # points a call
_TIMEOUT_SECONDS = 10
_PAGE = 10_000  # ids a page
_OVERFETCH = 1.3  # of the nearest that are expected to hold enough allowed ones
_DEAR = 2  # a vector that is read costs as much as so many hits


class DenseStore:
    """The collections of one home, one for each source. Blocking; raises StorageError."""

    def __init__(self, settings: VectorSettings, home: str, identity: str, dimension: int) -> None:
        self.kind = "memory" if settings.url is None else "server"
        self._url = settings.url
        self._home = home
        self._identity = identity
        self._dimension = dimension
        self._client = _open(settings)
        self._collections: dict[str, DenseIndex] = {}

    def collection(self, source_id: str) -> DenseIndex:
        """The vectors of a source; created where there are none. On a server, vectors of another
        model for the same source are dropped."""
        known = self._collections.get(source_id)
        if known is None:
            name = self._name(source_id)
            with _explained(self._url):
                self._drop_others(source_id, name)
                _create(self._client, name, self._dimension)
            known = self._collections[source_id] = DenseIndex(
                self._client, name, self._dimension, self._url
            )
        return known

    def _name(self, source_id: str) -> str:
        return f"{self._prefix(source_id)}{_short(self._identity)}"

    def _prefix(self, source_id: str) -> str:
        place = _short("\0".join((self._home, source_id)))
        return f"memory-mcp-{place}-"

    def _drop_others(self, source_id: str, name: str) -> None:
        if self._url is None:
            return
        prefix = self._prefix(source_id)
        for other in self._client.get_collections().collections:
            if other.name.startswith(prefix) and other.name != name:
                self._client.delete_collection(other.name)

    def close(self) -> None:
        """Let go of the client; in memory the vectors are gone then."""
        self._collections.clear()
        self._client.close()


class DenseIndex:
    """The vectors of one source (a `VectorIndex`). Blocking; raises StorageError."""

    def __init__(self, client: QdrantClient, name: str, dimension: int, url: str | None) -> None:
        self._client = client
        self._name = name
        self._dimension = dimension
        self._url = url

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add or replace unit vectors, shape (len(ids), dimension)."""
        from qdrant_client import models

        with _explained(self._url):
            for start in range(0, len(ids), _UPSERT):
                batch = models.Batch(
                    ids=list(ids[start : start + _UPSERT]),
                    vectors=vectors[start : start + _UPSERT].tolist(),
                )
                self._client.upsert(self._name, batch, wait=True)

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        from qdrant_client import models

        if ids:
            with _explained(self._url):
                self._client.delete(self._name, models.PointIdsList(points=list(ids)), wait=True)

    def nearest(
        self, vector: Vectors, limit: int, allowed: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the nearest, of `allowed` or of all, best first."""
        if allowed is None or limit < 1:
            return self._query(vector, limit)
        if self._url is not None:
            return self._query(vector, limit, allowed)
        return self._by_mask(vector, limit, allowed)

    def _by_mask(
        self, vector: Vectors, limit: int, allowed: Collection[int]
    ) -> list[tuple[int, float]]:
        """Local mode tests a filter point by point in Python, for ten times the search: look at
        the allowed alone where they are few, else at more of the nearest than asked for."""
        size = self.count()
        depth = limit + int(_OVERFETCH * limit * size / max(1, len(allowed)))
        kept: list[tuple[int, float]] = []
        while depth < _DEAR * len(allowed) and depth < size and len(kept) < limit:
            kept = [hit for hit in self._query(vector, depth) if hit[0] in allowed]
            depth *= 4
        if len(kept) < limit:
            found = self.cosines(vector, allowed)
            kept = sorted(found.items(), key=lambda hit: -hit[1])
        return kept[:limit]

    def _query(
        self, vector: Vectors, limit: int, allowed: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        from qdrant_client import models

        if limit < 1 or (allowed is not None and not allowed):
            return []
        only = (
            None
            if allowed is None
            else models.Filter(must=[models.HasIdCondition(has_id=list(allowed))])
        )
        with _explained(self._url):
            found = self._client.query_points(
                self._name,
                query=vector.tolist(),
                query_filter=only,
                limit=limit,
                with_payload=False,
            )
        return [(int(point.id), float(point.score)) for point in found.points]

    def cosines(self, vector: Vectors, ids: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the ids that have a vector."""
        if self._url is not None:
            return dict(self._query(vector, len(ids), ids))
        found = self.vectors(list(ids))
        if not found:
            return {}
        scores = np.stack(list(found.values())) @ vector
        return dict(zip(found, scores.tolist(), strict=True))

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of these ids, where there are any."""
        if not ids:
            return {}
        with _explained(self._url):
            found = self._client.retrieve(
                self._name, list(ids), with_payload=False, with_vectors=True
            )
        return {int(p.id): np.asarray(p.vector, np.float32) for p in found if p.vector is not None}

    def ids(self) -> Iterator[int]:
        """All ids: what a server still has from an earlier run."""
        offset = None
        while True:
            with _explained(self._url):
                points, offset = self._client.scroll(
                    self._name, limit=_PAGE, offset=offset, with_payload=False
                )
            yield from (int(point.id) for point in points)
            if offset is None:
                return

    def count(self) -> int:
        """How many vectors there are."""
        with _explained(self._url):
            return self._client.count(self._name).count

    def close(self) -> None:
        """Drop the collection where it is in memory; a server keeps it for the next start."""
        if self._url is None:
            self._client.delete_collection(self._name)


def probe(settings: VectorSettings) -> int:
    """How many collections the server at `vectors.url` has: whether it answers, and takes the
    key. Blocking, for at most ten seconds; raises StorageError."""
    client = _open(settings)
    try:
        with _explained(settings.url):
            return len(client.get_collections().collections)
    finally:
        client.close()


def _open(settings: VectorSettings) -> QdrantClient:
    from qdrant_client import QdrantClient

    # Said above 20,000 points in memory; the limits of each choice stand in our own documentation.
    warnings.filterwarnings("ignore", "Local mode is not recommended", UserWarning)
    if settings.url is None:
        return QdrantClient(":memory:")
    # The key may go over plain http to a machine of one's own: that is the user's choice.
    warnings.filterwarnings("ignore", "Api key is used with an insecure connection", UserWarning)
    with _explained(settings.url):
        return QdrantClient(
            url=settings.url,
            api_key=settings.api_key,
            timeout=_TIMEOUT_SECONDS,
            check_compatibility=False,
        )


def _create(client: QdrantClient, name: str, dimension: int) -> None:
    from qdrant_client import models

    if not client.collection_exists(name):
        params = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        client.create_collection(name, vectors_config=params)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@contextmanager
def _explained(url: str | None) -> Iterator[None]:
    """Turn what the client raises about a server into a StorageError that names it."""
    if url is None:
        yield
        return
    from qdrant_client.http.exceptions import ApiException

    try:
        yield
    except (ApiException, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise StorageError(
            f"the Qdrant server at vectors.url {url} cannot be used: {reason}. Start it, correct"
            " the address or key, or set vectors.url to null"
        ) from error
