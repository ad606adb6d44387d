"""Which passages a filter leaves, remembered while no note changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from memory_mcp.index.chosen import Chosen
from memory_mcp.index.view import IndexView
from memory_mcp.search.scope import Scope

_REMEMBERED = 16  # filters
Allowed = Mapping[str, Collection[int]]
"""Points by source."""


class Filters:
    """The points that the filters of one caller leave: to look through 10,000 notes takes longer
    than a search, and an agent asks with the same filter again."""

    def __init__(self) -> None:
        self._turn = -1
        self._known: dict[tuple[tuple[str, ...], str | None, str | None], Allowed] = {}

    def points(self, index: IndexView, scope: Scope) -> Allowed:
        """Points of the notes that are meant."""
        key = (scope.source_ids, scope.prefix, scope.tag)
        if index.turn != self._turn or len(self._known) >= _REMEMBERED:
            self._known.clear()
            self._turn = index.turn
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _points(index, scope)
        return known


def _points(index: IndexView, scope: Scope) -> Allowed:
    allowed: dict[str, set[int]] = {source_id: set() for source_id in scope.source_ids}
    for entry in index.entries(scope.source_ids):
        if scope.holds(entry.card):
            allowed[entry.source.id].update(entry.points)
    rules = {source.id: scope.rule(source) for source in scope.sources}
    return {
        source_id: Chosen(points, rule) if (rule := rules[source_id]) else points
        for source_id, points in allowed.items()
    }
