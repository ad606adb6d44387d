"""Which note a caller means who may leave the source out."""

from __future__ import annotations

from collections.abc import Sequence

from memory_mcp.core.errors import RefusedError
from memory_mcp.index.view import IndexView
from memory_mcp.notes.sources import Source
from memory_mcp.search.locate import locate


def inbox_of(sources: Sequence[Source]) -> Source:
    """The source that the write tools change. Raises RefusedError where there is none."""
    for source in sources:
        if source.kind == "memory":
            return source
    raise RefusedError(
        "There is no source named memory, so nothing can be written; configure one."
    )


async def place_of(
    index: IndexView, inbox: Source, text: str, *, missing: bool = False
) -> tuple[Source, str]:
    """(source, path) of the note that `text` names; a plain name means the inbox first.

    `missing` allows a note that is not there (any more). Raises InputError, NotFoundError,
    AmbiguousError.
    """
    name, places = index.places(text)
    path = places[0][1]
    if name is None and index.entry(inbox.id, path) is not None:
        return inbox, path
    if missing:
        return (inbox if name in (None, inbox.name) else places[0][0]), path
    return await locate(index, text)
