"""Words of several sources as one collection: statistics are pooled, so scores compare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from memory_mcp.index.sparse import Key, WordIndex
from memory_mcp.index.statistics import Statistics, lucene_idf

Found = TypeVar("Found")
NoteKey = tuple[str, str]
"""(source id, path)"""


class Term(Protocol):
    """A word of a question with the forms it has in documents (`core.words.QueryTerm`)."""

    @property
    def forms(self) -> Collection[str]:
        """All forms that count as this word."""
        ...


@dataclass(frozen=True, slots=True)
class SourceWords:
    """The words of one source: by passage (keys are points) and by whole note (keys are paths)."""

    passages: WordIndex[int] = field(default_factory=WordIndex)
    notes: WordIndex[str] = field(default_factory=WordIndex)


class WordView:
    """What the sources that a caller can see hold in words; short, synchronous, always current."""

    def __init__(self, sources: Mapping[str, SourceWords]) -> None:
        self._sources = sources

    @property
    def size(self) -> int:
        """How many passages there are."""
        return sum(len(words.passages) for words in self._sources.values())

    def idf(self, term: Term) -> float:
        """Weight of a term among the passages; a term that is nowhere has the greatest."""
        return _idf([words.passages for words in self._sources.values()], term.forms)

    def df(self, term: Term) -> int:
        """How many passages hold the term."""
        return sum(words.passages.df(term.forms) for words in self._sources.values())

    def compounds(self, part: str) -> list[str]:
        """Terms of live passages that hold `part`, wherever in the word, shortest first."""
        found = {
            term
            for words in self._sources.values()
            for term in words.passages.holding(part)
            if words.passages.df((term,))
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
        parts = {source: words.passages for source, words in self._sources.items()}
        ranked = _rank(parts, terms, limit, allowed)
        return [(point, score) for _, point, score in ranked[:limit]]

    def notes(self, terms: Sequence[Term], limit: int) -> list[tuple[NoteKey, float]]:
        """((source id, path), BM25) of the best whole notes that hold a term, best first."""
        parts = {source: words.notes for source, words in self._sources.items()}
        return [
            ((source, path), score) for source, path, score in _rank(parts, terms, limit, None)
        ]

    def passage_scores(self, terms: Sequence[Term], points: Sequence[int]) -> dict[int, float]:
        """BM25 of these passages; 0 for one that holds no term, or is not there."""
        parts = [words.passages for words in self._sources.values()]
        weigh, result = _weigher(parts, terms), dict.fromkeys(points, 0.0)
        for part in parts:
            own = [point for point in points if point in part]
            result.update(zip(own, weigh(part, own), strict=True))
        return result

    def note_scores(
        self, terms: Sequence[Term], notes: Collection[NoteKey]
    ) -> dict[NoteKey, float]:
        """BM25 of these whole notes; 0 for one that holds no term, or is not there."""
        weigh = _weigher([words.notes for words in self._sources.values()], terms)
        result = dict.fromkeys(notes, 0.0)
        for source, words in self._sources.items():
            own = [key for key in notes if key[0] == source]
            scores = weigh(words.notes, [path for _, path in own])
            result.update(zip(own, scores, strict=True))
        return result

    def frequencies(self, point: int) -> Mapping[str, int]:
        """The terms of a passage and how often each is in it; empty where there is none."""
        for words in self._sources.values():
            if point in words.passages:
                return words.passages.frequencies(point)
        return {}

    def held(self, points: Sequence[int], terms: Sequence[Term]) -> dict[int, frozenset[int]]:
        """For each passage the places in `terms` of those that it holds."""
        query = [term.forms for term in terms]
        found: dict[int, list[int]] = {point: [] for point in points}
        for words in self._sources.values():
            columns, places = words.passages.counts(points, query).T.nonzero()
            for column, place in zip(columns.tolist(), places.tolist(), strict=True):
                found[points[column]].append(place)
        return {point: frozenset(held) for point, held in found.items()}


def _pooled(parts: Collection[WordIndex[Key]]) -> Statistics:
    each = [part.statistics for part in parts]
    return Statistics(sum(s.documents for s in each), sum(s.length for s in each))


def _idf(parts: Collection[WordIndex[Key]], forms: Collection[str]) -> float:
    return lucene_idf(_pooled(parts).documents, sum(part.df(forms) for part in parts))


def _weigher(
    parts: Collection[WordIndex[Key]], terms: Sequence[Term]
) -> Callable[[WordIndex[Key], Sequence[Key]], list[float]]:
    """Scores documents of each of the parts by the statistics of all of them."""
    query, statistics = [term.forms for term in terms], _pooled(parts)
    weights = [_idf(parts, forms) for forms in query]
    return lambda part, keys: part.scores_of(keys, query, statistics, weights)


def _rank(
    parts: Mapping[str, WordIndex[Key]],
    terms: Sequence[Term],
    limit: int,
    allowed: Mapping[str, Collection[Key]] | None,
) -> list[tuple[str, Key, float]]:
    query, statistics = [term.forms for term in terms], _pooled(parts.values())
    weights = [_idf(parts.values(), forms) for forms in query]
    found = [
        (source, key, score)
        for source, part in parts.items()
        for key, score in part.top(
            query,
            limit,
            None if allowed is None else allowed.get(source, ()),
            statistics,
            weights,
        )
    ]
    return sorted(found, key=lambda hit: -hit[2])[:limit]
