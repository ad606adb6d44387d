"""What ranking asks of a note whatever the question is: worked out once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memory_mcp.core.note import Card
from memory_mcp.search import rules

NoteKey = tuple[str, str]
"""Id of the source, path."""
_REMEMBERED = 50_000  # notes


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

    @classmethod
    def of(cls, note: NoteKey, card: Card, boost: float) -> Profile:
        """What a card tells."""
        return cls(
            note=note,
            card=card,
            boost=boost,
            english=card.language == "en",
            chronicle=rules.is_log(card.path),
            lists=card.reference in rules.LISTS,
            names=rules.names_of(card),
        )

    def demotion(self, chronicle: bool, demotion: float) -> float:
        """`demotion` for a log: its dense lines hold every key word, and only point to the page.
        So do those of a list of pages, also for a question about changes (`chronicle`)."""
        return demotion if self.lists or (self.chronicle and not chronicle) else 1.0

    def naming(self, forms: Collection[str]) -> rules.Naming:
        """How far a question with these word forms names the note."""
        return self.names.naming(forms)


class Profiles:
    """The profiles of notes that were found before."""

    def __init__(self) -> None:
        self._known: dict[NoteKey, Profile] = {}

    def known(self, note: NoteKey, card: Card) -> Profile | None:
        """That of a note with this card, where it was found before."""
        known = self._known.get(note)
        return known if known is not None and known.card is card else None

    def of(self, note: NoteKey, card: Card, boost: float) -> Profile:
        """That of a note with this card. A new one takes up to a millisecond."""
        known = self.known(note, card)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[note] = Profile.of(note, card, boost)
        return known
