"""Values of the floors below as the models of the wire, each bounded in size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel

from memory_mcp.core.note import Card, Heading, Provenance
from memory_mcp.core.plain import clip
from memory_mcp.index.relations import Backlink
from memory_mcp.search.hit import Hit, HitPassage
from memory_mcp.search.read import LinkView, Reading
from memory_mcp.search.trace import Trace
from memory_mcp.server.answers import as_json
from memory_mcp.server.wire import (
    GetOut,
    HeadingOut,
    HitOut,
    LinkOut,
    PassageOut,
    ProvenanceOut,
    RowOut,
)

Item = TypeVar("Item", bound=BaseModel)
Fitted = TypeVar("Fitted", bound=BaseModel | str)

_TEXT = 1000
"""Characters of a title and the like, as JSON. Longer ones are no titles; the note itself has
them."""

_SMALL = 200
"""Characters of a tag, a warning and the like."""

_ITEMS = 50
_LINKS = 100
_HEADINGS = 200
_LIST = 12_000
"""Characters of a list beside the text, as JSON: three of them and the header leave it room."""

_SHORTS = 5000
"""Characters of a list of tags or warnings, as JSON."""

_HEADER = 8000
"""Characters of a header that is shown as values; a longer one is in the text all the same."""


def hit_out(hit: Hit, passages: int | None = None, characters: int | None = None) -> HitOut:
    """A hit with at most `passages` passages of at most `characters` characters."""
    card = hit.card
    return HitOut(
        reference=card.reference,
        source=card.source,
        path=card.path,
        title=short(card.title),
        description=short(card.description),
        score=_unit(hit.score),
        vector_score=None if hit.vector_score is None else _unit(hit.vector_score),
        bm25_score=_unit(hit.bm25_score),
        passages=[_passage(item, characters) for item in hit.passages[:passages]],
        tags=shorts(card.tags),
        updated=card.updated or card.modified or None,
        provenance=provenance_out(card.provenance),
        superseded_by=hit.superseded_by,
        scope=card.scope,
    )


def trace_out(trace: Trace) -> dict[str, Any]:
    """How the rank of a hit came about, for a person who asks: steps whose points add up to it."""
    steps = [
        {"rule": step.rule, "value": step.value, "weight": step.weight, "points": step.points}
        for step in trace.steps
    ]
    return {"rank": trace.score, "steps": steps}


def _passage(passage: HitPassage, characters: int | None) -> PassageOut:
    text = passage.text if characters is None else clip(passage.text, characters)
    return PassageOut(
        heading=short(passage.heading),
        text=text,
        lines=[passage.first, passage.last],
        score=_unit(passage.score),
    )


def row_out(card: Card) -> RowOut:
    """A note in a list."""
    return RowOut(
        reference=card.reference,
        title=short(card.title),
        description=short(card.description),
        tags=shorts(card.tags),
        created=card.created,
        updated=card.updated or card.modified or None,
        size=card.size,
        pinned=card.pinned,
        warnings=shorts(card.warnings, 10),
        scope=card.scope,
    )


def get_out(reading: Reading) -> GetOut:
    """A note or a part of it. Lists that are too long are cut, and a warning says so."""
    cut: list[str] = []
    headings = _first(map(_heading, reading.headings), _HEADINGS, "headings", cut)
    links = _first(map(_link, reading.links), _LINKS, "links", cut)
    backlinks = _first(map(_backlink, reading.backlinks), _LINKS, "backlinks", cut)
    frontmatter = reading.frontmatter
    if len(as_json(frontmatter)) > _HEADER:
        frontmatter = {}
        cut.append("The header is too long to be shown as values; it stands in the text.")
    return GetOut(
        reference=reading.reference,
        source=reading.source,
        path=reading.path,
        title=short(reading.title),
        content=reading.content,
        frontmatter=frontmatter,
        revision=reading.revision,
        created=reading.created,
        updated=reading.updated or None,
        tags=shorts(reading.tags),
        headings=headings,
        links=links,
        backlinks=backlinks,
        provenance=provenance_out(reading.provenance),
        truncated=reading.truncated,
        next_offset=reading.next_offset,
        total=reading.total,
        warnings=[*shorts(reading.warnings, 20), *cut],
    )


def _first(items: Iterable[Item], limit: int, what: str, cut: list[str]) -> list[Item]:
    every = list(items)
    shown = fitting(every[:limit], _LIST)
    if len(shown) < len(every):
        cut.append(f"Only {len(shown)} of {len(every)} {what} are listed.")
    return shown


def fitting(items: Sequence[Fitted], characters: int) -> list[Fitted]:
    """The first items that together have at most so many characters as JSON."""
    for number, item in enumerate(items):
        characters -= len(as_json(item)) + 2
        if characters < 0:
            return list(items[:number])
    return list(items)


def _heading(heading: Heading) -> HeadingOut:
    return HeadingOut(level=heading.level, text=short(heading.text, _SMALL), line=heading.line)


def _link(link: LinkView) -> LinkOut:
    target, relation = short(link.target, _SMALL), short(link.relation, 60)
    return LinkOut(target=target, reference=link.reference, relation=relation)


def _backlink(link: Backlink) -> LinkOut:
    relation = short(link.relation, 60)
    return LinkOut(target=link.reference, reference=link.reference, relation=relation)


def provenance_out(provenance: Provenance | None) -> ProvenanceOut | None:
    """Where a note came from, None where it does not say."""
    if provenance is None:
        return None
    confidence = provenance.confidence
    return ProvenanceOut(
        url=_optional(provenance.url),
        kind=_optional(provenance.kind),
        by=_optional(provenance.by),
        at=_optional(provenance.at),
        confidence=short(confidence) if isinstance(confidence, str) else confidence,
    )


def short(text: str, limit: int = _TEXT) -> str:
    """A text that stands beside the note's own text, bounded as it is and as JSON."""
    shown = clip(text, limit)
    while len(escaped := as_json(shown)) > limit + 2:  # its quotation marks
        shown = clip(shown, len(shown) * limit // len(escaped))
    return shown


def shorts(texts: Iterable[str], items: int = _ITEMS) -> list[str]:
    """The first of some short texts."""
    return fitting([short(text, _SMALL) for text in islice(texts, items)], _SHORTS)


def _optional(text: str | None) -> str | None:
    return None if text is None else short(text)


def _unit(score: float) -> float:
    """A score in 0..1, rounded to three places: more would be no knowledge."""
    return round(min(max(score, 0.0), 1.0), 3)
