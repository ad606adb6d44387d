"""Nearest neighbours on a Qdrant server, for what outgrows a machine.

One collection for a home and a model, all sources in it (see `payload`). Points are named by a
hash of what they are, so that a write which is repeated, by this engine or another, changes
nothing.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

import numpy as np

from memory_mcp.core.config import VectorSettings
from memory_mcp.core.errors import StorageError
from memory_mcp.core.note import Labels
from memory_mcp.core.ports import Vectors
from memory_mcp.core.web import shown
from memory_mcp.index.payload import described, has_rule, make_indexes, within

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_UPSERT = 512  # points a call
_TIMEOUT_SECONDS = 10
_PAGE = 10_000  # ids a page
_VECTOR = "dense"
_LAYOUT = 2  # of the payload: a collection of another layout is one of another model

WAY_OUT = "Start it, correct the address or key, or set vectors.url to null"


class ServerStore:
    """The collection of one home and model. Blocking; raises StorageError."""

    kind = "server"

    def __init__(self, settings: VectorSettings, home: str, identity: str, dimension: int) -> None:
        """Nothing is asked of the server yet."""
        self._url = str(settings.url)
        self._prefix = f"memory-mcp-{short(home)}-"
        self._name = self._prefix + short(f"{identity}/{_LAYOUT}")
        self._dimension = dimension
        self._ready = False
        with explained(self._url):
            self._client = connect(settings)

    def collection(self, source_id: str) -> ServerIndex:
        """The vectors of a source. At first the collection is made where there is none, and that
        of another model for the same home is dropped."""
        if not self._ready:
            with explained(self._url):
                self._drop_others()
                self._create()
            self._ready = True
        return ServerIndex(self._client, self._name, source_id, self._url)

    def _drop_others(self) -> None:
        for other in self._client.get_collections().collections:
            if other.name.startswith(self._prefix) and other.name != self._name:
                self._client.delete_collection(other.name)

    def _create(self) -> None:
        from qdrant_client import models

        if not self._client.collection_exists(self._name):
            params = models.VectorParams(size=self._dimension, distance=models.Distance.DOT)
            self._client.create_collection(self._name, vectors_config={_VECTOR: params})
        make_indexes(self._client, self._name)

    def close(self) -> None:
        """Let go of the client; the server keeps the vectors for the next start."""
        self._client.close()


class ServerIndex:
    """The vectors of one source (a `VectorIndex`). Blocking; raises StorageError."""

    def __init__(self, client: QdrantClient, name: str, source_id: str, url: str) -> None:
        self._client = client
        self._name = name
        self._source_id = source_id
        self._url = url

    def add(self, ids: Sequence[int], vectors: Vectors, labels: Sequence[Labels] = ()) -> None:
        """Add or replace unit vectors, shape (len(ids), dimension), each with its labels."""
        from qdrant_client import models

        payloads = [described(self._source_id, one) for one in labels or [Labels()] * len(ids)]
        for start in range(0, len(ids), _UPSERT):
            some = slice(start, start + _UPSERT)
            batch = models.Batch(
                ids=[*ids[some]],
                vectors={_VECTOR: vectors[some].tolist()},
                payloads=payloads[some],
            )
            with explained(self._url):
                self._client.upsert(self._name, batch, wait=True)

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        from qdrant_client import models

        if ids:
            with explained(self._url):
                self._client.delete(self._name, models.PointIdsList(points=list(ids)), wait=True)

    def nearest(
        self,
        vector: Vectors,
        limit: int,
        allowed: Collection[int] | None = None,
        above: float | None = None,
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the nearest, of `allowed` or of all, best first; those that are not
        better than `above` may be left out."""
        if limit < 1 or (allowed is not None and not allowed):
            return []
        found = self._query(vector, limit, allowed, above)
        if allowed is None or not has_rule(allowed):
            return found
        kept = [hit for hit in found if hit[0] in allowed]
        if len(kept) < limit and (above is None or len(found) == limit):
            return self._query(vector, limit, allowed, above, by_id=True)
        return kept

    def _query(
        self,
        vector: Vectors,
        limit: int,
        allowed: Collection[int] | None,
        above: float | None,
        *,
        by_id: bool = False,
    ) -> list[tuple[int, float]]:
        with explained(self._url):
            found = self._client.query_points(
                self._name,
                query=vector.tolist(),
                using=_VECTOR,
                query_filter=within(self._source_id, allowed, by_id=by_id),
                limit=limit,
                score_threshold=above,
                with_payload=False,
            )
        return [(int(point.id), float(point.score)) for point in found.points]

    def cosines(self, vector: Vectors, ids: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the ids that have a vector."""
        return dict(self.nearest(vector, len(ids), ids))

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of these ids, where there are any."""
        if not ids:
            return {}
        with explained(self._url):
            found = self._client.retrieve(
                self._name, list(ids), with_payload=False, with_vectors=[_VECTOR]
            )
        return {
            int(point.id): np.asarray(point.vector[_VECTOR], np.float32)
            for point in found
            if isinstance(point.vector, dict)
        }

    def ids(self) -> Iterator[int]:
        """All ids: what the server still has from an earlier run."""
        offset = None
        while True:
            with explained(self._url):
                points, offset = self._client.scroll(
                    self._name,
                    scroll_filter=within(self._source_id),
                    limit=_PAGE,
                    offset=offset,
                    with_payload=False,
                )
            yield from (int(point.id) for point in points)
            if offset is None:
                return

    def count(self) -> int:
        """How many vectors there are; none where the collection is gone."""
        from qdrant_client.http.exceptions import UnexpectedResponse

        with explained(self._url):
            try:
                return self._client.count(self._name, within(self._source_id)).count
            except UnexpectedResponse as error:
                if error.status_code != HTTPStatus.NOT_FOUND:
                    raise
                return 0

    def close(self) -> None:
        """Nothing to let go of: the server keeps the vectors for the next start."""


def probe(settings: VectorSettings) -> int:
    """How many collections the server at `vectors.url` has: whether it answers, and takes the
    key. Blocking, for at most ten seconds; raises StorageError."""
    with explained(str(settings.url)):
        client = connect(settings)
        try:
            return len(client.get_collections().collections)
        finally:
            client.close()


def connect(settings: VectorSettings) -> QdrantClient:
    """A client of the server at `vectors.url`; nothing is asked of it yet."""
    from qdrant_client import QdrantClient

    # The key may go over plain http to a machine of one's own: that is the user's choice.
    warnings.filterwarnings("ignore", "Api key is used with an insecure connection", UserWarning)
    return QdrantClient(
        url=settings.url,
        api_key=settings.api_key,
        timeout=_TIMEOUT_SECONDS,
        check_compatibility=False,
    )


def short(text: str) -> str:
    """A text as a part of a collection's name."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turn what the client raises about a server into a StorageError that names it."""
    from qdrant_client.http.exceptions import ApiException

    try:
        yield
    except (ApiException, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise StorageError(f"{blamed(url)} cannot be used: {reason}. {WAY_OUT}") from error


def blamed(url: str) -> str:
    """How an error names the server."""
    return f"the Qdrant server at vectors.url {shown(url)}"
