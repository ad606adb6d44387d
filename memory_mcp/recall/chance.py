"""How likely a note that comes after the best one is a right one, by what both legs say of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from memory_mcp.search.group import Group, NoteKey, Piece

CANDIDATES = 25
"""Notes that are looked at, best first; the last of so many stands for the crowd."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What adds to the log odds; all but `bias` for a share of 1."""

    standing: float
    """How far the note stands above the crowd, as share of how far the best one does: the mean of
    all readings of the message. The best reading decides its rank, but what stands out in a single
    one is less often right."""
    words: float
    """The same by BM25 alone."""
    likeness: float
    """How near its tokens come to those of the message, among what was found."""
    going_on: float
    """Whether the message goes on from a question ("and the other one?"). What answers that is the
    best one then, and what is asked for comes behind it."""
    bias: float


LIKENESS = Weights(3.9, 1.4, 2.4, 0.75, -7.8)
"""Fitted by logistic regression on notes that came behind the best one: LoCoMo, the dialogues and
the questions of the golden set, weighted 5 : 2 : 2. Fitted on one half of each and asked about the
other, it brings as many right notes (docs/measurements.md)."""
NO_LIKENESS = Weights(4.4, 0.8, 0.0, 0.45, -5.5)
"""The same on what words alone find; it also serves models that tell no tokens."""


def chances(
    answering: Sequence[Group],
    groups: Sequence[Group],
    readings: Iterable[Sequence[Piece]],
    going_on: bool,
) -> Mapping[NoteKey, float]:
    """The chance 0..1 of each of the notes that answer, beside the best of them.

    `groups` are all notes that were found, `readings` the passages of each reading of the message,
    both best first. `going_on`: whether it goes on from a question.
    """
    standing = [_standing(answering, reading) for reading in readings if reading]
    words = _words(answering, groups)
    alike = [_likeness(group.pieces[0]) for group in answering]
    weights = LIKENESS if any(alike) else NO_LIKENESS
    bias = weights.bias + (weights.going_on if going_on else 0.0)
    odds = (
        bias
        + weights.standing * fmean([shares[place] for shares in standing] or [0.0])
        + weights.words * words[place]
        + weights.likeness * alike[place]
        for place in range(len(answering))
    )
    return {
        group.note: 1 / (1 + math.exp(-one)) for group, one in zip(answering, odds, strict=True)
    }


def _standing(answering: Sequence[Group], reading: Sequence[Piece]) -> list[float]:
    """By the ranks of one reading. A note that replaces another is lifted as far as there."""
    ranks: dict[NoteKey, float] = {}
    for piece in reading:
        ranks.setdefault(piece.note, piece.rank)
    own = [ranks[group.note] + group.lifted if group.note in ranks else 0.0 for group in answering]
    return _shares(own, _crowd(list(ranks.values())))


def _words(answering: Sequence[Group], groups: Sequence[Group]) -> list[float]:
    looked_at = [_bm25(group) for group in groups[:CANDIDATES]]
    return _shares([_bm25(group) for group in answering], _crowd(sorted(looked_at, reverse=True)))


def _bm25(group: Group) -> float:
    return max(piece.bm25 for piece in group.pieces)


def _crowd(scores: Sequence[float]) -> float:
    """The score of the last of so many notes: a message is not about that one. 0 where there are
    fewer, as in a small collection."""
    return scores[CANDIDATES - 1] if len(scores) >= CANDIDATES else 0.0


def _shares(scores: Sequence[float], crowd: float) -> list[float]:
    """How far each stands above the crowd, as share of how far the best one does."""
    best = max(scores, default=0.0)
    return [
        1.0 if one == best else max(0.0, (one - crowd) / max(best - crowd, 1e-9)) for one in scores
    ]


def _likeness(piece: Piece) -> float:
    """0..1; 0 where the model tells none."""
    return next((step.value for step in piece.trace.steps if step.rule == "tokens"), 0.0)
