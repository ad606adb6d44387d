"""Documents as the numbers of their terms, in order: what follows what."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = "array[int]"
"""32-bit numbers of terms, in order and with repeats, GAP between parts that are apart."""
Marks = npt.NDArray[np.bool_]

GAP = 0
"""Stands for no term."""
NONE: Numbers = array("i")


def counted(document: Numbers) -> dict[int, int]:
    """How often each term is in a document, by number."""
    counts = Counter(document)
    counts.pop(GAP, None)
    return counts


def length(document: Numbers) -> int:
    """How many words a document has."""
    return len(document) - document.count(GAP)


def following(documents: Sequence[Numbers], terms: Sequence[Collection[int]]) -> Marks:
    """Whether a form of a term is followed by one of the next term, shape (documents, terms - 1).
    All documents are looked at in one go."""
    marks = np.zeros((len(documents), max(0, len(terms) - 1)), np.bool_)
    if not marks.size:
        return marks
    joined = array("i")
    for one in documents:
        joined.extend(one)
        joined.append(GAP)
    flat = np.frombuffer(joined, np.int32)
    owners = np.repeat(np.arange(len(documents)), [len(one) + 1 for one in documents])
    held = [_is_one_of(flat, numbers) for numbers in terms]
    for column, (left, right) in zip(marks.T, pairwise(held), strict=True):
        column[owners[:-1][left[:-1] & right[1:]]] = True
    return marks


def _is_one_of(flat: npt.NDArray[np.int32], numbers: Collection[int]) -> Marks:
    marks = np.zeros(len(flat), np.bool_)
    for number in numbers:
        marks |= flat == number
    return marks
