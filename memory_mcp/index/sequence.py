"""Documents as the numbers of their terms, in order: what is in them, and what follows what."""

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
Counts = npt.NDArray[np.int64]

GAP = 0
"""Stands for no term."""
NONE: Numbers = array("i")
_END = array("i", [GAP])


def counted(document: Numbers) -> dict[int, int]:
    """How often each term is in a document, by number."""
    counts = Counter(document)
    counts.pop(GAP, None)
    return counts


def length(document: Numbers) -> int:
    """How many words a document has."""
    return len(document) - document.count(GAP)


class Reading:
    """Some documents, read in one go: a look at all their numbers for each term that is asked
    for."""

    def __init__(self, documents: Sequence[Numbers], terms: Sequence[Collection[int]]) -> None:
        """`terms`: the numbers of the forms of each."""
        self._size = len(documents)
        joined = b"".join([part for one in documents for part in (one, _END)])
        flat = np.frombuffer(joined, np.int32)
        self._owners = np.arange(self._size).repeat([len(one) + 1 for one in documents])
        self._words = flat != GAP
        self._held = [_is_one_of(flat, numbers) for numbers in terms]

    def lengths(self) -> Counts:
        """Words of each document."""
        return self._count(self._words)

    def times(self) -> Counts:
        """How often each term is in each document, shape (documents, terms)."""
        counts = np.zeros((len(self._held), self._size), np.int64)
        for row, held in zip(counts, self._held, strict=True):
            row[:] = self._count(held)
        return counts.T

    def following(self, chain: Sequence[int]) -> Marks:
        """Whether a form of a term is followed by one of the next term, for terms in the places
        of `chain`: shape (documents, places - 1)."""
        marks = np.zeros((max(0, len(chain) - 1), self._size), np.bool_)
        for row, (left, right) in zip(marks, pairwise(chain), strict=False):
            row[self._owners[np.flatnonzero(self._held[left][:-1] & self._held[right][1:])]] = True
        return marks.T

    def _count(self, marks: Marks) -> Counts:
        return np.bincount(self._owners[np.flatnonzero(marks)], minlength=self._size)


def _is_one_of(flat: npt.NDArray[np.int32], numbers: Collection[int]) -> Marks:
    if len(numbers) == 1:
        (number,) = numbers
        marks: Marks = flat == number
        return marks
    marks = np.zeros(len(flat), np.bool_)
    for number in numbers:
        marks |= flat == number
    return marks
