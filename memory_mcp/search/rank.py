"""From evidence to ranked passages: fusion, then the rules, each step kept in the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from memory_mcp.core.config import SearchSettings
from memory_mcp.core.note import Card, Passage
from memory_mcp.index.sparse import K1
from memory_mcp.search import confidence, fuse, rules
from memory_mcp.search.family import Family
from memory_mcp.search.group import NoteKey, Piece, by_rank
from memory_mcp.search.query import Query
from memory_mcp.search.trace import Trace

LEVELLED = 0.5
"""How far ranking levels cosines between languages; the score levels them whole. Half was the best
of none, half and a bit more on the golden set with multilingual-e5-small (78 to 80 % in rank):
within chance, and it keeps a note in the question's own language in front."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the index knows of one passage for one question."""

    note: NoteKey
    card: Card
    passage: Passage
    boost: float
    """That of the source."""
    held: frozenset[int]
    """Places of the question's terms that the passage holds."""
    bm25: float
    """Raw score of the passage; 0 where it holds no term."""
    note_bm25: float
    """Raw score of the whole note."""
    cosine: float | None
    """None where the passage has no vector yet, or there is no model."""
    likeness: float | None = None
    """How near its tokens come to those of the question; None where the model tells none."""
    superseded: bool = False
    """Whether another note says that it replaces this one."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What is added to the fused score; all 0 for a bare leg."""

    tokens: float = 1.0
    """A factor on what the model's family says."""
    note: float = rules.NOTE_WEIGHT
    pair: float = rules.PAIR_WEIGHT
    date: float = rules.DATE_WEIGHT
    beside: float = rules.BESIDE_WEIGHT
    most_vector: float = 1.0
    """Share that the vector leg has at most."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What makes the evidence of one question comparable."""

    words: Mapping[int, float]
    """Min-max of the BM25 leg, by place of the evidence."""
    vectors: Mapping[int, float]
    """Min-max of the vector leg."""
    tokens: Mapping[int, float]
    """Min-max of the likeness word by word."""
    lean: float
    """Factor on it: the vectors' share where that is fixed or limited; less for a single word."""
    unknown: float
    """What a passage gets there whose tokens are not known (yet): the mean."""
    best_note: float
    """BM25 of the best whole note, for the note rule."""
    share: float
    """Share of the vector leg for a passage in English."""
    share_elsewhere: float
    """The same for other languages."""


def rank(
    found: Sequence[Evidence],
    query: Query,
    family: Family,
    settings: SearchSettings,
    weights: Weights,
) -> list[Piece]:
    """Ranked passages, the best first; those without any evidence are left out."""
    kept = [item for item in found if _speaks(item, query, family)]
    scale = _scale(kept, query, family, settings, weights.most_vector)
    fused = by_rank(
        _piece(place, item, query, family, scale, weights) for place, item in enumerate(kept)
    )
    notes = {item.note: item for item in kept}
    paired = [
        _with_pairs(piece, query, notes[piece.note].card, weights)
        if place < rules.PAIR_DEPTH
        else piece
        for place, piece in enumerate(fused)
    ]
    paired = _beside(paired, weights.beside)
    factors = {
        note: [one for one in _factors(item, query, settings) if one[1] != 1.0]
        for note, item in notes.items()
    }
    ruled = by_rank(_multiplied(piece, factors[piece.note]) for piece in paired)
    return by_rank(_supported(ruled, settings.page_support)) if settings.page_support else ruled


def _cosine(item: Evidence, query: Query, family: Family, part: float = 1.0) -> float | None:
    """The cosine that a passage in another language than the question's would have in it, or what
    is `part` of the way there."""
    if item.cosine is None or query.language in (None, item.card.language):
        return item.cosine
    return item.cosine + part * family.across


def _speaks(item: Evidence, query: Query, family: Family) -> bool:
    cosine = _cosine(item, query, family)
    return bool(item.held) or (cosine is not None and cosine > family.noise)


def _scale(
    found: Sequence[Evidence],
    query: Query,
    family: Family,
    settings: SearchSettings,
    most: float,
) -> Scale:
    words = {place: item.bm25 for place, item in enumerate(found) if item.bm25 > 0}
    levelled = (_cosine(item, query, family, LEVELLED) for item in found)
    cosines = {place: cosine for place, cosine in enumerate(levelled) if cosine is not None}
    by_words = sorted(words.values(), reverse=True)
    by_cosine = sorted(cosines.values(), reverse=True)
    # A leg that is not full ends at what is noise, as that of the words ends at 0.
    full = len(by_cosine) >= fuse.DEPTH
    lowest = by_cosine[fuse.DEPTH - 1] if full else min([family.noise, *by_cosine])
    best = max(found, key=lambda item: item.bm25, default=None)
    covered = fuse.coverage(best.held, query.masses) if best else 0.0
    tokens = _likeness(found, family.token_width)
    word = fuse.ONE_WORD if query.is_word else 1.0
    least = family.least_share * word
    return Scale(
        words=fuse.spread(words, fuse.floor_of(by_words), least=0.0),
        vectors=fuse.spread(cosines, lowest, family.width),
        tokens=tokens,
        lean=word * min(most, 1 if settings.vector_weight == "auto" else settings.vector_weight),
        unknown=fmean(tokens.values()) if tokens else 0.0,
        best_note=max((item.note_bm25 for item in found), default=0.0),
        share=min(most, _share(covered, least, family.trust, settings)),
        share_elsewhere=min(most, _share(covered, least, family.trust_elsewhere, settings)),
    )


