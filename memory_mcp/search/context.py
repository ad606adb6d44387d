"""What was said before a question, as far as it counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """What was said before a question, and how far it decides where to look."""

    said: tuple[str, ...]
    """Texts whose meaning counts, each embedded on its own."""
    words: str
    """The text whose words count."""
    weight: float
    """Share of the meaning, and weight of the words: 0..1."""
    instead: bool = False
    """The question has no word of its own."""
