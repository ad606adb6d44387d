"""What recall is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory_mcp.search.hit import Hit

Source = Literal["startup", "resume", "clear", "compact"]
"""Why a conversation begins; the last two begin with an empty view."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said before. `role` is user or assistant."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Built:
    """How the query of a turn was built."""

    text: str = ""
    """What was looked for: the message without what clients and memory put into it."""
    words: tuple[str, ...] = ()
    """Its content words."""
    history: tuple[str, ...] = ()
    """Earlier turns that nudged, oldest first, each as far as it counted."""
    history_weight: float = 0.0
    """Their share, 0..1."""
    word_share: float | None = None
    """The least share of the words leg; None: as the ranking decides."""
    silent: str | None = None
    """Why nothing was looked for; None where it was."""
    degraded: str | None = None
    """What the search lacked."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What comes into a turn. `block` is empty where memory has nothing to say."""

    block: str
    hits: tuple[Hit, ...]
    """The notes in the block, each with the passages that are in it."""
    triggered: tuple[str, ...]
    """References of the notes in the block that a trigger brought."""
    query: Built
    left_out: int
    """Notes that would have been worth showing and are not in the block."""
