"""Notes that are near one that was written, and the text of a note to compare."""

from __future__ import annotations

import logging

from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.frontmatter import split
from memory_mcp.core.plain import clip, plain
from memory_mcp.core.private import strip
from memory_mcp.core.words import query_terms
from memory_mcp.curate.write.results import Similar
from memory_mcp.index.frames import frames
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
OWN_KINDS = ("memory", "wiki")
"""Kinds of sources that are memory itself, and no one's vault."""


async def find_similar(
    searcher: Searcher, index: IndexView, reference: str, text: str
) -> tuple[Similar, ...]:
    """Notes of inbox and wiki that are near in words or meaning, the nearest first.

    A failure gives none: the note that was just written is safe, and that is what counts.
    """
    body = strip(split(text).body)
    asked = clip(plain(body), _MAX_ASKED)
    names = tuple({source.name for source in index.sources if source.kind in OWN_KINDS})
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
