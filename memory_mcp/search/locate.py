"""Which note a reference names, also while the index does not know all notes yet."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import anyio.to_thread

from memory_mcp.core.errors import MemoryMcpError, NotFoundError
from memory_mcp.core.links import target_of
from memory_mcp.core.reference import split
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
        sources = [
            source for source in index.sources if source_ids is None or source.id in source_ids
        ]
        name, path = split(text, {source.name for source in sources})
        named = [source for source in sources if name in (None, source.name)]
        found = await anyio.to_thread.run_sync(_holders, named, path)
        if len(found) == 1:
            return found[0], path
        called = index.names.labelled(text, source_ids)
        if found or called is None:
            raise
        return called


def _holders(sources: Sequence[Source], path: str) -> list[Source]:
    found = []
    for source in sources:
        try:
            files.read(source, path)
        except MemoryMcpError:  # not in this source; what the index said is raised in the end
            continue
        found.append(source)
    return found
