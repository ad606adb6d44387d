"""A small home that can be asked and read, for tests of this floor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memory_mcp.core.config import SearchSettings
from memory_mcp.core.ports import Embedder
from memory_mcp.index.embedder import BundledEmbedder
from memory_mcp.index.index import Index
from memory_mcp.index.view import IndexView
from memory_mcp.search.hit import Hit, SearchRequest
from memory_mcp.search.read import Reader
from memory_mcp.search.search import Searcher
from tests.index.world import World


@cache
def bundled() -> Embedder:
    """The real model, loaded once for all tests."""
    return BundledEmbedder()


@dataclass(frozen=True, slots=True)
class Asked:
    """Something to ask, over a running index."""

    world: World
    index: Index
    searcher: Searcher
    reader: Reader

    async def hits(self, query: str, **more: Any) -> tuple[Hit, ...]:
        """What a search finds."""
        return (await self.searcher.search(SearchRequest(query, **more))).hits

    async def references(self, query: str, **more: Any) -> list[str]:
        """References of what a search finds, in order."""
        return [hit.card.reference for hit in await self.hits(query, **more)]


@asynccontextmanager
async def searching(
    root: Path,
    files: Mapping[str, str],
    embedder: Callable[[], Embedder] | None = None,
    settings: SearchSettings | None = None,
    words_only: bool = False,
) -> AsyncIterator[Asked]:
    """A home with these notes (reference -> text), indexed. Words are hashed where no embedder is
    given."""
    world = World(root, embedder)
    if words_only:
        world.load = None
    for reference, text in files.items():
        world.write(reference, text)
    async with world.running() as index:
        yield Asked(
            world,
            index,
            Searcher(IndexView(index, world.sources), settings or SearchSettings()),
            Reader(IndexView(index, world.sources), world.sources, world.config.chunking),
        )
