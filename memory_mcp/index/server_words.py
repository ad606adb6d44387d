"""The words of passages on a Qdrant server, as sparse vectors.

A collection for a home, beside those of its vectors: words need no model, and a point that is
written with one of two named vectors loses the other. A term's place in a vector is 32 bits of a
hash of it, its value what BM25 makes of its frequency; the server multiplies with the idf (its
modifier `idf`) and adds. A vector must not change when other passages do, so the mean length that
BM25 divides by is a fixed one here. Who asks takes the points for candidates, and scores them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

from memory_mcp.core.config import VectorSettings
from memory_mcp.core.note import Labels
from memory_mcp.index.payload import SOURCE, described, make_indexes, within
from memory_mcp.index.server import connect, explained, short
from memory_mcp.index.statistics import K1, B

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

MEAN_LENGTH = 60
"""Words of a passage for BM25 on the server: about the mean where passages are 200 tokens long, as
by default, without stop words (golden set 53, LoCoMo 63)."""
_UPSERT = 256  # points a call
_PAGE = 5_000  # notes a page
_WORDS, _NOTE, _KIND, _MADE = "words", "note", "kind", "made"
_PASSAGE, _MARKER = "passage", "note"


@dataclass(frozen=True, slots=True)
class SentNote:
    """A note on the server: a point for each passage, and one that says they are there."""

    source_id: str
    marker: int
    """Id of the point that stands for the note."""
    made: str
    """From what and by which rules the words were made; written after them."""
    labels: Labels
    passages: Mapping[int, Mapping[str, int]]
    """For each passage term -> how often."""


class WordCollection:
    """The collection of one home. Blocking; raises StorageError."""

    def __init__(self, settings: VectorSettings, home: Callable[[], str]) -> None:
        """`home` tells what names the home on the server. Nothing is done before `open`, not even
        the client is loaded, which takes half a second."""
        self._url = str(settings.url)
        self._settings = settings
        self._home = home

    @cached_property
    def _name(self) -> str:
        return f"memory-mcp-words-{short(self._home())}"

    @cached_property
    def _client(self) -> QdrantClient:
        return connect(self._settings)

    def open(self) -> dict[str, dict[int, str]]:
        """Make the collection where there is none. Which notes it has: for each source marker ->
        `made`."""
        from qdrant_client import models

        with explained(self._url):
            if not self._client.collection_exists(self._name):
                params = models.SparseVectorParams(modifier=models.Modifier.IDF)
                self._client.create_collection(
                    self._name, vectors_config={}, sparse_vectors_config={_WORDS: params}
                )
            make_indexes(self._client, self._name)
            kind = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
            self._client.create_payload_index(self._name, _KIND, kind)
            self._client.create_payload_index(self._name, _NOTE, models.PayloadSchemaType.INTEGER)
            return self._markers()

    def _markers(self) -> dict[str, dict[int, str]]:
        there: dict[str, dict[int, str]] = {}
        offset = None
        while True:
            points, offset = self._client.scroll(
                self._name,
                scroll_filter=_any(_KIND, [_MARKER]),
                limit=_PAGE,
                offset=offset,
                with_payload=[SOURCE, _MADE],
            )
            for point in points:
                told = point.payload or {}
                there.setdefault(told.get(SOURCE, ""), {})[int(point.id)] = told.get(_MADE, "")
            if offset is None:
                return there

    def put(self, notes: Sequence[SentNote], gone: Collection[int]) -> None:
        """Write notes, each in place of what was there, and remove those with the markers `gone`.
        The markers come last: a write that is cut off is done again, and one that is repeated
        changes nothing."""
        from qdrant_client import models

        points = [point for note in notes for point in _points(note)]
        for start in range(0, len(points), _UPSERT):
            self._apply([_upsert(points[start : start + _UPSERT])])
        old = models.Filter(
            must=[_condition(_NOTE, [*(note.marker for note in notes), *gone])],
            must_not=[models.HasIdCondition(has_id=[int(point.id) for point in points])],
        )
        last: list[models.UpdateOperation] = [
            models.DeleteOperation(delete=models.FilterSelector(filter=old))
        ]
        if gone:
            ids = models.PointIdsList(points=list(gone))
            last.append(models.DeleteOperation(delete=ids))
        if notes:
            last.append(_upsert([_marker(note) for note in notes]))
        self._apply(last)

    def _apply(self, operations: Sequence[models.UpdateOperation]) -> None:
        with explained(self._url):
            self._client.batch_update_points(self._name, operations, wait=True)

    def candidates(
        self,
        query: Sequence[Collection[str]],
        limit: int,
        scopes: Mapping[str, Collection[int] | None],
        *,
        by_id: bool = False,
    ) -> list[int]:
        """Points that hold a form of a query term, the best first: of all passages of some
        sources, or of those that a filter leaves. A filter of many points is told by its rule,
        unless `by_id`."""
        from qdrant_client import models

        places: dict[int, float] = {}
        for form in (form for forms in query for form in forms):
            place = crc32(form.encode("utf-8", "surrogatepass"))
            places[place] = places.get(place, 0.0) + 1.0
        each: list[models.Condition] = [
            within(sid, allowed, by_id=by_id) for sid, allowed in scopes.items()
        ]
        if not places or not each or limit < 1:
            return []
        with explained(self._url):
            found = self._client.query_points(
                self._name,
                query=models.SparseVector(indices=list(places), values=list(places.values())),
                using=_WORDS,
                query_filter=models.Filter(should=each),
                limit=limit,
                with_payload=False,
            )
        return [int(point.id) for point in found.points]

    def close(self) -> None:
        """Let go of the client; the server keeps the words for the next start."""
        if "_client" in self.__dict__:
            self._client.close()


def vector(counts: Mapping[str, int]) -> tuple[list[int], list[float]]:
    """The places and values of a passage's terms. Terms that share a place add up there."""
    norm = K1 * (1 - B + B * sum(counts.values()) / MEAN_LENGTH)
    values: dict[int, float] = {}
    for term, tf in counts.items():
        place = crc32(term.encode("utf-8", "surrogatepass"))
        values[place] = values.get(place, 0.0) + tf * (K1 + 1) / (tf + norm)
    return list(values), list(values.values())


def _points(note: SentNote) -> list[models.PointStruct]:
    from qdrant_client import models

    payload = {**described(note.source_id, note.labels), _KIND: _PASSAGE, _NOTE: note.marker}
    points = []
    for point, counts in note.passages.items():
        places, values = vector(counts)
        words = models.SparseVector(indices=places, values=values)
        points.append(models.PointStruct(id=point, vector={_WORDS: words}, payload=payload))
    return points


def _marker(note: SentNote) -> models.PointStruct:
    from qdrant_client import models

    payload = {SOURCE: note.source_id, _KIND: _MARKER, _MADE: note.made}
    return models.PointStruct(id=note.marker, vector={}, payload=payload)


def _upsert(points: list[models.PointStruct]) -> models.UpsertOperation:
    from qdrant_client import models

    return models.UpsertOperation(upsert=models.PointsList(points=points))


def _condition(field: str, values: list[Any]) -> models.FieldCondition:
    from qdrant_client import models

    return models.FieldCondition(key=field, match=models.MatchAny(any=values))


def _any(field: str, values: list[Any]) -> models.Filter:
    from qdrant_client import models

    return models.Filter(must=[_condition(field, values)])
