"""Words of several sources as one collection: statistics are pooled, so scores compare."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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

    def by_term(self, terms: Sequence[Term], keys: Sequence[tuple[str, Key]]) -> Floats:
        """What each term adds to the BM25 of documents, given by source and key: shape
        (keys, terms); 0 where it is not in it, or it is not there."""
        result = np.zeros((len(keys), len(terms)))
        query, idf = [term.forms for term in terms], [self.idf(term) for term in terms]
        for part, own, named in self._apart(keys):
            result[own] = part.parts(named, query, self.statistics, idf)
        return result

    def following(self, terms: Sequence[Term], keys: Sequence[tuple[str, Key]]) -> Marks:
        """Whether each term is followed by the next one in documents, given by source and key:
        shape (keys, terms - 1)."""
        marks = np.zeros((len(keys), max(0, len(terms) - 1)), np.bool_)
        query = [term.forms for term in terms]
        for part, own, named in self._apart(keys):
            marks[own] = part.following(named, query)
        return marks

    def _apart(
        self, keys: Sequence[tuple[str, Key]]
    ) -> Iterator[tuple[Documents[Key], list[int], list[Key]]]:
        """The parts that keys belong to, with their rows and their keys there."""
        for source, part in self.parts.items():
            own = [row for row, key in enumerate(keys) if key[0] == source]
            if own:
                yield part, own, [keys[row][1] for row in own]


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

    def of_passages(self, terms: Sequence[Term], points: Sequence[tuple[str, int]]) -> Floats:
        """What each term adds to the BM25 of passages, given by source and point: shape
        (points, terms); 0 where it is not in it, or it is not there."""
        return self._passages.by_term(terms, points)

    def following(self, terms: Sequence[Term], points: Sequence[tuple[str, int]]) -> Marks:
        """Whether each term is followed by the next one in passages, given by source and point:
        shape (points, terms - 1)."""
        return self._passages.following(terms, points)

    def of_notes(self, terms: Sequence[Term], notes: Sequence[NoteKey]) -> Floats:
        """The same of whole notes."""
        return self._notes.by_term(terms, notes)

    def frequencies(self, point: int) -> Mapping[str, int]:
        """The terms of a passage and how often each is in it; empty where there is none."""
        for passages in self._passages.parts.values():
            if point in passages:
                return passages.frequencies(point)
        return {}
