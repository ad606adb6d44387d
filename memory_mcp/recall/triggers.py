"""Notes that a literal text of a message brings. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from memory_mcp.core.normal_form import normal_form
from memory_mcp.core.note import Card

BARE = 3
"""Letters up to which a trigger must stand as a word of its own: `ci` is in `decide`."""

_SPACED = re.compile(r"[A-Za-z0-9\u00c0-\u04ff]+")
"""Scripts that part words by blanks."""
_PARTED = re.compile(r"\w[\s_-]+\w")


def firing(message: str, *, case_sensitive: bool = False) -> Callable[[Card], str | None]:
    """Tells for a note which of its triggers stands in a message, None where none does. The
    message is read once: it may be long, and there may be thousands of notes.

    Without triggers of its own a note that has a `name` in its header is brought by that name and
    by its file's, where they are of several words and stand there whole: one plain word, such as
    `list`, would bring it into every other conversation.
    """
    text = _even(message, case_sensitive)

    def fired(card: Card) -> str | None:
        for trigger in card.triggers:
            if _stands(_even(trigger, case_sensitive), text):
                return trigger
        if not card.triggers:
            for name in _names(card):
                if _stands(_even(name, case_sensitive), text, whole=True):
                    return name
        return None

    return fired


def _names(card: Card) -> Iterator[str]:
    if card.name is not None:
        yield from (
            name for name in (card.name, card.path.rpartition("/")[2]) if _PARTED.search(name)
        )


def _even(text: str, case_sensitive: bool) -> str:
    text = normal_form("NFC", text).strip()
    return text if case_sensitive else normal_form("NFC", text.casefold())


def _stands(trigger: str, text: str, *, whole: bool = False) -> bool:
    if not trigger:
        return False
    if not whole and (len(trigger) > BARE or not _SPACED.fullmatch(trigger)):
        return trigger in text
    return any(_is_whole(text, at, at + len(trigger)) for at in _places(trigger, text))


def _places(trigger: str, text: str) -> Iterable[int]:
    at = text.find(trigger)
    while at >= 0:
        yield at
        at = text.find(trigger, at + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum() or before == "_")