def _likeness(found: Sequence[Evidence], least: float) -> dict[int, float]:
    known = {n: item.likeness for n, item in enumerate(found) if item.likeness is not None}
    return fuse.spread(known, min(known.values(), default=0.0), least)


def _share(covered: float, least: float, trust: float, settings: SearchSettings) -> float:
    """The share of the vector leg: fixed by the settings, or by how far words cover the
    question."""
    if settings.vector_weight != "auto":
        return settings.vector_weight
    return fuse.vector_share(covered, least, trust)


def _piece(
    place: int, item: Evidence, query: Query, family: Family, scale: Scale, weights: Weights
) -> Piece:
    english = item.card.language == "en"
    share = scale.share if english else scale.share_elsewhere
    known = english and query.language in (None, "en")
    told = family.tokens if known else family.tokens_elsewhere
    if item.cosine is None:
        share = 0.0
    trace = Trace.of(
        ("words", scale.words.get(place, 0.0), 1 - share),
        ("vectors", scale.vectors.get(place, 0.0), share),
        ("tokens", scale.tokens.get(place, scale.unknown), weights.tokens * told * scale.lean),
        ("note", item.note_bm25 / (scale.best_note or 1.0), weights.note * (1 - share)),
        ("date", rules.date_match(query.days, item.card, item.passage), weights.date),
    )
    covered, exact = query.judged(item.held)
    return Piece(
        note=item.note,
        passage=item.passage,
        trace=trace,
        confidence=confidence.confidence(
            covered,
            _said(item, query),
            _cosine(item, query, family),
            family,
            english=english,
            exact=exact,
        ),
        cosine=item.cosine,
        bm25=item.bm25,
        held=item.held,
    )


def _said(item: Evidence, query: Query) -> float:
    """Share of the BM25 that a note full of the question's words would have."""
    most = (K1 + 1) * sum(query.masses)
    return min(1.0, item.note_bm25 / most) if most > 0 else 0.0


def _with_pairs(piece: Piece, query: Query, card: Card, weights: Weights) -> Piece:
    if not weights.pair or not query.may_have_pair(piece.held):
        return piece
    share = rules.pair_overlap(query.pairs, piece.passage, card.language)
    return piece.traced(piece.trace.plus("pairs", share, weights.pair))


def _beside(pieces: Sequence[Piece], weight: float) -> list[Piece]:
    """Each passage with a share of what the passages next to it in their note have."""
    lines = {(piece.note, piece.passage.first): piece for piece in pieces}
    near: dict[tuple[NoteKey, int], float] = {}
    for (note, first), (after, second) in pairwise(sorted(lines)):
        one, other = lines[note, first], lines[after, second]
        if note == after and rules.adjoin(one.passage, other.passage):
            near[note, first] = near.get((note, first), 0.0) + other.rank
            near[after, second] = near.get((after, second), 0.0) + one.rank
    return [
        piece.traced(piece.trace.plus("beside", points, weight)) if points else piece
        for piece in pieces
        for points in [near.get((piece.note, piece.passage.first), 0.0)]
    ]


def _factors(
    item: Evidence, query: Query, settings: SearchSettings
) -> Iterator[tuple[str, float]]:
    """What a note's passages are multiplied with, by rule."""
    named = rules.naming(query.forms, item.card)
    yield "source", item.boost**rules.LEAD
    yield "slug", (settings.slug_match_boost if named.some else 1.0) ** rules.NAME_LEAD
    yield "full name", (settings.slug_full_name_boost if named.full else 1.0) ** rules.NAME_LEAD
    demotion = rules.log_factor(item.card, query.chronicle, settings.log_demotion)
    yield "log", demotion**rules.LEAD
    yield "superseded", (rules.SUPERSEDED if item.superseded else 1.0) ** rules.LEAD


def _multiplied(piece: Piece, factors: Sequence[tuple[str, float]]) -> Piece:
    if not factors:
        return piece
    trace = piece.trace
    for rule, factor in factors:
        trace = trace.times(rule, factor)
    return piece.traced(trace)


def _supported(pieces: Sequence[Piece], share: float) -> list[Piece]:
    """The best passage of each note, supported by the note's next ones."""
    notes: dict[NoteKey, list[Piece]] = {}
    for piece in pieces:
        notes.setdefault(piece.note, []).append(piece)
    supported = []
    for best, *others in notes.values():
        points = rules.page_support(best.rank, [other.rank for other in others], share)
        supported += [best.traced(best.trace.plus("page support", points, 1.0)), *others]
    return supported
