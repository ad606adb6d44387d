"""What a conversation begins with: how to use memory, the seeds, the index section."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from memory_mcp.core.framed import frame
from memory_mcp.core.note import Card
from memory_mcp.recall.block import units
from memory_mcp.recall.bodies import Body
from memory_mcp.recall.heard import WRAPPER
from memory_mcp.recall.section import IndexSection
from memory_mcp.recall.shown import mark
from memory_mcp.settings.prompts import shipped

OPENING_CHARS = 9_000
"""UTF-16 units of the text as JSON, where nobody says otherwise: what a hook may print, less what
stands around it."""
SEED_SHARE = 0.6
"""Of the characters that seeds may take."""

SEEDS = "## Always at hand"


@dataclass(frozen=True, slots=True)
class Opened:
    """The text, and keys of what is in view from now on."""

    text: str
    keys: tuple[str, ...] = ()


def whole(card: Card) -> str:
    """What stands for a note that was shown as a whole."""
    return mark(f"{card.reference}@{card.revision}")


async def opened(
    section: IndexSection,
    seeds: Sequence[Body],
    seen: Container[str],
    max_bytes: int,
    max_chars: int,
) -> Opened:
    """The opening text with what is not in view (`seen`) yet; `max_bytes` bounds the seeds.

    A seed is whole, or left out and counted; a smaller one after it may still fit.
    """
    key, guidance = mark(section.text), shipped("opening").strip()
    new = [seed for seed in seeds if whole(seed.card) not in seen]
    room = max_chars - units(_wrapped([guidance, SEEDS, "", ""])) - 200
    frames, given = _fitting(new, max_bytes, int(room * SEED_SHARE))
    parts = [SEEDS, *frames] if frames else []
    left = len(new) - len(given)
    if left:
        parts.append(
            f"{left} more seed {'note is' if left == 1 else 'notes are'} too long to be given:"
            " memory_search finds what they say."
        )
    if key not in seen:
        room -= sum(units(part) + 2 for part in parts)
        parts = [guidance, *parts, await _section(section, room)]
    if not parts:
        return Opened("")
    keys = [key, *(whole(seed.card) for seed in given)]
    return Opened(_wrapped(parts), tuple(keys))


async def _section(section: IndexSection, room: int) -> str:
    """The section in so many UTF-16 units as JSON: it is made in bytes, and marks cost more."""
    size = room
    text = await section.within(size)
    while units(text) > room and size > 0:
        size = size * room // units(text) - 1
        text = await section.within(max(1, size))
    return text.rstrip()


def _fitting(
    seeds: Sequence[Body], max_bytes: int, max_chars: int
) -> tuple[list[str], list[Body]]:
    frames: list[str] = []
    given: list[Body] = []
    for seed in seeds:
        text = frame(seed.card, seed.text)
        size, chars = len(seed.text.encode()), units(text) + 2
        if size <= max_bytes and chars <= max_chars:
            max_bytes -= size
            max_chars -= chars
            frames.append(text)
            given.append(seed)
    return frames, given


def _wrapped(parts: Sequence[str]) -> str:
    return "\n\n".join([f"<{WRAPPER}>", *parts, f"</{WRAPPER}>"])
