"""Words of several sources as one collection: statistics are pooled, so scores compare."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
        allowed: Collection[int] | None = None,
        also: Collection[int] = (),
    ) -> list[tuple[int, float]]:
        """(point, BM25) of the best passages that hold a term, best first, and of those of `also`
        that do."""
        parts = {source: words.passages for source, words in self._sources.items()}
        ranked = _rank(parts, [term.forms for term in terms], limit, allowed, also=also)
        kept = [(point, score) for _, point, score in ranked]
        return kept[:limit] + [one for one in kept[limit:] if one[0] in also]

    def notes(
        self, terms: Sequence[Term], limit: int, allowed: Collection[NoteKey] | None = None
    ) -> list[tuple[NoteKey, float]]:
        """((source id, path), BM25) of the best whole notes that hold a term, best first."""
        parts = {source: words.notes for source, words in self._sources.items()}
        query = [term.forms for term in terms]
        if allowed is None:
            ranked = _rank(parts, query, limit, None)
        else:
            ranked = _rank(parts, query, limit, None, by_source=_paths_by_source(allowed))
        return [((source, path), score) for source, path, score in ranked[:limit]]

    def frequencies(self, point: int) -> Mapping[str, int]:
        """The terms of a passage and how often each is in it; empty where there is none."""
        for words in self._sources.values():
            if point in words.passages:
                return words.passages.frequencies(point)
        return {}

    def held(self, points: Collection[int], terms: Sequence[Term]) -> dict[int, frozenset[int]]:
        """For each passage the places in `terms` of those that it holds."""
        result = dict.fromkeys(points, frozenset[int]())
        for words in self._sources.values():
            index = words.passages
            wanted: dict[int, tuple[int, ...]] = {}
            for place, term in enumerate(terms):
                for number in index.numbers(term.forms):
                    wanted[number] = (*wanted.get(number, ()), place)
            for point in points:
                if point in index:
                    result[point] = index.held(point, wanted)
        return result

    def note_frequencies(self, source_id: str, path: str) -> Mapping[str, int]:
        """The terms of a whole note; empty where there is none."""
        words = self._sources.get(source_id)
        return words.notes.frequencies(path) if words else {}


def _paths_by_source(keys: Collection[NoteKey]) -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for source, path in keys:
        result.setdefault(source, set()).add(path)
    return result


def _pooled(parts: Collection[WordIndex[Key]]) -> Statistics:
    each = [part.statistics for part in parts]
    return Statistics(sum(s.documents for s in each), sum(s.length for s in each))


def _idf(parts: Collection[WordIndex[Key]], forms: Collection[str]) -> float:
    return lucene_idf(_pooled(parts).documents, sum(part.df(forms) for part in parts))


def _rank(
    parts: Mapping[str, WordIndex[Key]],
    query: Sequence[Collection[str]],
    limit: int,
    allowed: Collection[Key] | None,
    by_source: Mapping[str, Collection[Key]] | None = None,
    also: Collection[Key] = (),
) -> list[tuple[str, Key, float]]:
    statistics = _pooled(list(parts.values()))
    weights = [_idf(list(parts.values()), forms) for forms in query]
    found = [
        (source, key, score)
        for source, part in parts.items()
        for key, score in part.top(
            query,
            limit,
            by_source.get(source, ()) if by_source is not None else allowed,
            statistics,
            weights,
            also,
        )
    ]
    return sorted(found, key=lambda hit: -hit[2])
