"""Live passages by vector: what the store says, without what is gone."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from anyio import to_thread

from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import Tokens, Vectors
from memory_mcp.index.cache import EmbeddingCache
from memory_mcp.index.lane import Lane
from memory_mcp.index.model import Model
from memory_mcp.index.store_watch import StoreWatch
from memory_mcp.index.table import Table
from memory_mcp.index.tokens import likeness

log = logging.getLogger(__name__)


class Nearness:
    """Asks the store for one index. Lives on the event loop."""

    def __init__(
        self, table: Table, lane: Lane, store: StoreWatch, model: Model, cache: EmbeddingCache
    ) -> None:
        self._table = table
        self._lane = lane
        self._store = store
        self._model = model
        self._cache = cache

    async def around(
        self,
        source_ids: Collection[str],
        vector: Vectors,
        limit: int,
        points: Collection[int],
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> tuple[list[tuple[int, float]], dict[int, float]]:
        """(point, cosine) of the nearest live passages, of those `allowed` by source or of all,
        best first; and the exact cosine of those of `points` that are live in these sources and
        have a vector. One turn at the store for both.

        Empty where the store does not answer; `Index.state` says so then."""
        spare = 0 if allowed is not None else len(self._table.dropped)
        asked = self._by_source(points, source_ids)
        try:
            found, cosines = await self._lane.around(
                source_ids, vector, limit + spare, asked, allowed
            )
        except StorageError as error:
            self._note_trouble(error)
            return [], {}
        self._store.answers()
        live = self._table.points
        return [hit for hit in found if hit[0] in live][:limit], cosines

    async def cosine(
        self, vector: Vectors, points: Collection[int], source_ids: Collection[str]
    ) -> dict[int, float]:
        """Exact cosine of those of the points that are live in these sources and have a vector."""
        try:
            return await self._lane.cosine(self._by_source(points, source_ids), vector)
        except StorageError as error:
            self._note_trouble(error)
            return {}

    async def likeness(self, text: str, points: Collection[int]) -> dict[int, float]:
        """How near the tokens of those of the points that are live come to those of a question
        whose vector was asked for just before; see `tokens.likeness`. Empty where the model told
        none, or had no time to."""
        embedder, asked = self._model.embedder, self._model.tokens(text)
        if embedder is None or asked is None:
            return {}
        places = {point: at for point in points if (at := self._table.at(point)) is not None}
        keys = {point: entry.passages[number].key for point, (entry, number) in places.items()}
        try:
            return await to_thread.run_sync(self._compared, embedder.identity, asked, keys)
        except StorageError as error:
            log.warning("searched without tokens: %s", error)
            return {}

    def _compared(
        self, identity: str, question: Tokens, keys: Mapping[int, str]
    ) -> dict[int, float]:
        known = self._cache.tokens(identity, list(keys.values()))
        return likeness(question, {n: known[key] for n, key in keys.items() if key in known})

    def _by_source(
        self, points: Collection[int], source_ids: Collection[str]
    ) -> dict[str, list[int]]:
        placed = {source_id: self._lane.placed(source_id) for source_id in source_ids}
        found: dict[str, list[int]] = {}
        for point in points:
            source_id = self._table.source_of(point)
            if point in placed.get(source_id, ()):
                found.setdefault(source_id, []).append(point)
        return found

    def _note_trouble(self, error: StorageError) -> None:
        log.warning("searched by words only: %s", error)
        self._store.fails(error)
