"""The best of many scores, without sorting all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.floating[Any]]
Slots = npt.NDArray[np.int64]

_WIDER = 4  # times as many of the best at the next try


def best_of(scores: Scores, orders: Slots, found: Slots, limit: int) -> list[int]:
    """Those of the places `found` with the greatest scores, best first; equal ones by `orders`."""
    if limit < 1 or not len(found):
        return []
    if len(found) > limit:
        own = scores[found]
        found = found[own >= np.partition(own, -limit)[-limit]]
    places: list[int] = found[np.lexsort((orders[found], -scores[found]))][:limit].tolist()
    return places


def best_where(
    scores: Scores, orders: Slots, found: Slots, allows: Callable[[int], bool], limit: int
) -> list[int]:
    """The best of the places `found` that are allowed, looked for in ever more of the best: to
    look at each that is allowed would take longer than the scores."""
    depth = limit
    while limit > 0:
        depth *= _WIDER
        best = best_of(scores, orders, found, depth)
        kept = [place for place in best if allows(place)]
        if len(kept) >= limit or len(best) < depth:
            return kept[:limit]
    return []
