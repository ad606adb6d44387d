"""Counted documents without postings: a forward index, for where a server finds the documents.

It knows of each document which terms it has and how often, in 6 bytes a term, and of each term how
many documents have it. That is what a score, a filter, a removal and the catalog need. To find the
best of all documents it reads all of them, which is the way out while the server is away.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import Generic

import numpy as np
import numpy.typing as npt

from memory_mcp.index.best import Floats, best_of
from memory_mcp.index.sparse import K1, B, Forms, Key
from memory_mcp.index.statistics import Statistics, lucene_idf
from memory_mcp.index.substring import holding, joined

_NUMBER, _COUNT = np.dtype(np.uint32), np.dtype(np.uint16)
_TERM_BYTES = _NUMBER.itemsize + _COUNT.itemsize
_MOST = int(np.iinfo(_COUNT).max)
_BLOCK = 4_000  # documents read at once

_Read = tuple[npt.NDArray[np.intp], npt.NDArray[np.uint32], npt.NDArray[np.uint16]]
"""Of each term in some documents: the place of its document, its number, how often it is there."""


class ForwardIndex(Generic[Key]):
    """Documents of counted terms under keys of the caller's choice (a `Documents`)."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._terms: list[str] = []
        self._df = array("I")
        self._free: list[int] = []
        self._documents: dict[Key, bytes] = {}
        self._total = 0
        self._joined: str | None = None

    @property
    def statistics(self) -> Statistics:
        """Live documents and their total length."""
        return Statistics(len(self._documents), self._total)

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, key: object) -> bool:
        return key in self._documents

    def holding(self, part: str) -> list[str]:
        """Terms that hold `part` anywhere."""
        if self._joined is None:
            self._joined = joined(self._ids)
        return holding(self._joined, part)

    def add(self, key: Key, counts: Mapping[str, int]) -> None:
        """Put a document (term -> how often) under a key, in place of what was there."""
        self.remove(key)
        numbers = np.array([self._number(term) for term in counts], _NUMBER)
        times = np.array([min(count, _MOST) for count in counts.values()], _COUNT)
        for number in numbers.tolist():
            self._df[number] += 1
        self._documents[key] = numbers.tobytes() + times.tobytes()
        self._total += int(times.sum())

    def _number(self, term: str) -> int:
        known = self._ids.get(term)
        if known is not None:
            return known
        if self._free:
            number = self._free.pop()
            self._terms[number] = term
        else:
            number = len(self._terms)
            self._terms.append(term)
            self._df.append(0)
        self._ids[term] = number
        self._joined = None
        return number

    def remove(self, key: Key) -> None:
        """Forget a document; an unknown key is ignored."""
        document = self._documents.pop(key, None)
        if document is None:
            return
        numbers, times = _parts(document)
        for number in numbers.tolist():
            self._df[number] -= 1
            if not self._df[number]:
                del self._ids[self._terms[number]]
                self._joined = None
                self._free.append(number)
        self._total -= int(times.sum())

    def frequencies(self, key: Key) -> dict[str, int]:
        """The terms of a document and how often each is in it; empty where there is none."""
        numbers, times = _parts(self._documents.get(key, b""))
        terms = [self._terms[number] for number in numbers.tolist()]
        return dict(zip(terms, times.tolist(), strict=True))

    def df(self, forms: Forms) -> int:
        """How many live documents hold any of the forms; a document that holds two of them (the
        spellings of a word with an accent) counts twice."""
        return min(len(self._documents), sum(self._df[number] for number in self._known(forms)))

    def _known(self, forms: Forms) -> list[int]:
        return [number for form in set(forms) if (number := self._ids.get(form)) is not None]

    def _read(self, keys: Sequence[Key]) -> _Read:
        each = [_parts(self._documents.get(key, b"")) for key in keys]
        owners = np.repeat(np.arange(len(keys)), [len(numbers) for numbers, _ in each])
        if not each:
            return owners, np.empty(0, _NUMBER), np.empty(0, _COUNT)
        numbers, times = zip(*each, strict=True)
        return owners, np.concatenate(numbers), np.concatenate(times)

    def parts(
        self,
        keys: Sequence[Key],
        query: Sequence[Forms],
        statistics: Statistics,
        idf: Sequence[float],
    ) -> Floats:
        """What each term adds to the BM25 of each document, shape (keys, terms); 0 where it is not
        in it, or it is not there."""
        owners, numbers, times = self._read(keys)
        lengths = np.bincount(owners, times, len(keys))
        norms = K1 * (1 - B + B / statistics.average * lengths)
        found = np.zeros((len(query), len(keys)))
        for row, forms, weight in zip(found, query, idf, strict=True):
            known = self._known(forms)
            if known:
                held = numbers == known[0] if len(known) == 1 else np.isin(numbers, known)
                tf = np.bincount(owners[held], times[held], len(keys))
                row += weight * tf * (K1 + 1) / (tf + norms)
        return found.T

    def top(
        self,
        query: Sequence[Forms],
        limit: int,
        allowed: Collection[Key] | None = None,
        statistics: Statistics | None = None,
        idf: Sequence[float] | None = None,
    ) -> list[tuple[Key, float]]:
        """The best documents that hold a query term, best first; ties in the order of adding.
        All are read, 0.4 s at 100,000: this may be called on a thread while documents change."""
        pooled = statistics or self.statistics
        weights = (
            idf if idf is not None else [lucene_idf(pooled.documents, self.df(q)) for q in query]
        )
        keys = list(self._documents)
        if allowed is not None:
            keys = [key for key in keys if key in allowed]
        if not keys:
            return []
        blocks = (keys[start : start + _BLOCK] for start in range(0, len(keys), _BLOCK))
        total = np.concatenate(
            [self.parts(some, query, pooled, weights).sum(axis=1) for some in blocks]
        )
        best = best_of(total, np.arange(len(keys)), np.flatnonzero(total), limit)
        return [(keys[place], float(total[place])) for place in best]


def _parts(document: bytes) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint16]]:
    size = len(document) // _TERM_BYTES
    numbers = np.frombuffer(document, _NUMBER, size)
    return numbers, np.frombuffer(document, _COUNT, size, size * _NUMBER.itemsize)
