"""Live passages by vector: what the store says, without what is gone."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import Vectors
from memory_mcp.index.fill import Filler
from memory_mcp.index.lane import Lane
from memory_mcp.index.table import Table

log = logging.getLogger(__name__)


class Nearness:
    """Asks the store for one index. Lives on the event loop."""

    def __init__(self, table: Table, lane: Lane, filler: Filler) -> None:
        self._table = table
        self._lane = lane
        self._filler = filler

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
        self._filler.store_answers()
        return [hit for hit in found if self._table.at(hit[0]) is not None][:limit], cosines

    async def cosine(
        self, vector: Vectors, points: Collection[int], source_ids: Collection[str]
    ) -> dict[int, float]:
        """Exact cosine of those of the points that are live in these sources and have a vector."""
        try:
            return await self._lane.cosine(self._by_source(points, source_ids), vector)
        except StorageError as error:
            self._note_trouble(error)
            return {}

    def _by_source(
        self, points: Collection[int], source_ids: Collection[str]
    ) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for point in points:
            source_id = self._table.source_of(point)
            if source_id in source_ids and point in self._lane.placed(source_id):
                found.setdefault(source_id, []).append(point)
        return found

    def _note_trouble(self, error: StorageError) -> None:
        log.warning("searched by words only: %s", error)
        self._filler.store_fails(error)
