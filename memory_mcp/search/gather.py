"""Evidence: what the index knows of the passages that may answer a question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_mcp.core.errors import EmbeddingError
from memory_mcp.core.ports import Vectors
from memory_mcp.core.words import QueryTerm
from memory_mcp.index.slices import Slices
from memory_mcp.index.statistics import K1, lucene_idf
from memory_mcp.index.table import Entry
from memory_mcp.index.view import IndexView
from memory_mcp.index.wordview import WordView
from memory_mcp.search.context import Context
from memory_mcp.search.evidence import Evidence
from memory_mcp.search.filters import Filters
from memory_mcp.search.fuse import DEPTH
from memory_mcp.search.profile import NoteKey, Profile
from memory_mcp.search.profiles import Profiles
from memory_mcp.search.query import Lexicon, Query, after, build
from memory_mcp.search.scope import Scope
from memory_mcp.search.trace import Column

NO_VECTOR = "words only: the embedding model did not answer"


@dataclass(frozen=True, slots=True)
class Found:
    """The question as it was understood, and the evidence for it."""

    query: Query
    evidence: Evidence
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
    profiles: Profiles,
    context: Context | None = None,
    seconds: float | None = None,
) -> Found:
    """Look both ways at once: the best passages by words and by vector, each with both its scores.

    Filters count before the cut: a filtered question sees the best of what passes. With a
    `context` the cosines are the weighted means of the question's and the context's. `seconds`:
    how long to wait for each vector.
    """
    view = index.words(scope.source_ids)
    query = _read(view, text, languages, context)
    vector, problem = await _vector(index, query, seconds)
    if vector is not None and context is not None:
        vector = await _blended(index, vector, context, seconds)
    allowed = None if scope.whole else filters.points(index, scope)
    points = {
        point
        for terms in (query.terms, query.before)
        if terms
        for point, _ in await index.by_words(view, terms, DEPTH, allowed)
    }
    cosines: dict[int, float] = {}
    alike: Mapping[int, float] = {}
    if vector is not None:
        near, cosines = await index.around(scope.source_ids, vector, DEPTH, points, allowed)
        cosines |= dict(near)
        points |= cosines.keys()
        alike = await _alike(index, query, context, points)
    live = await _live(index, profiles, points)
    return Found(
        query=query,
        evidence=_evidence(index, view, query, live, cosines, alike),
        reachable=(K1 + 1) * sum(map(view.idf, query.terms)),
        problem=problem,
    )


def _read(view: WordView, text: str, languages: Collection[str], context: Context | None) -> Query:
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


@dataclass(frozen=True, slots=True)
class _Live:
    """What is there of the points that were found: passages, notes, their profiles."""

    found: Mapping[NoteKey, Sequence[tuple[int, int]]]
    """For each note its passages that were found: (place in the note, point)."""
    entries: Mapping[NoteKey, Entry]
    profiles: Sequence[Profile]


async def _live(index: IndexView, profiles: Profiles, points: Collection[int]) -> _Live:
    """Others get their turn while the profiles of two hundred new notes are made; where a note
    changes meanwhile, all are looked up again."""
    slices = Slices()
    while True:
        turn = index.turn
        found = index.located(points)
        entries = index.live(found)
        made = profiles.known(entries)
        if None in made:
            for place, note in enumerate(entries):
                if made[place] is None:
                    made[place] = profiles.make(note, entries[note])
                    await slices.pause()
        if index.turn == turn:
            return _Live(found, entries, [profile for profile in made if profile])


def _evidence(
    index: IndexView,
    view: WordView,
    query: Query,
    live: _Live,
    cosines: Mapping[int, float],
    alike: Mapping[int, float],
) -> Evidence:
    """Of all passages that one of the legs gave; not of notes that changed meanwhile."""
    found, entries = live.found, live.entries
    rows = [(note, *one) for note, own in found.items() for one in own]
    points: dict[str, list[int]] = {}
    for (source_id, _), _, point in rows:
        points.setdefault(source_id, []).append(point)
    notes: dict[str, list[str]] = {}
    for source_id, path in found:
        notes.setdefault(source_id, []).append(path)
    terms = (*query.terms, *query.before)
    counted = [*range(len(query.asked)), *range(len(query.terms), len(terms))]
    weights = np.array([1.0] * len(query.terms) + [query.weight] * len(query.before))
    words = [place for place, term in enumerate(query.asked) if not term.part]
    own, pairs = view.of_passages(terms, points, words)
    owner = np.arange(len(found)).repeat([len(one) for one in found.values()])
    return Evidence(
        notes=live.profiles,
        owner=owner,
        passages=[entries[note].passages[place] for note, place, _ in rows],
        beginnings=[
            profile.beginnings[place]
            for profile, places in zip(live.profiles, found.values(), strict=True)
            for place, _ in places
        ],
        held=own[:, counted] > 0,
        pairs=pairs.mean(axis=1) if pairs.size else np.zeros(len(rows)),
        bm25=own @ weights,
        note_bm25=(view.of_notes(terms, notes) @ weights)[owner],
        cosine=_column(cosines, rows),
        likeness=_column(alike, rows),
        superseded=index.names.superseded(entries),
    )


def _column(told: Mapping[int, float], rows: Sequence[tuple[NoteKey, int, int]]) -> Column:
    """What is told of the point of each row; NaN where that is nothing."""
    if not told:
        return np.full(len(rows), np.nan)
    return np.array([told.get(point, np.nan) for _, _, point in rows])
