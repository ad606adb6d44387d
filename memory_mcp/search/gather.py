"""Evidence: what the index knows of the passages that may answer a question."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from memory_mcp.core.errors import EmbeddingError
from memory_mcp.core.ports import Vectors
from memory_mcp.core.words import QueryTerm
from memory_mcp.index.sparse import K1
from memory_mcp.index.statistics import lucene_idf
from memory_mcp.index.view import IndexView
from memory_mcp.index.wordview import WordView
from memory_mcp.search.fuse import DEPTH
from memory_mcp.search.group import NoteKey
from memory_mcp.search.query import Context, Lexicon, Query, after, build
from memory_mcp.search.rank import Evidence
from memory_mcp.search.scope import Scope

_Allowed = Mapping[str, Collection[int]] | None
"""Points by source; None where no note is left out."""
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


@dataclass(frozen=True, slots=True)
class _Leg:
    """The words leg at one moment."""

    scores: dict[int, float]
    notes: dict[tuple[str, str], float]
    held: dict[int, frozenset[int]]


async def gather(
    index: IndexView,
    scope: Scope,
    text: str,
    languages: Collection[str],
    context: Context | None = None,
    seconds: float | None = None,
) -> Found:
    """Look both ways at once: the best passages by words and by vector, each with both its scores.

    Filters count before the cut: a filtered question sees the best of what passes. With a
    `context` the cosines are the weighted means of the question's and the context's. `seconds`:
    how long to wait for each vector.
    """
    query = _read(index.words(scope.source_ids), text, languages, context)
    allowed = None if scope.whole else _allowed(index, scope)
    vector, problem = await _vector(index, query, seconds)
    if vector is not None and context is not None:
        vector = await _blended(index, vector, context, seconds)
    cosines = await _nearest(index, scope, vector, allowed) if vector is not None else {}
    view = index.words(scope.source_ids)
    leg = _words(index, view, query, allowed, cosines)
    if vector is not None:
        missing = [point for point in leg.scores if point not in cosines]
        cosines |= await index.cosine(vector, missing)
    return Found(
        query=query,
        evidence=tuple(_evidence(index, leg, cosines)),
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


def _allowed(index: IndexView, scope: Scope) -> dict[str, set[int]]:
    """Points of the notes that are meant, by source."""
    allowed: dict[str, set[int]] = {source_id: set() for source_id in scope.source_ids}
    for entry in index.entries(scope.source_ids):
        if scope.holds(entry.card):
            allowed[entry.source.id].update(entry.points)
    return allowed


def _points(allowed: _Allowed) -> set[int] | None:
    return None if allowed is None else set().union(*allowed.values())


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


async def _nearest(
    index: IndexView, scope: Scope, vector: Vectors, allowed: _Allowed
) -> dict[int, float]:
    return dict(await index.nearest(scope.source_ids, vector, DEPTH, allowed))


def _words(
    index: IndexView,
    view: WordView,
    query: Query,
    allowed: _Allowed,
    near: Mapping[int, float],
) -> _Leg:
    scores = dict(view.passages(query.terms, DEPTH, _points(allowed), also=near.keys()))
    said = view.passages(query.before, DEPTH, _points(allowed), also=near.keys())
    for point, score in said:
        scores[point] = scores.get(point, 0.0) + query.weight * score
    points = scores.keys() | near.keys()
    found = (index.at(point) for point in points)
    notes = {(entry.source.id, entry.card.path) for entry, _ in filter(None, found)}
    return _Leg(
        scores=scores,
        notes=_notes(view, query, notes),
        held=view.held(points, query.counted),
    )


def _notes(view: WordView, query: Query, keys: set[NoteKey]) -> dict[NoteKey, float]:
    scores = dict(view.notes(query.terms, len(keys), keys))
    for key, score in view.notes(query.before, len(keys), keys):
        scores[key] = scores.get(key, 0.0) + query.weight * score
    return scores


def _evidence(index: IndexView, leg: _Leg, cosines: Mapping[int, float]) -> Iterable[Evidence]:
    for point, held in leg.held.items():
        place = index.at(point)
        if place is None:  # the note changed while we were waiting
            continue
        entry, number = place
        note = (entry.source.id, entry.card.path)
        yield Evidence(
            note=note,
            card=entry.card,
            passage=entry.passages[number],
            boost=entry.source.boost,
            held=held,
            bm25=leg.scores.get(point, 0.0),
            note_bm25=leg.notes.get(note, 0.0),
            cosine=cosines.get(point),
            superseded=index.names.superseded_by(*note) is not None,
        )
