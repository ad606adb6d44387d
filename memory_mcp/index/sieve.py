"""A filter by overfetch: more of the nearest than asked for, and of those the allowed ones."""

from __future__ import annotations

from collections.abc import Callable, Collection

Hits = list[tuple[int, float]]

_SPARE = 1.3  # times the number that should hold enough allowed ones, if those lie anywhere
_WIDER = 4  # times as many at the next try


def sieve(
    query: Callable[[int], Hits], limit: int, allowed: Collection[int], size: int, most: int
) -> Hits | None:
    """The `limit` nearest of `allowed`, by queries for at most `most` of all `size` vectors; None
    where that would take more: then the allowed ones are to be looked at one by one."""
    depth = limit + int(_SPARE * limit * size / max(1, len(allowed)))
    while depth <= most:
        hits = query(depth)
        kept = [hit for hit in hits if hit[0] in allowed]
        if len(kept) >= limit or len(hits) < depth:
            return kept[:limit]
        depth *= _WIDER
    return None
