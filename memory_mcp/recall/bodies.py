"""The body of a note as it is on disk at this moment."""

from __future__ import annotations

from dataclasses import dataclass, replace

import anyio.to_thread

from memory_mcp.core import private
from memory_mcp.core.config import ChunkSettings, Config
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.language import DEFAULT
from memory_mcp.core.note import Card
from memory_mcp.core.parse import parse
from memory_mcp.index.table import Entry
from memory_mcp.notes import files


@dataclass(frozen=True, slots=True)
class Body:
    """What a note says, without its header and its private parts."""

    card: Card
    text: str
    passages: tuple[str, ...] = ()
    """Texts of its passages, as the index has them."""


async def body(entry: Entry, chunking: ChunkSettings) -> Body | None:
    """Read a note now; None where it is gone, cannot be read, or says nothing."""
    return await anyio.to_thread.run_sync(_read, entry, chunking)


def _read(entry: Entry, chunking: ChunkSettings) -> Body | None:
    source, path = entry.source, entry.card.path
    try:
        content = files.read(source, path)
    except MemoryMcpError:  # deleted meanwhile: a turn goes on without it
        return None
    note = parse(
        source.name, source.kind, path, content.data, content.modified, chunking, language=DEFAULT
    )
    text = private.strip(note.body).strip()
    # Which note of two inboxes the name stands for is no property of the file.
    card = replace(note.card, scope=entry.card.scope, shadowed=entry.card.shadowed)
    return Body(card, text, tuple(one.text for one in note.passages)) if text else None


def may_come(config: Config, card: Card) -> bool:
    """Whether a note may be shown unasked: not one from outside, unless the settings let it."""
    return card.trusted or config.writing.allow_pin_untrusted
