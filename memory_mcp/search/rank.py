"""From evidence to ranked passages: fusion, then the rules, each step kept in the trace."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from memory_mcp.core.config import SearchSettings
from memory_mcp.index.statistics import K1
from memory_mcp.search import confidence, fuse, rules
from memory_mcp.search.evidence import Evidence, Marks
from memory_mcp.search.family import Family
from memory_mcp.search.group import Piece
from memory_mcp.search.query import Query
from memory_mcp.search.trace import Column, Sheet

LEVELLED = 0.5
"""How far ranking levels cosines between languages; the score levels them whole. Half was the best
of none, half and a bit more on the golden set with multilingual-e5-small (78 to 80 % in rank):
within chance, and it keeps a note in the question's own language in front."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What is added to the fused score; all 0 for a bare leg."""

    tokens: float = 1.0
    """A factor on what the model's family says."""
    note: float = rules.NOTE_WEIGHT
    pair: float = rules.PAIR_WEIGHT
    date: float = rules.DATE_WEIGHT
    beside: float = rules.BESIDE_WEIGHT
    next: float = rules.NEXT_WEIGHT
    most_vector: float = 1.0
    """Share that the vector leg has at most."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What makes the evidence of one question comparable: columns, and what holds for all."""

    words: Column
    """Min-max of the BM25 leg."""
    vectors: Column
    """Min-max of the vector leg."""
    share: Column
    """Share of the vector leg."""
    tokens: Column
    """Min-max of the likeness word by word; where the tokens of a passage are not known (yet) the
    mean."""
    lean: float
    """Factor on it: the vectors' share where that is fixed or limited; less for a single word."""


def rank(
    found: Evidence, query: Query, family: Family, settings: SearchSettings, weights: Weights
) -> list[Piece]:
    """Ranked passages, the best first; those without any evidence are left out."""
    kept = found.some(_speaks(found, query, family))
    scale = _scale(kept, query, family, settings, weights)
    sheet = _fused(kept, query, family, scale, weights)
    sheet = sheet.plus("pairs", kept.pairs, weights.pair)
    sheet = sheet.plus("beside", _beside(kept, sheet.scores), weights.beside)
    for rule, factors in _factors(kept, query, settings):
        sheet = sheet.times(rule, factors)
    if settings.page_support:
        sheet = sheet.plus("page support", _support(kept, sheet.scores, settings), 1.0)
    sheet = sheet.plus("next to best", _behind_best(kept, sheet.scores), weights.next)
    return _pieces(kept, query, family, sheet)


def _best_first(scores: Column) -> list[int]:
    """Rows; of equal ones the one that stands before, so that an order never depends on chance."""
    rows: list[int] = np.argsort(-scores, kind="stable").tolist()
    return rows


def _cosine(found: Evidence, query: Query, family: Family, part: float = 1.0) -> Column:
    """The cosines that passages in another language than the question's would have in it, or what
    is `part` of the way there."""
    if query.language is None or not family.across:
        return found.cosine
    other = found.by_note(lambda note: note.card.language != query.language)
    return found.cosine + other * (part * family.across)


def _speaks(found: Evidence, query: Query, family: Family) -> Marks:
    marks: Marks = found.held.any(axis=1) | (_cosine(found, query, family) > family.noise)
    return marks


def _scale(
    found: Evidence, query: Query, family: Family, settings: SearchSettings, weights: Weights
) -> Scale:
    word = fuse.ONE_WORD if query.is_word else 1.0
    least, most = family.least_share * word, weights.most_vector
    best = found.held[_best(found)][None] if len(found) else found.held
    covered = float(fuse.coverage(best, query.masses).max(initial=0.0))
    share = np.where(
        found.english,
        min(most, _share(covered, least, family.trust, settings)),
        min(most, _share(covered, least, family.trust_elsewhere, settings)),
    )
    return Scale(
        words=_words(found.bm25),
        vectors=_vectors(_cosine(found, query, family, LEVELLED), family),
        share=np.where(np.isnan(found.cosine), 0.0, share),
        tokens=_tokens(found.likeness, family.token_width),
        lean=word * min(most, 1 if settings.vector_weight == "auto" else settings.vector_weight),
    )


def _best(found: Evidence) -> int:
    """The row of the best passage by words."""
    return int(found.bm25.argmax())


def _words(bm25: Column) -> Column:
    spread = fuse.spread(bm25, fuse.last_of(bm25[bm25 > 0], otherwise=0.0), least=0.0)
    return np.where(bm25 > 0, spread, 0.0)


def _vectors(cosine: Column, family: Family) -> Column:
    """A leg that is not full ends at what is noise, as that of the words ends at 0."""
    known = cosine[~np.isnan(cosine)]
    lowest = fuse.last_of(known, otherwise=float(known.min(initial=family.noise)))
    return np.nan_to_num(fuse.spread(cosine, lowest, family.width))


def _tokens(likeness: Column, least: float) -> Column:
    known = likeness[~np.isnan(likeness)]
    if not len(known):
        return np.zeros(len(likeness))
    spread = fuse.spread(likeness, float(known.min()), least)
    return np.where(np.isnan(spread), np.nanmean(spread), spread)


def _share(covered: float, least: float, trust: float, settings: SearchSettings) -> float:
    """The share of the vector leg: fixed by the settings, or by how far words cover the
    question."""
    if settings.vector_weight != "auto":
        return settings.vector_weight
    return fuse.vector_share(covered, least, trust)


