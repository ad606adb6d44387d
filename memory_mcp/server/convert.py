"""Values of the floors below as the models of the wire, each bounded in size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel

from memory_mcp.core.note import Card, Heading, Provenance
from memory_mcp.core.plain import clip
from memory_mcp.index.names import Backlink
from memory_mcp.search.hit import Hit, HitPassage
from memory_mcp.search.read import LinkView, Reading
from memory_mcp.server.answers import as_json
from memory_mcp.server.wire import (
    GetOut,
    HeadingOut,
    HitOut,
    LinkOut,
    PassageOut,
    ProvenanceOut,
    RowOut,
    Scope,
)

Item = TypeVar("Item", bound=BaseModel)

_TEXT = 1000
"""Characters of a title and the like. Longer ones are no titles; the note itself has them."""

_ITEMS = 50
_LINKS = 100
_HEADINGS = 200
_LIST = 15_000
"""Characters of a list beside the text, as JSON: three of them and the header leave it room."""

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
        scope=scope_of(card.source),
    )


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
        scope=scope_of(card.source),
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


def fitting(items: Sequence[Item], characters: int) -> list[Item]:
    """The first items that together have at most so many characters as JSON."""
    for number, item in enumerate(items):
        characters -= len(as_json(item)) + 2
        if characters < 0:
            return list(items[:number])
    return list(items)


def _heading(heading: Heading) -> HeadingOut:
    return HeadingOut(level=heading.level, text=clip(heading.text, 200), line=heading.line)


def _link(link: LinkView) -> LinkOut:
    target = clip(link.target, 200)
    return LinkOut(target=target, reference=link.reference, relation=clip(link.relation, 60))


def _backlink(link: Backlink) -> LinkOut:
    relation = clip(link.relation, 60)
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


def scope_of(source: str) -> Scope | None:
    """The scope of a note of the inbox, None elsewhere."""
    return "global" if source == "memory" else None


def short(text: str) -> str:
    """A text that stands beside the note's own text, bounded."""
    return clip(text, _TEXT) if len(text) > _TEXT else text


def shorts(texts: Sequence[str] | Iterable[str], items: int = _ITEMS) -> list[str]:
    """The first of some short texts."""
    return [clip(text, 200) for text in list(texts)[:items]]


def _optional(text: str | None) -> str | None:
    return None if text is None else short(text)


def _unit(score: float) -> float:
    """A score in 0..1, rounded to four places."""
    return round(min(max(score, 0.0), 1.0), 4)
