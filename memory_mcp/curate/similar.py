"""Notes that say the same, or nearly."""

from __future__ import annotations

import logging

import anyio.to_thread

from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.frontmatter import split
from memory_mcp.core.plain import clip, plain
from memory_mcp.core.private import strip
from memory_mcp.core.saying import saying
from memory_mcp.core.words import query_terms
from memory_mcp.curate.results import Similar
from memory_mcp.index.frames import frames
from memory_mcp.index.table import Entry
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files
from memory_mcp.notes.sources import Source
from memory_mcp.search.hit import SearchRequest
from memory_mcp.search.search import Searcher

log = logging.getLogger(__name__)

SIMILAR = 0.6
"""Confidence from which a note is worth a look before a second one on the subject stands."""

_MAX_ASKED = 600  # characters of the text that are asked for: its beginning says what it is about
_MAX_SIMILAR = 3
_MAX_CANDIDATES = 20
_OWN_KINDS = ("memory", "wiki")


async def find_similar(
    searcher: Searcher, index: IndexView, reference: str, text: str
) -> tuple[Similar, ...]:
    """Notes of inbox and wiki that are near in words or meaning, the nearest first.

    A failure gives none: the note that was just written is safe, and that is what counts.
    """
    body = strip(split(text).body)
    asked = clip(plain(body), _MAX_ASKED)
    names = tuple({source.name for source in index.sources if source.kind in _OWN_KINDS})
    if not query_terms(asked) or not names:
        return ()
    request = SearchRequest(asked, limit=_MAX_SIMILAR + 1, min_score=SIMILAR, sources=names)
    try:
        found = await searcher.search(request)
    except Exception as error:  # noqa: BLE001 - the write is done and must not look failed
        log.error("Looking for notes similar to %s failed: %s", reference, frames(error))
        return ()
    hits = [hit for hit in found.hits if hit.card.reference != reference]
    return tuple(Similar(hit.card.reference, hit.score) for hit in hits[:_MAX_SIMILAR])


async def find_same(index: IndexView, text: str) -> str | None:
    """The reference of an inbox or wiki note whose body, or a passage of it, says the same.

    What only dresses a text does not count (see `saying`); whatever may mean something does.
    """
    wanted = saying(text)
    if not wanted:
        return None
    for entry in _candidates(index, text):
        if any(saying(passage.text) == wanted for passage in entry.passages):
            return entry.card.reference
        body = await anyio.to_thread.run_sync(read_body, entry.source, entry.card.path)
        if saying(body) == wanted:
            return entry.card.reference
    return None


def read_body(source: Source, path: str) -> str:
    """The text of a note without header and private parts; empty where there is none to read.

    Blocking.
    """
    try:
        data = files.read(source, path).data
    except MemoryMcpError as error:
        log.info("%s/%s was not compared: %s", source.name, path, error)
        return ""
    return strip(split(data.decode("utf-8", "replace")).body)


def _candidates(index: IndexView, text: str) -> list[Entry]:
    """Notes that hold the words of a text, the best first."""
    own = {source.id: source for source in index.sources if source.kind in _OWN_KINDS}
    languages = {entry.card.language for entry in index.entries(own)} or {"en"}
    terms = query_terms(text, languages)
    points = [point for point, _ in index.words(own).passages(terms, _MAX_CANDIDATES)]
    found: dict[str, Entry] = {}
    for point in points:
        if (there := index.at(point)) is not None:
            found.setdefault(there[0].card.reference, there[0])
    return list(found.values())