def _fused(found: Evidence, query: Query, family: Family, scale: Scale, weights: Weights) -> Sheet:
    words = 1 - scale.share
    sheet = Sheet.of(len(found)).plus("words", scale.words, words)
    sheet = sheet.plus("vectors", scale.vectors, scale.share)
    known = found.english & (query.language in (None, "en"))
    tokens = np.where(known, family.tokens, family.tokens_elsewhere)
    sheet = sheet.plus("tokens", scale.tokens, weights.tokens * tokens * scale.lean)
    best_note = found.note_bm25.max(initial=0.0) or 1.0
    sheet = sheet.plus("note", found.note_bm25 / best_note, weights.note * words)
    if not query.days:
        return sheet
    return sheet.plus("date", _dates(found, query), weights.date)


def _dates(found: Evidence, query: Query) -> Column:
    return np.array(
        [
            rules.date_match(query.days, found.notes[owner].card, passage)
            for owner, passage in zip(found.owner.tolist(), found.passages, strict=True)
        ]
    )


def _beside(found: Evidence, scores: Column) -> Column:
    """What the passages next to each in its note have. Those that begin in the same line are one
    place, which is as good as the weakest of them."""
    if not len(found):
        return scores
    owner = found.owner
    first, last = found.lines
    new = np.ones(len(owner), np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(new)
    weakest, last = np.minimum.reduceat(scores, starts), np.maximum.reduceat(last, starts)
    owner, first = owner[starts], first[starts]
    joined = (owner[1:] == owner[:-1]) & (first[1:] <= last[:-1] + rules.ADJOINING)
    near = np.zeros(len(starts))
    near[:-1] += np.where(joined, weakest[1:], 0.0)
    near[1:] += np.where(joined, weakest[:-1], 0.0)
    beside: Column = near[np.cumsum(new) - 1]
    return beside


def _factors(
    found: Evidence, query: Query, settings: SearchSettings
) -> Iterator[tuple[str, Column]]:
    """What the passages of each note are multiplied with, by rule."""
    slug, full = settings.slug_match_boost, settings.slug_full_name_boost
    notes, forms, demotion = found.notes, query.forms, settings.log_demotion
    named = list(rules.namings([note.names for note in notes], forms))
    for rule, factors, power in (
        ("source", [note.boost for note in notes], rules.LEAD),
        ("slug", [slug if one.some else 1.0 for one in named], rules.NAME_LEAD),
        ("full name", [full if one.full else 1.0 for one in named], rules.NAME_LEAD),
        ("log", [note.demotion(query.chronicle, demotion) for note in notes], rules.LEAD),
        ("superseded", _superseded(found), rules.LEAD),
    ):
        if factors.count(1.0) < len(factors):
            yield rule, (np.array(factors) ** power)[found.owner]


def _superseded(found: Evidence) -> list[float]:
    gone = found.superseded
    return [rules.SUPERSEDED if note.note in gone else 1.0 for note in found.notes] if gone else []


def _support(found: Evidence, scores: Column, settings: SearchSettings) -> Column:
    """For the best passage of each note what the note's next ones add to it."""
    points = np.zeros(len(found))
    notes: dict[int, list[int]] = {}
    for row in _best_first(scores):
        notes.setdefault(int(found.owner[row]), []).append(row)
    for best, *others in notes.values():
        near = [float(scores[row]) for row in others]
        points[best] = rules.page_support(float(scores[best]), near, settings.page_support)
    return points


def _behind_best(found: Evidence, scores: Column) -> Column:
    """How far each passage that adjoins the best one of its note is behind that; 0 for others."""
    if not len(found):
        return scores
    order = np.lexsort((-scores, found.owner))
    new = np.ones(len(order), np.bool_)
    new[1:] = found.owner[1:] != found.owner[:-1]
    best = order[new][np.cumsum(new) - 1]
    first, last = found.lines
    near = (first <= last[best] + rules.ADJOINING) & (first[best] <= last + rules.ADJOINING)
    return np.where(near, scores[best] - scores, 0.0)


def _pieces(found: Evidence, query: Query, family: Family, sheet: Sheet) -> list[Piece]:
    confident = confidence.confidence(
        fuse.coverage(found.held, query.masses),
        _said(found, query),
        _cosine(found, query, family),
        family,
        english=found.english,
        exact=np.asarray(found.held[:, query.identifiers].any(axis=1)),
    )
    keys = [note.note for note in found.notes]
    pieces = [
        Piece._make(one)
        for one in zip(
            [keys[place] for place in found.owner.tolist()],
            found.passages,
            sheet.scores.tolist(),
            confident.tolist(),
            [None if math.isnan(one) else one for one in found.cosine.tolist()],
            found.bm25.tolist(),
            found.held_of([term.text for term in query.counted]),
            repeat(sheet),
            range(len(found)),
            found.beginnings,
            strict=False,  # what is the same for all goes on
        )
    ]
    return [pieces[row] for row in _best_first(sheet.scores)]


def _said(found: Evidence, query: Query) -> Column:
    """Share of the BM25 that a note full of the question's words would have."""
    most = (K1 + 1) * sum(query.masses)
    return np.minimum(1.0, found.note_bm25 / most) if most > 0 else np.zeros(len(found))
