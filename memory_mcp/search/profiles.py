"""The profiles of notes that were found before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_mcp.core.note import Card, Passage
from memory_mcp.index.table import Entry
from memory_mcp.search.profile import NoteKey, Profile

_REMEMBERED = 50_000  # notes
_NONE: tuple[Sequence[Passage], Profile | None] = ((), None)


class Profiles:
    """Remembered for one caller."""

    def __init__(self) -> None:
        self._known: dict[NoteKey, tuple[Sequence[Passage], Profile]] = {}

    def known(self, entries: Mapping[NoteKey, Entry]) -> list[Profile | None]:
        """Those of notes, where they were found before as they are now."""
        found = [self._known.get(note, _NONE) for note in entries]
        return [
            known if passages is one.passages and known and _same(known.card, one.card) else None
            for (passages, known), one in zip(found, entries.values(), strict=True)
        ]

    def make(self, note: NoteKey, entry: Entry) -> Profile:
        """That of a note which is met for the first time: it takes up to a millisecond."""
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        made = Profile.of(note, entry.card, entry.source.boost, entry.passages)
        self._known[note] = (entry.passages, made)
        return made


def _same(card: Card, other: Card) -> bool:
    """A note that is shown under another name has a card of its own each time."""
    return card is other or card == other
