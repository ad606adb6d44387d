"""From ranked passages to notes: copies folded, one place for a note, its best passages
together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memory_mcp.core.note import Passage
from memory_mcp.search.trace import Trace

PASSAGES = 3
"""Passages shown of one note."""
SHOWN_FROM = 0.5
"""Share of the best passage's score that a further passage must reach to be shown beside it."""
LONG_ENOUGH = 40
"""Characters from which equal texts are copies; shorter ones ("Status: done") mean what their
heading says."""

NoteKey = tuple[str, str]
"""Id of the source, path."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage with its rank and its evidence."""

    note: NoteKey
    passage: Passage
    trace: Trace
    confidence: float
    cosine: float | None
    bm25: float
    held: frozenset[int] = frozenset()
    """Places of the question's terms that the passage holds."""

    @property
    def rank(self) -> float:
        """The score that orders pieces."""
        return self.trace.score

    def traced(self, trace: Trace) -> Piece:
        """The same with another trace; `replace` takes three times as long."""
        return Piece(
            self.note, self.passage, trace, self.confidence, self.cosine, self.bm25, self.held
        )


@dataclass(frozen=True, slots=True)
class Group:
    """A note with its best pieces, the best first. `copies` have the same text and were left
    out."""

    note: NoteKey
    pieces: tuple[Piece, ...]
    trace: Trace
    copies: tuple[NoteKey, ...] = ()

    @property
    def rank(self) -> float:
        """The score that orders notes."""
        return self.trace.score

    @property
    def confidence(self) -> float:
        """That of its most certain piece."""
        return max(piece.confidence for piece in self.pieces)


def by_rank(pieces: Iterable[Piece]) -> list[Piece]:
    """The best first; equal ones by source, path and line, so that an order never depends on
    chance."""
    return sorted(pieces, key=lambda piece: (-piece.rank, piece.note, piece.passage.first))


def better(rankings: Iterable[Sequence[Piece]]) -> list[Piece]:
    """Several rankings as one: a passage keeps the better of its places and of its
    confidences."""
    best: dict[tuple[NoteKey, str, int], Piece] = {}
    for piece in (piece for ranking in rankings for piece in ranking):
        key = (piece.note, piece.passage.key, piece.passage.first)
        known = best.get(key)
        if known is not None:
            kept = piece if piece.rank > known.rank else known
            piece = replace(kept, confidence=max(piece.confidence, known.confidence))
        best[key] = piece
    return by_rank(best.values())


def group(pieces: Sequence[Piece]) -> list[Group]:
    """Notes of ranked pieces, in the order of their best piece; a text of several notes counts
    once."""
    kept, copies = _without_copies(pieces)
    notes: dict[NoteKey, list[Piece]] = {}
    for piece in kept:
        notes.setdefault(piece.note, []).append(piece)
    return [
        Group(
            note,
            _shown(own),
            own[0].trace,
            tuple(copy for copy in copies.get(note, ()) if copy not in notes),
        )
        for note, own in notes.items()
    ]


def _without_copies(
    pieces: Iterable[Piece],
) -> tuple[list[Piece], dict[NoteKey, dict[NoteKey, None]]]:
    owners: dict[tuple[str, str], NoteKey] = {}
    copies: dict[NoteKey, dict[NoteKey, None]] = {}
    kept = []
    for piece in pieces:
        owner = owners.setdefault(_identity(piece.passage), piece.note)
        if owner == piece.note:
            kept.append(piece)
        else:
            copies.setdefault(owner, {})[piece.note] = None
    return kept, copies


def _identity(passage: Passage) -> tuple[str, str]:
    text = _even(passage.text)
    return ("", text) if len(text) >= LONG_ENOUGH else (passage.heading, text)


@lru_cache(maxsize=1000)  # each passage of a ranking is looked at twice
def _even(text: str) -> str:
    return " ".join(text.casefold().split())


def _shown(own: Sequence[Piece]) -> tuple[Piece, ...]:
    if len(own) == 1:
        return (own[0],)
    shown: list[Piece] = []
    texts: list[str] = []
    for piece in own:
        text = _even(piece.passage.text)
        strong = piece.rank >= SHOWN_FROM * own[0].rank
        if strong and not any(text in other or other in text for other in texts):
            shown.append(piece)
            texts.append(text)
        if len(shown) == PASSAGES:
            break
    return tuple(shown)


def behind_successors(
    groups: Sequence[Group], successors: Mapping[NoteKey, NoteKey]
) -> list[Group]:
    """Let a note that replaces a better ranked one take its place, just before it.

    `successors` maps a note to the one that replaces it. In a chain the newest comes first; notes
    that replace each other in a circle keep their order.
    """
    if not successors:
        return list(groups)
    known = {item.note: item for item in groups}
    placed: dict[NoteKey, Group] = {}

    def place(item: Group, rank: float, waiting: frozenset[NoteKey]) -> None:
        waiting |= {item.note}
        successor = known.get(successors.get(item.note, item.note))
        if successor is not None and successor.note not in waiting | placed.keys():
            place(successor, rank, waiting)
        trace = item.trace.plus("replaces", 1.0, max(0.0, rank - item.rank))
        placed.setdefault(item.note, replace(item, trace=trace))

    for item in groups:
        place(item, item.rank, frozenset())
    return list(placed.values())
