"""Evidence: what the index knows of the passages that may answer a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from memory_mcp.core.errors import EmbeddingError
from memory_mcp.core.ports import Vectors
from memory_mcp.core.words import QueryTerm
from memory_mcp.index.sparse import K1
from memory_mcp.index.statistics import lucene_idf
from memory_mcp.index.view import IndexView
from memory_mcp.index.wordview import WordView
from memory_mcp.search.context import Context
from memory_mcp.search.filters import Filters
from memory_mcp.search.fuse import DEPTH
from memory_mcp.search.query import Lexicon, Query, after, build
from memory_mcp.search.rank import Evidence
from memory_mcp.search.scope import Scope

Key = TypeVar("Key", bound=Hashable)
NO_VECTOR = "words only: the embedding model did not answer"


@dataclass(frozen=True, slots=True)
class Found:
    """The question as it was understood, and the evidence for it."""

    query: Query
    evidence: tuple[Evidence, ...]
    reachable: float
    """The BM25 score that a passage could reach at most."""
    problem: str | None
    """Why there is no vector for the question; None where there is one."""


async def gather(
    index: IndexView,
    scope: Scope,
    text: str,
    languages: Collection[str],
    filters: Filters,
    context: Context | None = None,
    seconds: float | None = None,
) -> Found:
    """Look both ways at once: the best passages by words and by vector, each with both its scores.

    Filters count before the cut: a filtered question sees the best of what passes. With a
    `context` the cosines are the weighted means of the question's and the context's. `seconds`:
    how long to wait for each vector.
    """
    query = _read(index.words(scope.source_ids), text, languages, context)
    vector, problem = await _vector(index, query, seconds)
    if vector is not None and context is not None:
        vector = await _blended(index, vector, context, seconds)
    allowed = None if scope.whole else filters.points(index, scope)
    words = index.words(scope.source_ids)
    scores = dict(words.passages(query.terms, DEPTH, allowed))
    for point, score in words.passages(query.before, DEPTH, allowed) if query.before else ():
        scores[point] = scores.get(point, 0.0) + query.weight * score
    cosines: dict[int, float] = {}
    alike: Mapping[int, float] = {}
    if vector is not None:
        near, cosines = await index.around(scope.source_ids, vector, DEPTH, scores.keys(), allowed)
        cosines |= dict(near)
        alike = await _alike(index, query, context, scores.keys() | cosines.keys())
    view = index.words(scope.source_ids)
    return Found(
        query=query,
        evidence=tuple(_evidence(index, view, query, scores, cosines, alike)),
        reachable=(K1 + 1) * sum(map(view.idf, query.terms)),
        problem=problem,
    )


def _read(view: WordView, text: str, languages: Collection[str], context: Context | None) -> Query:
    @cache
    def idf(term: QueryTerm) -> float:
        return view.idf(term) if view.df(term) else 0.0

    lexicon = Lexicon(languages, idf, lucene_idf(view.size, 1), view.compounds)
    query = build(text, lexicon)
    if context is None:
        return query
    return after(query, context, lexicon)


async def _vector(
    index: IndexView, query: Query, seconds: float | None
) -> tuple[Vectors | None, str | None]:
    try:
        vector = await index.query_vector(query.text, seconds)
    except EmbeddingError as error:
        return None, f"words only: {error}"
    return vector, NO_VECTOR if vector is None else None


async def _blended(
    index: IndexView, vector: Vectors, context: Context, seconds: float | None
) -> Vectors:
    """The question's vector and that of what was said before, weighted. It is not made a unit
    vector again: products with it stay on the scale of cosines, as their weighted mean."""
    said = [await index.query_vector(text, seconds) for text in context.said]
    known = [one for one in said if one is not None]
    if not known:
        return vector
    before: Vectors = sum(known[1:], start=known[0])
    length = float(before @ before) ** 0.5
    mixed: Vectors = (1 - context.weight) * vector + context.weight / (length or 1.0) * before
    return mixed


async def _alike(
    index: IndexView, query: Query, context: Context | None, points: Collection[int]
) -> Mapping[int, float]:
    """How near passages come to the question word by word, and to what was said before by its
    weight."""
    alike = await index.likeness(query.text, points)
    if context is None or not alike:
        return alike
    said = [await index.likeness(text, points) for text in context.said]
    known = [one for one in said if one]
    if not known:
        return alike
    share = context.weight / len(known)
    return {
        point: (1 - context.weight) * value + share * sum(one.get(point, value) for one in known)
        for point, value in alike.items()
    }


def _evidence(
    index: IndexView,
    view: WordView,
    query: Query,
    scores: dict[int, float],
    cosines: Mapping[int, float],
    alike: Mapping[int, float],
) -> Iterator[Evidence]:
    """Of all passages that one of the legs gave; not of notes that changed meanwhile."""
    lacking = [point for point in cosines if point not in scores]
    scores |= _weighted(query, lambda terms: view.passage_scores(terms, lacking))
    found = {point: place for point in scores if (place := index.at(point)) is not None}
    notes = {entry.key: entry for entry, _ in found.values()}
    note_scores = _weighted(query, lambda terms: view.note_scores(terms, notes))
    replaced = {note: index.names.superseded_by(*note) is not None for note in notes}
    held = view.held(list(found), query.counted)
    for point, (entry, number) in found.items():
        yield Evidence(
            note=entry.key,
            card=entry.card,
            passage=entry.passages[number],
            boost=entry.source.boost,
            held=held[point],
            bm25=scores[point],
            note_bm25=note_scores[entry.key],
            cosine=cosines.get(point),
            likeness=alike.get(point),
            superseded=replaced[entry.key],
        )


def _weighted(
    query: Query, scored: Callable[[Sequence[QueryTerm]], Mapping[Key, float]]
) -> dict[Key, float]:
    """Scores for the question's words, and for those said before by their weight."""
    scores = dict(scored(query.terms))
    if query.before:
        for key, score in scored(query.before).items():
            scores[key] = scores.get(key, 0.0) + query.weight * score
    return scores
