"""What of a text is nowhere in the texts that are to hold it."""

from __future__ import annotations

from memory_mcp.core.markdown import outline
from memory_mcp.curate.compare.concrete import concrete
from memory_mcp.curate.compare.novelty import missing

REWORDED = 0.5
"""Share of its words that a text may lose to a rewording; a text of which more is gone was not
reworded but left out."""


def lost(text: str, *held: str) -> tuple[str, ...]:
    """What a reader would miss: every value, name, identifier and denial that is nowhere, and all
    that is missing where it is more than a rewording."""
    gone = missing(text, *held)
    if not gone:
        return ()
    values = frozenset(concrete(text))
    hard = tuple(item for item in gone if _is_value(item, values))
    if hard:
        return hard
    return gone if len(gone) > REWORDED * len(missing(text, "")) else ()


def absent(text: str, *held: str) -> tuple[str, ...]:
    """All words and values of a text that are nowhere else; nothing counts as a rewording. Signs
    alone are how a text is laid out."""
    return tuple(item for item in missing(text, *held) if any(map(str.isalnum, item)))


def other_subject(names: str, text: str, their_names: str, their_text: str) -> bool:
    """Whether two notes of one text are about different things, as their names say: "12 May" below
    `anna-birthday` is no copy of it below `ben-birthday`. A name that only says more, or what
    the texts say, too, is no other subject."""
    mine, theirs = (name.replace("-", " ").replace("_", " ") for name in (names, their_names))
    return bool(absent(mine, theirs, their_text) and absent(theirs, mine, text))


def seen(text: str) -> str:
    """A body as its readers see it: without comments."""
    return "\n".join(outline(text).lines) if "<!--" in text or "%%" in text else text


def _is_value(item: str, values: frozenset[str]) -> bool:
    """Signs alone are how a text is laid out, not what it says."""
    if not any(letter.isalnum() for letter in item):
        return False
    return item.casefold() in values or not values.isdisjoint(concrete(item))
