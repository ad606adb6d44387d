"""Fusing what the words found with what the vectors found. Pure arithmetic over point -> score."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

DEPTH = 100
"""How many passages of each leg are looked at; the depth the other numbers were chosen at."""

ONE_WORD = 0.2
"""Factor on the least share of vectors, and on the tokens, for a question of one word: a text that
is nothing but the word is nearest to it, one that speaks of it answers better."""


def spread(scores: Mapping[int, float], floor: float, least: float) -> dict[int, float]:
    """Min-max: the best passage gets 1, one at `floor` gets 0.

    `least` bounds the spread from below, so that a handful of nearly equal passages (a tiny
    collection) is not torn apart from 0 to 1.
    """
    best = max(scores.values(), default=0.0)
    width = max(best - floor, least)
    if width <= 0:
        return dict.fromkeys(scores, 1.0)
    return {point: max(0.0, 1 - (best - score) / width) for point, score in scores.items()}


def floor_of(scores: Sequence[float], depth: int = DEPTH) -> float:
    """The score of the last passage of a full leg; 0 where the leg is not full: the rest has
    nothing."""
    return scores[depth - 1] if len(scores) >= depth else 0.0


def coverage(held: Collection[int], masses: Sequence[float]) -> float:
    """Share of the question's word mass (idf) that a passage holds: 0..1.

    `held` are positions in `masses`. A word that no note has counts with the greatest idf.
    """
    total = sum(masses)
    return min(1.0, sum(masses[place] for place in held) / total) if total > 0 else 0.0


def vector_share(covered: float, least: float, trust: float) -> float:
    """How far vectors are trusted: `least` where the best passage holds all words, 1 where none.

    w = 1 - (1 - least) * coverage ** trust; a trust below 1 means that words are trusted early.
    """
    return 1 - (1 - least) * math.pow(covered, trust)
