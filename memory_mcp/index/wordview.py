"""Words of several sources as one collection: statistics are pooled, so scores compare."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic

import numpy as np

from memory_mcp.core.ports import Term
from memory_mcp.index.best import Floats
from memory_mcp.index.documents import Documents
from memory_mcp.index.forward import ForwardIndex
from memory_mcp.index.sequence import Marks
from memory_mcp.index.sparse import Key, WordIndex
from memory_mcp.index.statistics import Statistics, lucene_idf

NoteKey = tuple[str, str]
"""(source id, path)"""


@dataclass(frozen=True, slots=True)
class SourceWords:
    """The words of one source: by passage (keys are points) and by whole note (keys are paths)."""

    passages: Documents[int] = field(default_factory=WordIndex)
    notes: Documents[str] = field(default_factory=WordIndex)


def without_postings() -> SourceWords:
    """The words of a source whose best passages a server finds."""
    return SourceWords(ForwardIndex(), ForwardIndex())


class Pool(Generic[Key]):
    """Word indexes of several sources whose statistics count together. What they say is remembered
    from the first time that it is asked for."""

    def __init__(self, parts: Mapping[str, Documents[Key]]) -> None:
        """`parts`: by source."""
        self.parts = parts
        self._df: dict[Collection[str], int] = {}

    @cached_property
    def statistics(self) -> Statistics:
        """Live documents and their total length, of all parts."""
        each = [part.statistics for part in self.parts.values()]
        return Statistics(sum(s.documents for s in each), sum(s.length for s in each))

    def df(self, term: Term) -> int:
        """How many documents hold a term."""
        known = self._df.get(term.forms)
        if known is None:
            known = sum(part.df(term.forms) for part in self.parts.values())
            self._df[term.forms] = known
        return known

    def idf(self, term: Term) -> float:
        """Weight of a term; one that is nowhere has the greatest."""
        return lucene_idf(self.statistics.documents, self.df(term))

    def top(
        self,
        terms: Sequence[Term],
        limit: int,
        allowed: Mapping[str, Collection[Key]] | None = None,
    ) -> list[tuple[str, Key, float]]:
        """(source, key, BM25) of the best documents that hold a term, of those `allowed` by source
        or of all, best first."""
        found = [
            (source, key, score)
            for source, part in self.parts.items()
            for key, score in part.top(
                [term.forms for term in terms],
                limit,
                None if allowed is None else allowed.get(source, ()),
                self.statistics,
                [self.idf(term) for term in terms],
            )
        ]
        return sorted(found, key=lambda hit: -hit[2])[:limit]

    def by_term(self, terms: Sequence[Term], keys: Mapping[str, Sequence[Key]]) -> Floats:
        """What each term adds to the BM25 of documents, given by source: shape (keys, terms); 0
        where it is not in it, or it is not there."""
        query, idf = self._asked(terms)
        found = [self._part(s).parts(own, query, self.statistics, idf) for s, own in keys.items()]
        return np.concatenate([np.empty((0, len(terms))), *found])

    def read(
        self, terms: Sequence[Term], keys: Mapping[str, Sequence[Key]], chain: Sequence[int]
    ) -> tuple[Floats, Marks]:
        """The same, and whether the terms in the places of `chain` follow each other: shape
        (keys, places - 1)."""
        query, idf = self._asked(terms)
        found = [
            self._part(s).read(own, query, self.statistics, idf, chain) for s, own in keys.items()
        ]
        scores = np.concatenate([np.empty((0, len(terms))), *[one for one, _ in found]])
        none = np.empty((0, max(0, len(chain) - 1)), np.bool_)
        return scores, np.concatenate([none, *[marks for _, marks in found]])

    def _asked(self, terms: Sequence[Term]) -> tuple[list[Collection[str]], list[float]]:
        return [term.forms for term in terms], [self.idf(term) for term in terms]

    def _part(self, source: str) -> Documents[Key]:
        return self.parts.get(source) or ForwardIndex()


class WordView:
    """What the sources that a caller can see hold in words; short and synchronous. It is made for
    one question: what it was asked once it remembers."""

    def __init__(self, sources: Mapping[str, SourceWords]) -> None:
        self._passages = Pool({source: words.passages for source, words in sources.items()})
        self._notes = Pool({source: words.notes for source, words in sources.items()})

    @property
    def source_ids(self) -> Collection[str]:
        """The sources whose words these are."""
        return self._passages.parts.keys()

    @property
    def size(self) -> int:
        """How many passages there are."""
        return self._passages.statistics.documents

    def idf(self, term: Term) -> float:
        """Weight of a term among the passages; a term that is nowhere has the greatest."""
        return self._passages.idf(term)

    def df(self, term: Term) -> int:
        """How many passages hold the term."""
        return self._passages.df(term)

    def compounds(self, part: str) -> list[str]:
        """Terms of live passages that hold `part`, wherever in the word, shortest first."""
        found = {
            term
            for passages in self._passages.parts.values()
            for term in passages.holding(part)
            if passages.df((term,))
        }
        return sorted(found - {part}, key=lambda term: (len(term), term))

    def passages(
        self,
        terms: Sequence[Term],
        limit: int,
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> list[tuple[int, float]]:
        """(point, BM25) of the best passages that hold a term, of those `allowed` by source or of
        all, best first."""
        return [(point, score) for _, point, score in self._passages.top(terms, limit, allowed)]

    def notes(self, terms: Sequence[Term], limit: int) -> list[tuple[NoteKey, float]]:
        """((source id, path), BM25) of the best whole notes that hold a term, best first."""
        return [((source, path), score) for source, path, score in self._notes.top(terms, limit)]

    def of_passages(
        self, terms: Sequence[Term], points: Mapping[str, Sequence[int]], chain: Sequence[int] = ()
    ) -> tuple[Floats, Marks]:
        """What each term adds to the BM25 of passages, given by source: shape (points, terms); 0
        where it is not in it, or it is not there. And whether the terms in the places of `chain`
        follow each other: shape (points, places - 1)."""
        return self._passages.read(terms, points, chain)

    def of_notes(self, terms: Sequence[Term], notes: Mapping[str, Sequence[str]]) -> Floats:
        """What each term adds to the BM25 of whole notes, paths given by source."""
        return self._notes.by_term(terms, notes)

    def frequencies(self, point: int) -> Mapping[str, int]:
        """The terms of a passage and how often each is in it; empty where there is none."""
        for passages in self._passages.parts.values():
            if point in passages:
                return passages.frequencies(point)
        return {}
