"""Which note a reference names, also while the index does not know all notes yet."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import anyio.to_thread

from memory_mcp.core.errors import MemoryMcpError, NotFoundError
from memory_mcp.core.links import target_of
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files
from memory_mcp.notes.sources import Source


async def locate(
    index: IndexView, text: str, source_ids: Collection[str] | None = None
) -> tuple[Source, str]:
    """The note that a reference names, as (source, path): by the index; a path that the index
    does not know yet, after a start or a change in an editor, is looked for on disk. What is no
    path may be an alias, a name or a title, and all of it may stand between `[[` and `]]`.

    Raises InputError, NotFoundError with near matches, AmbiguousError with the candidates.
    """
    text = target_of(text)
    try:
        return index.names.resolve(text, source_ids)
    except NotFoundError:
        name, places = index.places(text)
        seen = [one for one in places if source_ids is None or one[0].id in source_ids]
        found = await anyio.to_thread.run_sync(_holding, seen)
        if found and (len(found) == 1 or name is not None):
            return found[0]
        called = index.names.labelled(text, source_ids)
        if found or called is None:
            raise
        return called


def _holding(places: Sequence[tuple[Source, str]]) -> list[tuple[Source, str]]:
    found = []
    for place in places:
        try:
            files.read(*place)
        except MemoryMcpError:  # not in this source; what the index said is raised in the end
            continue
        found.append(place)
    return found
