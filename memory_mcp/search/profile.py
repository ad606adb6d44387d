"""What ranking asks of a note whatever the question is: worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_mcp.core.note import Card, Passage
from memory_mcp.search import rules

NoteKey = tuple[str, str]
"""Id of the source, path."""
_BEGINNING = 4
"""Words by which copies are looked for before whole texts are compared."""
_NEAR = 60
"""Characters that nearly always hold as many."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One note."""

    note: NoteKey
    card: Card
    boost: float
    """That of the source."""
    english: bool
    chronicle: bool
    """Whether it is a log or a diary."""
    lists: bool
    """Whether it lists other pages."""
    names: rules.Names
    beginnings: tuple[int, ...]
    """For each of its passages a hash of how it begins: see `beginning`."""

    @classmethod
    def of(
        cls, note: NoteKey, card: Card, boost: float, passages: Sequence[Passage] = ()
    ) -> Profile:
        """What a card and its passages tell."""
        return cls(
            note=note,
            card=card,
            boost=boost,
            english=card.language == "en",
            chronicle=rules.is_log(card.path),
            lists=card.reference in rules.LISTS,
            names=rules.names_of(card),
            beginnings=tuple([beginning(passage.text) for passage in passages]),
        )

    def demotion(self, chronicle: bool, demotion: float) -> float:
        """`demotion` for a log: its dense lines hold every key word, and only point to the page.
        So do those of a list of pages, also for a question about changes (`chronicle`)."""
        return demotion if self.lists or (self.chronicle and not chronicle) else 1.0


def beginning(text: str) -> int:
    """Equal for texts that may be copies of each other, whatever their case and blanks: a hash of
    their first words."""
    words = text[:_NEAR].casefold().split(None, _BEGINNING)
    if len(words) <= _BEGINNING:  # the last word may go on
        words = text.casefold().split(None, _BEGINNING)
    return hash(tuple(words[:_BEGINNING]))
