"""How good a match is, 0..1, meaning the same for every query; never derived from the place in a
list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memory_mcp.search.family import Family
from memory_mcp.search.trace import Column

Marks = npt.NDArray[np.bool_]

MEANING, COVERED, SAID = 6.8, 2.3, 11.5
"""What meaning, the words of the passage and those of its whole note add to the log odds."""
BIAS = -6.6
"""Log odds of a passage without evidence. The four were fitted by logistic regression (Platt 1999)
on questions put to the notes that answer them and to others: LoCoMo, XQuAD in two languages, the
golden set. On LoCoMo, each conversation scored by a fit on the other four, the area under the
curve is 98.1; that of .3 coverage + .7 cosine, used before, 97.7."""
WORDS_COVERED, WORDS_SAID, WORDS_BIAS = 2.7, 13.7, -4.7
"""The same where there is no vector."""
LITERAL = 0.8
"""A passage with every word of the question is a match even where the model sees nothing in it."""
LITERAL_POWER = 4
"""Most of the words are far less than that: other passages have them by chance."""
IDENTIFIER = 0.6
"""What a passage with the question's ticket number, version or date scores at least."""


def meaning(cosine: Column, family: Family) -> Column:
    """Cosines on the scale of their model: 0 is noise, 1 says what the question asks."""
    above: Column = np.maximum(0.0, (cosine - family.noise) / (family.full - family.noise))
    return above


def confidence(
    covered: Column,
    said: Column,
    cosine: Column,
    family: Family,
    *,
    english: Marks,
    exact: Marks,
) -> Column:
    """How likely each passage is one that the question is about, where half of all questions are
    put to notes that do not answer them.

    `covered`: share of the question's words that the passage holds; `said`: BM25 of its whole
    note, as share of what it can reach (a note that says them often is about them); `cosine`: NaN
    where there is none; `english`: whether it is in English; `exact`: whether it holds an
    identifier of the question.
    """
    by_words = WORDS_COVERED * covered + WORDS_SAID * said + WORDS_BIAS
    by_meaning = MEANING * meaning(cosine, family) + COVERED * covered + SAID * said + BIAS
    by_meaning += np.where(english, 0.0, family.allowance)
    odds = np.where(np.isnan(cosine), by_words, by_meaning)
    literal = np.maximum(LITERAL * covered**LITERAL_POWER, np.where(exact, IDENTIFIER, 0.0))
    likely: Column = np.maximum(literal, 1 / (1 + np.exp(-odds)))
    return likely


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
