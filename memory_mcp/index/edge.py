"""Nearest neighbours among many passages: the only file that knows qdrant-edge.

The search engine of a Qdrant server, in this process. It looks through vectors of 4 bits a number
(its TurboQuant, which needs no optimizer and has what was just added, too) and scores the best
of them by the whole vectors: at 80,000 five times as fast as a product over all, with the same
hundred nearest, for random vectors and for real ones. (HNSW took four minutes to build and found
28 % of the random ones.) Chosen by itself (`stores`) where it is installed.

A shard is never loaded again: like the embedded store it is filled from the embedding cache at
each start, so nothing has to be flushed (0.7 s in which no other thread runs), and a kill leaves
nothing to repair.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from memory_mcp.core.errors import StorageError
from memory_mcp.core.note import Labels
from memory_mcp.core.ports import Vectors
from memory_mcp.index.sieve import sieve

if TYPE_CHECKING:
    from qdrant_edge import EdgeShard

FOLDER, LOCK = "edge", "edge.lock"
_UPSERT = 64  # points a call: it holds the interpreter's lock, for 6 ms with so many
_MANY = 1000  # ids of a filter that are handed over; more take longer than the search
_PAGE = 10_000  # ids a page
_NAME = "dense"
_RESCORED = 3.0
"""Times as many of the best by 4 bits as are asked for. With 2 it is .999 of random vectors."""


def is_installed() -> bool:
    """Whether the extra `edge` is there. It is not imported by this."""
    return importlib.util.find_spec("qdrant_edge") is not None


class EdgeStore:
    """The shards of one home, one for each source. Blocking; raises StorageError."""

    kind = "edge"

    def __init__(self, folder: Path, dimension: int) -> None:
        """`folder`: that of the index. Raises StorageError where another process has its shards:
        the library itself damages a shard that is opened twice, so that our lock comes first."""
        self._dimension = dimension
        self._shards: dict[str, EdgeIndex] = {}
        self._folder = folder / FOLDER
        self._lock = FileLock(folder / LOCK)
        with _explained("opened"):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            shutil.rmtree(self._folder, ignore_errors=True)

    def collection(self, source_id: str) -> EdgeIndex:
        """The vectors of a source; there may be none yet."""
        known = self._shards.get(source_id)
        if known is None:
            make = partial(_create, self._folder / str(len(self._shards)), self._dimension)
            known = self._shards[source_id] = EdgeIndex(make)
        return known

    def close(self) -> None:
        """Drop everything; the embedding cache has it."""
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._lock.release()


class EdgeIndex:
    """The vectors of one source (a `VectorIndex`). Blocking; raises StorageError.

    `make` is called for the first vectors: on a disk it takes 0.1 s, in which no other thread
    runs, and most homes have sources without notes."""

    def __init__(self, make: Callable[[], EdgeShard]) -> None:
        self._make = make
        self._shard: EdgeShard | None = None

    def _made(self) -> EdgeShard:
        if self._shard is None:
            with _explained("created"):
                self._shard = self._make()
        return self._shard

    def add(self, ids: Sequence[int], vectors: Vectors, labels: Sequence[Labels] = ()) -> None:
        """Add or replace unit vectors, shape (len(ids), dimension)."""
        from qdrant_edge import Point, UpdateOperation

        shard = self._made()
        for start in range(0, len(ids), _UPSERT):
            rows = vectors[start : start + _UPSERT].tolist()
            some = zip(ids[start : start + _UPSERT], rows, strict=True)
            points = [Point(point, {_NAME: row}) for point, row in some]
            with _explained("written"):
                shard.update(UpdateOperation.upsert_points(points))

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        from qdrant_edge import UpdateOperation

        if self._shard is None:
            return
        for start in range(0, len(ids), _UPSERT):
            some = ids[start : start + _UPSERT]
            with _explained("written"):
                self._shard.update(UpdateOperation.delete_points([*some]))

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
        if allowed is not None and len(allowed) > _MANY:
            ask = partial(self._query, vector, above)
            kept = sieve(ask, limit, allowed, self._about(), len(allowed))
            if kept is not None:
                return kept
        return self._query(vector, above, limit, allowed)

    def _query(
        self,
        vector: Vectors,
        above: float | None,
        limit: int,
        allowed: Collection[int] | None = None,
        exact: bool = False,
    ) -> list[tuple[int, float]]:
        """`exact`: by the whole vectors alone."""
        from qdrant_edge import (
            Filter,
            HasIdCondition,
            QuantizationSearchParams,
            Query,
            QueryRequest,
            SearchParams,
        )

        if self._shard is None:
            return []
        rescored = QuantizationSearchParams(ignore=exact, rescore=True, oversampling=_RESCORED)
        only = None if allowed is None else Filter(must=[HasIdCondition(set(allowed))])
        request = QueryRequest(
            limit=limit,
            query=Query.Nearest(vector.tolist(), using=_NAME),
            filter=only,
            params=SearchParams(quantization=rescored),
            score_threshold=above,
            with_payload=False,
            with_vector=False,
        )
        with _explained("searched"):
            return [(int(hit.id), float(hit.score)) for hit in self._shard.query(request)]

    def cosines(self, vector: Vectors, ids: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the ids that have a vector."""
        return dict(self._query(vector, None, len(ids), ids, exact=True)) if ids else {}

    def ids(self) -> Iterator[int]:
        """All ids."""
        from qdrant_edge import ScrollRequest

        offset = None
        while self._shard is not None:
            with _explained("read"):
                records, offset = self._shard.scroll(
                    ScrollRequest(
                        offset=offset, limit=_PAGE, with_payload=False, with_vector=False
                    )
                )
            yield from (int(record.id) for record in records)
            if offset is None:
                return

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of these ids, where there are any."""
        import numpy as np

        if self._shard is None:
            return {}
        with _explained("read"):
            found = self._shard.retrieve(list(ids), False, True)
        return {int(p.id): np.asarray(p.vector[_NAME], np.float32) for p in found}  # type: ignore[index, call-overload]

    def count(self) -> int:
        """How many vectors there are."""
        from qdrant_edge import CountRequest

        if self._shard is None:
            return 0
        with _explained("counted"):
            return self._shard.count(CountRequest())

    def _about(self) -> int:
        """How many, without looking at each: 6 ms at 80,000."""
        from qdrant_edge import CountRequest

        if self._shard is None:
            return 0
        with _explained("counted"):
            return self._shard.count(CountRequest(exact=False))

    def close(self) -> None:
        """Let go of the shard."""
        if self._shard is not None:
            with _explained("closed"):
                self._shard.close()


def _create(place: Path, dimension: int) -> EdgeShard:
    from qdrant_edge import (
        Distance,
        EdgeConfig,
        EdgeShard,
        EdgeVectorParams,
        Memory,
        TurboQuantBitSize,
        TurboQuantQuantizationConfig,
    )

    coarse = TurboQuantQuantizationConfig(bits=TurboQuantBitSize.Bits4, memory=Memory.Pinned)
    params = EdgeVectorParams(size=dimension, distance=Distance.Dot, quantization_config=coarse)
    place.mkdir(parents=True)
    return EdgeShard.create(str(place), EdgeConfig(vectors={_NAME: params}, wal_enabled=False))


@contextmanager
def _explained(done: str) -> Iterator[None]:
    """Turn what the library raises (a bare Exception) into a StorageError."""
    try:
        yield
    except Timeout as error:
        raise StorageError(
            "the edge vectors of this home are in use by another process; this one keeps its own"
            " in memory"
        ) from error
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise StorageError(
            f"the edge vectors could not be {done}: {reason}. Free disk space or uninstall"
            " qdrant-edge-py"
        ) from error
