"""The functions with which a model files a note in the wiki: pages only, and each read before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.note import Card, Json
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.planner import WIKI, Planner
from memory_mcp.curate.toolbox.toolbox import READING, Toolbox
from memory_mcp.curate.wiki.page_names import check_new_page

NAMES = (*READING, "wiki_create", "wiki_edit")


class PageToolbox(Toolbox):
    """Reads everything, makes pages of names that are free, changes pages that were read whole."""

    def __init__(self, parts: Parts, planner: Planner) -> None:
        super().__init__(parts, planner, NAMES, read_first=True)
        self.refusal = ""
        """Why the last call that was refused was so; empty where all were taken."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """As of any toolbox; what is refused is remembered."""
        try:
            return await super().call(name, arguments)
        except MemoryMcpError as error:
            self.refusal = str(error)
            raise

    async def wiki_create(
        self, path: str, content: str, frontmatter: Mapping[str, Json] | None = None
    ) -> str:
        """Create a wiki page, which all agents and people share. Fails where there is one, or one
        of that name in another place."""
        check_new_page(self._planner.page(path).path, self._cards())
        return await super().wiki_create(path, content, frontmatter)

    async def wiki_edit(self, path: str, **edit: Any) -> str:
        """Change a wiki page in part: old_text and new_text, append, or heading and content. You
        must have read all of the page as it is now."""
        spot = self._planner.page(path)
        if await self._planner.read(spot) is not None:
            self._seen.check_whole(spot)
        return await super().wiki_edit(path, **edit)

    def _cards(self) -> list[Card]:
        index = self._parts.index
        ids = [source.id for source in index.sources if source.kind == WIKI]
        return [entry.card for entry in index.entries(ids)]
