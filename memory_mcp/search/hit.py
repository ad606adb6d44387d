"""What a search is asked and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_mcp.core.note import Card
from memory_mcp.search.trace import Trace


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question and its filters. `sources` are names; empty means all."""

    query: str
    limit: int = 5
    """How many notes, 1..50."""
    min_score: float = 0
    sources: tuple[str, ...] = ()
    path_prefix: str | None = None
    """Start of the path below the source, or of the reference (`wiki/people`)."""
    tag: str | None = None
    """A tag; `a` also means `a/b`. Case does not matter."""
    explain: bool = False
    vector_seconds: float | None = None
    """How long the model may take for the vector of a text; without it words alone decide. None:
    as long as searches wait."""


@dataclass(frozen=True, slots=True)
class HitPassage:
    """A piece of a note that answers. `first` and `last` are 1-based lines of the file."""

    heading: str
    text: str
    first: int
    last: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A note that answers, with up to three of its passages, the best first."""

    card: Card
    score: float
    """Confidence 0..1: how good the match is."""
    vector_score: float | None
    """Cosine of the best passage, 0..1; None where there is no vector (yet)."""
    bm25_score: float
    """Share of the highest BM25 score that the query could reach, 0..1."""
    passages: tuple[HitPassage, ...]
    superseded_by: str | None = None
    """Reference of the note that says it replaces this one."""
    replaces: tuple[str, ...] = ()
    """References of the notes that this one says it replaces."""
    contradicts: tuple[str, ...] = ()
    """References of the notes that contradict it, whichever of the two says so."""
    copies: tuple[str, ...] = ()
    """References of notes with the same text, left out of the list."""
    trace: Trace | None = None
    """How the rank came about, where the request asked for it."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in ranking order, and what the index could not do."""

    hits: tuple[Hit, ...]
    degraded: str | None
    """Why the answer may lack something: words only, still indexing, …; None where it does not."""
    pending: int
    """Files waiting to be indexed."""


def side_by_side(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits with those that contradict each other together, in the place of the first; all
    others stay in their order."""
    left = {hit.card.reference: hit for hit in hits}
    placed: list[Hit] = []
    for hit in hits:
        if hit.card.reference in left:
            names = (hit.card.reference, *hit.contradicts)
            placed += (left.pop(name) for name in names if name in left)
    return tuple(placed)
