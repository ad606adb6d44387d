"""Fusing what the words found with what the vectors found. Pure arithmetic over columns of scores,
a row for each passage."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memory_mcp.search.trace import Column

DEPTH = 100
"""How many passages of each leg are looked at; the depth the other numbers were chosen at."""

ONE_WORD = 0.2
"""Factor on the least share of vectors, and on the tokens, for a question of one word: a text that
is nothing but the word is nearest to it, one that speaks of it answers better."""


def spread(scores: Column, floor: float, least: float) -> Column:
    """Min-max: the best passage gets 1, one at `floor` gets 0; NaN stays NaN.

    `least` bounds the spread from below, so that a handful of nearly equal passages (a tiny
    collection) is not torn apart from 0 to 1.
    """
    known = scores[~np.isnan(scores)]
    best = known.max() if len(known) else 0.0
    width = max(best - floor, least)
    if width <= 0:
        return np.where(np.isnan(scores), np.nan, 1.0)
    between: Column = np.maximum(0.0, 1 - (best - scores) / width)
    return between


def last_of(scores: Column, otherwise: float, depth: int = DEPTH) -> float:
    """The score of the last passage of a full leg; `otherwise` where the leg is not full."""
    if len(scores) < depth:
        return otherwise
    return float(np.partition(scores, -depth)[-depth])


def coverage(held: npt.NDArray[np.bool_], masses: Sequence[float]) -> Column:
    """Share of the question's word mass (idf) that each passage holds: 0..1.

    `held`: which of the `masses`, shape (passages, terms). A word that no note has counts with the
    greatest idf.
    """
    total = sum(masses)
    if total <= 0:
        return np.zeros(len(held))
    shares: Column = np.minimum(1.0, held @ np.asarray(masses) / total)
    return shares


def vector_share(covered: float, least: float, trust: float) -> float:
    """How far vectors are trusted: `least` where the best passage holds all words, 1 where none.

    w = 1 - (1 - least) * coverage ** trust; a trust below 1 means that words are trusted early.
    """
    return 1 - (1 - least) * math.pow(covered, trust)
