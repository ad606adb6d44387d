"""Notes of the inbox as Deep looks at them, and which of them stay where they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import anyio.to_thread

from memory_mcp.core.decoding import decode
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.frontmatter import Loaded, split_and_load
from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Card, Json
from memory_mcp.core.parse import revision_of
from memory_mcp.core.private import hide
from memory_mcp.curate.deep.origins import stated
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files
from memory_mcp.notes.sources import Source


@dataclass(frozen=True, slots=True)
class InboxNote:
    """A note as it was read, and what the index knows of it."""

    spot: Spot
    data: bytes
    card: Card

    @property
    def reference(self) -> str:
        """Its name."""
        return self.spot.reference

    @property
    def revision(self) -> str:
        """Of the bytes that were read."""
        return revision_of(self.data)

    @property
    def text(self) -> str:
        """All of it."""
        return self.data.decode("utf-8", "replace")

    @property
    def body(self) -> str:
        """What a page must say before the note may go."""
        return split_and_load(self.text)[0].body

    @property
    def values(self) -> dict[str, Json]:
        """What its header says."""
        return self._loaded().values

    @property
    def names(self) -> str:
        """What it is called, in title and name."""
        return f"{self.card.title}\n{self.spot.path}"

    @property
    def day(self) -> str:
        """The day for which it stands; empty where nothing says one."""
        return stated(self.values, self.card.modified)

    @property
    def outside(self) -> str:
        """Where it came from, if from outside; else empty."""
        origin = metadata(self.values).provenance
        if origin is None or origin.trusted:
            return ""
        return origin.url or origin.kind or "?"

    def why_it_stays(self) -> str | None:
        """Why a person wants it where it is, or it cannot be moved; None where it may go."""
        if decode(self.data).text is None or self._loaded().state == "broken":
            return "its header or text cannot be read"
        known = metadata(self.values)
        if self.values.get("wiki_promote") is False:
            return "wiki_promote is false"
        if known.pinned:
            return "it is pinned"
        if known.seed or known.triggers:
            return "it is given unasked (metadata.seed, metadata.triggers)"
        if hide(self.text)[1]:
            return "it has private parts, and the wiki is for all"
        return None if self.body.strip() else "it has no text"

    def _loaded(self) -> Loaded:
        return split_and_load(self.text)[1]


async def inbox_notes(index: IndexView, inbox: Source) -> tuple[InboxNote, ...]:
    """The notes of an inbox, by the day for which they stand: what is newer is read later."""
    cards = [entry.card for entry in index.entries((inbox.id,))]
    found = [note for card in cards if (note := await read_note(inbox, card)) is not None]
    return tuple(sorted(found, key=lambda note: (note.day, note.spot.path)))


async def read_note(inbox: Source, card: Card) -> InboxNote | None:
    """A note as it is on disk now; None where it is gone or cannot be read."""
    try:
        content = await anyio.to_thread.run_sync(partial(files.read, inbox, card.path))
    except MemoryMcpError:
        return None
    return InboxNote(Spot(inbox, card.path), content.data, card)
