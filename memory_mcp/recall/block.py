"""The text that comes into a turn: notes in their frames, within a budget, whole items only."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory_mcp.core.framed import framed
from memory_mcp.core.framing import one_line
from memory_mcp.core.note import Card
from memory_mcp.core.tokens import tokens
from memory_mcp.recall.bodies import Body
from memory_mcp.recall.heard import WRAPPER
from memory_mcp.search.hit import Hit, HitPassage
from memory_mcp.settings.prompts import shipped

NOTHING = "Nothing in memory stands out for this message; memory_search looks further."
"""What a client that asks is told where there is nothing to say."""
MOST_CHARS = 9_000
"""UTF-16 units of a block as JSON: what a hook may print, less what stands around it."""
LEAST_CUT = 60
"""Tokens that must be left for a note that is cut; less would say nothing."""
NAMED = 5
"""Further notes that are named."""
_TAIL_TOKENS = 60  # for the line about what was left out
_MORE = " […]"
_END = re.compile(r"[.!?](?=\s)|[。！？]|\n")


@dataclass(frozen=True, slots=True)
class Block:
    """The text, and what is in it."""

    text: str
    hits: tuple[Hit, ...]
    bodies: tuple[Body, ...]
    """Each with the text that is shown of it."""
    left_out: int


class _Room:
    """What may still be said, in tokens and in characters."""

    def __init__(self, max_tokens: int) -> None:
        outer = _wrapped([_introduction()])
        self.tokens = max_tokens - tokens(outer) - _TAIL_TOKENS
        self.chars = MOST_CHARS - units(outer) - 4 * _TAIL_TOKENS - 2 * NAMED * 100

    def takes(self, text: str) -> bool:
        """Whether there is room, which is used then."""
        cost, size = tokens(text), units(text) + 2
        if cost > self.tokens or size > self.chars:
            return False
        self.tokens -= cost
        self.chars -= size
        return True


def _introduction() -> str:
    """What a block begins with; not the user's to change, for it says that notes are data."""
    return shipped("recalled").strip()


def units(text: str) -> int:
    """Length of a text as JSON in UTF-16 units, as clients count."""
    shown = json.dumps(text, ensure_ascii=False)
    return len(shown) + sum(letter > "\uffff" for letter in shown)


def block(
    bodies: Sequence[Body], hits: Sequence[Hit], same: int, max_results: int, max_tokens: int
) -> Block:
    """The block for notes that a trigger brought and notes that answer, best first; empty where
    there is none, or no room for any.

    `same` notes were left out since they say the same. A passage is whole, or not there; the first
    note alone is cut at the end of a sentence, with a mark, where it is too long.
    """
    room = _Room(max_tokens)
    parts: list[str] = []
    given: list[Body] = []
    left: list[Card] = []
    for body in bodies:
        text = _add(parts, room, body.card, {}, [body.text])
        if text is None:
            left.append(body.card)
        else:
            given.append(replace(body, text=text))
    shown: list[Hit] = []
    for hit in hits:
        kept = _passages(parts, room, hit) if len(shown) < max_results else ()
        if kept:
            shown.append(replace(hit, passages=tuple(kept)))
        else:
            left.append(hit.card)
    if not parts:
        return Block("", (), (), len(left) + same)
    tail = _left(left, same)
    text = _wrapped([_introduction(), *parts, *([tail] if tail else [])])
    return Block(text, tuple(shown), tuple(given), len(left) + same)


def _passages(parts: list[str], room: _Room, hit: Hit) -> Sequence[HitPassage]:
    """Put as many passages of a note as there is room for into one frame, the best first."""
    kept = list(hit.passages)
    marks = _marks(hit)
    while len(kept) > 1 and not _fits(room, _framed(hit.card, marks, _texts(kept))):
        kept.pop()
    text = _add(parts, room, hit.card, marks, _texts(kept))
    return () if text is None else kept


def _marks(hit: Hit) -> dict[str, str]:
    """What else has to be known of a note before its text is believed."""
    marks = {} if hit.superseded_by is None else {"superseded_by": hit.superseded_by}
    if hit.contradicts:
        marks["contradicts"] = ", ".join(hit.contradicts[:NAMED])
    return marks


def _texts(passages: Sequence[HitPassage]) -> list[str]:
    """Each passage below its heading, which is not said twice in a row."""
    texts: list[str] = []
    above: str | None = None
    for item in passages:
        heading, text = one_line(item.heading), item.text.strip()
        texts.append(text if heading == above else f"[{heading}]\n{text}")
        above = heading
    return texts


def _add(
    parts: list[str], room: _Room, card: Card, marks: Mapping[str, str], texts: Sequence[str]
) -> str | None:
    """Put texts of a note into a frame; what is shown of them, None where there is no room."""
    text: str | None = "\n\n".join(texts)
    framed_text = _framed(card, marks, texts)
    if not room.takes(framed_text):
        text = None if parts else _cut("\n\n".join(texts), room, card, marks)
        framed_text = "" if text is None else _framed(card, marks, [text])
        if text is None or not room.takes(framed_text):
            return None
    parts.append(framed_text)
    return text


def _fits(room: _Room, text: str) -> bool:
    return tokens(text) <= room.tokens and units(text) + 2 <= room.chars


def _framed(card: Card, marks: Mapping[str, str], texts: Sequence[str]) -> str:
    updated = card.updated or card.modified
    return framed(
        card.reference, card.revision, updated, card.provenance, "\n\n".join(texts), **marks
    )


def _cut(text: str, room: _Room, card: Card, marks: Mapping[str, str]) -> str | None:
    """The longest beginning that fits, cut at the end of a sentence or line."""
    if room.tokens < LEAST_CUT:
        return None
    ends = [match.end() for match in _END.finditer(text[: room.chars + 1])]
    while ends:
        short = text[: ends[-1]].rstrip() + _MORE
        shown = _framed(card, marks, [short])
        over = tokens(shown) / max(1, room.tokens)
        if over <= 1 and units(shown) + 2 <= room.chars:
            return short
        keep = int(ends[-1] / max(over, 1.02))
        ends = [end for end in ends if end <= keep]
    return None


def _left(cards: Sequence[Card], same: int) -> str:
    told = []
    if cards:
        names = ", ".join(f"`{one_line(card.reference, 100)}`" for card in cards[:NAMED])
        more = ", …" if len(cards) > NAMED else ""
        word = "note fits" if len(cards) == 1 else "notes fit"
        told.append(f"{len(cards)} more {word}: {names}{more}.")
    if same:
        told.append(f"{same} more say{'s' if same == 1 else ''} the same.")
    return " ".join(told)


def _wrapped(parts: Sequence[str]) -> str:
    return "\n".join([f"<{WRAPPER}>", *parts, f"</{WRAPPER}>"])
