"""Points that a filter leaves, with the rule of the filter: a server is told the rule, not a
hundred thousand ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_mcp.core.note import Card, Labels
from memory_mcp.core.tag import above, fold_tag


def labels_of(card: Card) -> Labels:
    """The labels of a note's passages."""
    tags = [fold_tag(tag) for tag in card.tags]
    wider = {name for tag in tags for name in (*above(tag), tag) if name}
    return Labels(above(card.path), tuple(sorted(wider)))


@dataclass(frozen=True, slots=True)
class Rule:
    """What the notes of one source must have."""

    folders: tuple[str, ...] = ()
    """One of these; none: any folder."""
    tag: str | None = None


class Chosen(frozenset[int]):
    """The points that a filter leaves in one source. They are the truth; on a server the rule may
    leave others, for as long as a note's new tags are on their way."""

    rule: Rule

    def __new__(cls, points: Iterable[int], rule: Rule) -> Chosen:
        """Points and the rule that chose them."""
        made = super().__new__(cls, points)
        made.rule = rule
        return made
