"""An index of folders of notes, built as the product builds it, and the evidence it gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from benchmarks.quality.ways import Way
from memory_mcp.core.config import Config
from memory_mcp.core.ports import Embedder
from memory_mcp.index.embedder import make_embedder
from memory_mcp.index.index import Index
from memory_mcp.index.view import IndexView
from memory_mcp.notes.sources import open_sources
from memory_mcp.search.gather import Found
from memory_mcp.search.hit import SearchRequest
from memory_mcp.search.search import Ranking, Searcher


class World:
    """An index that is complete. Evidence is looked up once and ranked in many ways."""

    def __init__(self, index: Index) -> None:
        self._view = IndexView(index, index.sources)
        self._searchers: dict[str, Searcher] = {}

    async def look(self, text: str, folder: str | None = None) -> Found:
        """The evidence for a question, in all notes or those below a folder."""
        return await self._searcher(Way("any")).look(SearchRequest(text, path_prefix=folder))

    def ranked(self, found: Found, way: Way) -> Ranking:
        """Evidence ranked in one way."""
        return self._searcher(way).ranked(found)

    def names(self, ranking: Ranking) -> tuple[str, ...]:
        """References of the notes of a ranking, in the order of the hits."""
        return tuple(self._view.names.reference(*group.note) for group in ranking.groups)

    def _searcher(self, way: Way) -> Searcher:
        if way.name not in self._searchers:
            self._searchers[way.name] = Searcher(self._view, way.settings, way.weights)
        return self._searchers[way.name]


@asynccontextmanager
async def indexed(
    home: Path, vaults: Mapping[str, Path], embedding: Mapping[str, str]
) -> AsyncIterator[World]:
    """A home with these folders as vaults, complete with vectors; its cache stays in `home`.
    `embedding` are settings as in `config.yml`; empty means the bundled model."""
    config = Config.model_validate(
        {
            "home": str(home),
            "sources": {name: {"path": str(folder)} for name, folder in vaults.items()},
            "embedding": dict(embedding),
            "index": {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0},
        }
    )
    embedder: Callable[[], Embedder] | None = make_embedder(config.embedding)
    index = Index(config, open_sources(config), embedder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(index.run)
        await index.settled()
        yield World(index)
        tasks.cancel_scope.cancel()
