"""Links as relations between notes: which kind they are of, and how one looks from its goal."""

from __future__ import annotations

from dataclasses import dataclass

from memory_mcp.core.note import Link, LinkKind

SUPERSEDES, CONTRADICTS = "supersedes", "contradicts"


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link to a note, seen from the note: who links, how, and by which relation."""

    source_id: str
    path: str
    reference: str
    kind: LinkKind
    relation: str


def relation_of(link: Link) -> str:
    """The relation in one spelling."""
    return link.relation.strip().casefold().replace("-", "_").replace(" ", "_")
