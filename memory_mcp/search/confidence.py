"""How good a match is, 0..1, meaning the same for every query; never derived from the place in a
list."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memory_mcp.search.family import Family

WORDS = 0.3
MEANING = 0.7
"""Shares of coverage and cosine: better at telling a right best passage from a foreign one (area
under the curve .977) than cosine (.959) or coverage (.933) alone."""
LITERAL = 0.8
"""A passage with every word of the question is a match even where the model sees nothing in it."""
LITERAL_POWER = 1.5
"""Half of the words are less than half of that: other passages have them by chance."""
IDENTIFIER = 0.6
"""What a passage with the question's ticket number, version or date scores at least."""


def meaning(cosine: float, family: Family) -> float:
    """A cosine on the scale of its model: 0 is noise, 1 says what the question asks."""
    return min(1.0, max(0.0, (cosine - family.noise) / (family.full - family.noise)))


def confidence(covered: float, cosine: float | None, family: Family, exact: bool = False) -> float:
    """Coverage and meaning mixed, or coverage alone where that says more or there is no vector.

    `exact`: the passage holds an identifier of the question.
    """
    literal = max(LITERAL * math.pow(covered, LITERAL_POWER), IDENTIFIER if exact else 0.0)
    if cosine is None:
        return literal
    return max(literal, WORDS * covered + MEANING * meaning(cosine, family))


def falling(scores: Sequence[float]) -> list[float]:
    """The nearest scores that never rise along the list (isotonic regression, least squares).

    Ranking rules (name, source, successor) may put a note before one whose text matches better;
    the two then share their mean. A list that falls already is returned as it is.
    """
    blocks: list[tuple[float, int]] = []
    for score in scores:
        total, size = score, 1
        while blocks and total / size > blocks[-1][0] / blocks[-1][1]:
            before, count = blocks.pop()
            total, size = total + before, size + count
        blocks.append((total, size))
    return [total / size for total, size in blocks for _ in range(size)]
