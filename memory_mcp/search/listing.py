"""Lists of notes, page by page, in the order of their references."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest

from memory_mcp.core.errors import InputError
from memory_mcp.core.note import Card

MAX_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of notes. `total` counts all pages; `next_cursor` is None on the last one."""

    rows: tuple[Card, ...]
    total: int
    next_cursor: str | None


def page(cards: Iterable[Card], limit: int, cursor: str | None) -> Listing:
    """The notes after the cursor, sorted by reference.

    A cursor names the last note that was given, not a place: notes that come or go between two
    pages make no other note appear twice or be left out. Raises InputError for a limit out of
    1..1000 and a cursor that was not given out.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InputError(f"limit is {limit}; it must be between 1 and {MAX_LIMIT}.")
    after = _read(cursor) if cursor else ""
    every = list(cards)
    rest = [card for card in every if card.reference > after]
    rows = nsmallest(limit, rest, key=_reference)
    more = len(rest) > len(rows)
    return Listing(tuple(rows), len(every), _write(rows[-1].reference) if more else None)


def _reference(card: Card) -> str:
    return card.reference


def _write(reference: str) -> str:
    return base64.urlsafe_b64encode(reference.encode("utf-8")).decode("ascii").rstrip("=")


def _read(cursor: str) -> str:
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        raise InputError(
            f"The cursor {cursor[:60]!r} was not given by memory_list. Use next_cursor as it was"
            " returned, or leave it out to start again."
        ) from error
