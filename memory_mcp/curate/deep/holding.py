"""Which pages say that they hold a note, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import anyio.to_thread

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.note import Json
from memory_mcp.core.saying import saying
from memory_mcp.curate.compare.loss import other_subject
from memory_mcp.curate.deep.inbox_note import InboxNote
from memory_mcp.curate.deep.origins import SOURCES, entries, names
from memory_mcp.curate.deep.promotion import unsaid
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.curate.plans.planner import WIKI
from memory_mcp.curate.wiki.page_names import is_own
from memory_mcp.index.table import Entry
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files

Holding: TypeAlias = dict[tuple[str, str], list[Spot]]
"""(reference, revision) of notes -> the pages that name them."""


async def holding(index: IndexView) -> Holding:
    """What the pages of the wiki say now, read from disk."""
    pages = [Spot(entry.source, entry.card.path) for entry in _entries(index)]
    return await anyio.to_thread.run_sync(_holding, pages)


async def held_by(pages: Sequence[Spot], note: InboxNote) -> bool:
    """Whether those of the pages that name this version of a note hold all of it, on disk, now."""
    return await anyio.to_thread.run_sync(_held, pages, note)


async def same_page(index: IndexView, note: InboxNote) -> str | None:
    """The path of a page whose text says the very same as a note, of the same thing."""
    wanted = saying(note.body)
    for entry in _entries(index) if wanted else ():
        for passage in entry.passages:
            if saying(passage.text) != wanted:
                continue
            names = f"{entry.card.title}\n{entry.card.path.rpartition('/')[2]}\n{passage.heading}"
            if not other_subject(note.names, note.body, names, passage.text):
                return entry.card.path
    return None


def _entries(index: IndexView) -> Iterator[Entry]:
    wikis = [source.id for source in index.sources if source.kind == WIKI]
    return (entry for entry in index.entries(wikis) if not is_own(entry.card.path))


def _holding(pages: Sequence[Spot]) -> Holding:
    found: Holding = {}
    for page in pages:
        for item in entries(_values(_read(page))):
            key = (str(item.get("note")), str(item.get("revision")))
            found.setdefault(key, []).append(page)
    return found


def _held(pages: Sequence[Spot], note: InboxNote) -> bool:
    found = [
        data
        for page in pages
        if (data := _read(page)) is not None
        and names(_values(data), note.reference, note.revision)
    ]
    return bool(found) and not unsaid(note.body, *found)


def _values(data: bytes | None) -> dict[str, Json]:
    if data is None or f"{SOURCES}:".encode() not in data:
        return {}
    return frontmatter.split_and_load(data.decode("utf-8", "replace"))[1].values


def _read(page: Spot) -> bytes | None:
    try:
        return files.read(page.source, page.path).data
    except MemoryMcpError:
        return None
