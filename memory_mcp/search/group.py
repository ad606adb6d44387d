"""From ranked passages to notes: copies folded, one place for a note, its best passages
together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memory_mcp.core.note import Passage
from memory_mcp.search.profile import NoteKey as NoteKey
from memory_mcp.search.trace import Sheet, Trace

PASSAGES = 3
"""Passages shown of one note."""
SHOWN_FROM = 0.5
"""Share of the best passage's score that a further passage must reach to be shown beside it."""
LONG_ENOUGH = 40
"""Characters from which equal texts are copies; shorter ones ("Status: done") mean what their
heading says."""

_NO_STEPS = Sheet.of(1)


class Piece(NamedTuple):
    """A passage with its rank and its evidence. A tuple, which is made in a quarter of the time:
    each search makes a hundred and more."""

    note: NoteKey
    passage: Passage
    rank: float
    """The score that orders pieces."""
    confidence: float
    cosine: float | None
    bm25: float
    held: frozenset[str] = frozenset()
    """The question's terms that the passage holds."""
    sheet: Sheet = _NO_STEPS
    row: int = 0
    """Its own in the sheet."""
    beginning: int = 0
    """Pieces with different ones are no copies of each other; see `profile.beginning`."""

    @property
    def trace(self) -> Trace:
        """How its rank came about."""
        return self.sheet.trace(self.row)


class Group(NamedTuple):
    """A note with its best pieces, the best first. `copies` have the same text and were left
    out."""

    note: NoteKey
    pieces: tuple[Piece, ...]
    copies: tuple[NoteKey, ...] = ()
    lifted: float = 0.0
    """What was added to its rank to bring it before a note that it replaces."""

    @property
    def rank(self) -> float:
        """The score that orders notes."""
        return self.pieces[0].rank + self.lifted

    @property
    def trace(self) -> Trace:
        """How its rank came about."""
        return self.pieces[0].trace.plus("replaces", 1.0, self.lifted)

    @property
    def confidence(self) -> float:
        """That of its most certain piece."""
        return max([piece.confidence for piece in self.pieces])


def by_rank(pieces: Iterable[Piece]) -> list[Piece]:
    """The best first; equal ones by source, path and line, so that an order never depends on
    chance."""
    return sorted(pieces, key=lambda piece: (-piece.rank, piece.note, piece.passage.first))


def better(rankings: Sequence[Sequence[Piece]]) -> Sequence[Piece]:
    """Several rankings as one: a passage keeps the better of its places and of its
    confidences."""
    if len(rankings) == 1:
        return rankings[0]
    best: dict[tuple[NoteKey, str, int], Piece] = {}
    for piece in (piece for ranking in rankings for piece in ranking):
        key = (piece.note, piece.passage.key, piece.passage.first)
        known = best.get(key)
        if known is not None:
            kept = piece if piece.rank > known.rank else known
            piece = kept._replace(confidence=max(piece.confidence, known.confidence))
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
            _shown(own) if len(own) > 1 else (own[0],),
            tuple([copy for copy in copies[note] if copy not in notes]) if note in copies else (),
        )
        for note, own in notes.items()
    ]


def _without_copies(
    pieces: Sequence[Piece],
) -> tuple[list[Piece], dict[NoteKey, dict[NoteKey, None]]]:
    times = Counter([piece.beginning for piece in pieces])
    owners: dict[tuple[str, str], NoteKey] = {}
    copies: dict[NoteKey, dict[NoteKey, None]] = {}
    kept = []
    for piece in pieces:
        owner = piece.note
        if times[piece.beginning] > 1:  # to make all texts even would take longer than to rank
            owner = owners.setdefault(_identity(piece.passage), owner)
        if owner == piece.note:
            kept.append(piece)
        else:
            copies.setdefault(owner, {})[piece.note] = None
    return kept, copies


def _identity(passage: Passage) -> tuple[str, str]:
    text = _even(passage.text)
    return ("", text) if len(text) >= LONG_ENOUGH else (passage.heading, text)


def _even(text: str) -> str:
    return " ".join(text.casefold().split())


def _shown(own: Sequence[Piece]) -> tuple[Piece, ...]:
    strong = [piece for piece in own if piece.rank >= SHOWN_FROM * own[0].rank]
    if len(strong) == 1:
        return (own[0],)
    shown: list[Piece] = []
    texts: list[str] = []
    for piece in strong:
        text = _even(piece.passage.text)
        if not any(text in other or other in text for other in texts):
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
        placed.setdefault(item.note, item._replace(lifted=max(0.0, rank - item.rank)))

    for item in groups:
        place(item, item.rank, frozenset())
    return list(placed.values())
