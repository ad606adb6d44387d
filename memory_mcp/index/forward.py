"""Documents without postings: a forward index, for where a server finds the documents.

It knows of each document its terms in order, in 4 bytes a word, and of each term how many
documents have it. That is what a score, a filter, a removal and the catalog need. To find the
best of all documents it reads all of them, which is the way out while the server is away.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import Generic

import numpy as np

from memory_mcp.index.best import Floats, best_of
from memory_mcp.index.sequence import NONE, Marks, Numbers, Reading, counted, length
from memory_mcp.index.sparse import Forms, Key
from memory_mcp.index.statistics import Statistics, bm25, lucene_idf
from memory_mcp.index.vocabulary import Vocabulary

_BLOCK = 4_000  # documents read at once


class ForwardIndex(Generic[Key]):
    """Documents of terms under keys of the caller's choice (a `Documents`)."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._df = array("I")
        self._documents: dict[Key, Numbers] = {}
        self._total = 0

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
        return self._vocabulary.holding(part)

    def add(self, key: Key, words: Iterable[str]) -> None:
        """Put a document (its terms in order, "" where what follows is apart) under a key, in
        place of what was there."""
        self.remove(key)
        document = self._vocabulary.numbers(words)
        self._df.extend([0] * (len(self._vocabulary) - len(self._df)))
        for number in counted(document):
            self._df[number] += 1
        self._documents[key] = document
        self._total += length(document)

    def remove(self, key: Key) -> None:
        """Forget a document; an unknown key is ignored."""
        document = self._documents.pop(key, None)
        if document is None:
            return
        for number in counted(document):
            self._df[number] -= 1
            if not self._df[number]:
                self._vocabulary.forget(number)
        self._total -= length(document)

    def frequencies(self, key: Key) -> dict[str, int]:
        """The terms of a document and how often each is in it; empty where there is none."""
        term, document = self._vocabulary.term, self._documents.get(key, NONE)
        return {term(number): n for number, n in counted(document).items()}

    def words(self, key: Key) -> tuple[str, ...]:
        """The terms of a document in order, "" for a gap; none where there is no document."""
        return self._vocabulary.words(self._documents.get(key, NONE))

    def read(
        self,
        keys: Sequence[Key],
        query: Sequence[Forms],
        statistics: Statistics,
        idf: Sequence[float],
        chain: Sequence[int],
    ) -> tuple[Floats, Marks]:
        """What `parts` gives, and whether the terms in the places of `chain` follow each other in
        each document, shape (keys, places - 1)."""
        documents = [self._documents.get(key, NONE) for key in keys]
        reading = Reading(documents, list(map(self._vocabulary.known, query)))
        scores = bm25(reading.times(), reading.lengths(), statistics, idf)
        return scores, reading.following(chain)

    def df(self, forms: Forms) -> int:
        """How many live documents hold any of the forms; a document that holds two of them (the
        spellings of a word with an accent) counts twice."""
        known = self._vocabulary.known(forms)
        return min(len(self._documents), sum(self._df[number] for number in known))

    def parts(
        self,
        keys: Sequence[Key],
        query: Sequence[Forms],
        statistics: Statistics,
        idf: Sequence[float],
    ) -> Floats:
        """What each term adds to the BM25 of each document, shape (keys, terms); 0 where it is not
        in it, or it is not there."""
        return self.read(keys, query, statistics, idf, ())[0]

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
