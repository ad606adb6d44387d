"""An index of a folder of notes, built as the product builds it, and the ways to rank it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from memory_mcp.core.config import Config, SearchSettings
from memory_mcp.core.ports import Embedder
from memory_mcp.index.embedder import make_embedder
from memory_mcp.index.index import Index
from memory_mcp.index.view import IndexView
from memory_mcp.notes.sources import open_sources
from memory_mcp.search.rank import Weights
from memory_mcp.search.search import Searcher

BARE = Weights(note=0, pair=0, date=0)
NO_RULES = {"slug_match_boost": 1, "slug_full_name_boost": 1, "log_demotion": 1}


@dataclass(frozen=True, slots=True)
class SetUp:
    """One way to rank."""

    name: str
    settings: SearchSettings
    weights: Weights


def _leg(name: str, vector_weight: float) -> SetUp:
    settings = SearchSettings.model_validate({"vector_weight": vector_weight, **NO_RULES})
    return SetUp(name, settings, BARE)


SET_UPS = (
    _leg("words alone", 0.0),
    _leg("vectors alone", 1.0),
    _leg("fixed .7/.3", 0.7),
    SetUp("hybrid (default)", SearchSettings(), Weights()),
)


@asynccontextmanager
async def indexed(home: Path, source: str, folder: Path) -> AsyncIterator[Index]:
    """An index with this folder as a vault, complete with vectors; its cache stays in `home`."""
    config = Config.model_validate(
        {
            "home": str(home),
            "sources": {source: {"path": str(folder)}},
            "index": {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0},
        }
    )
    embedder: Callable[[], Embedder] | None = make_embedder(config.embedding)
    index = Index(config, open_sources(config), embedder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(index.run)
        await index.settled()
        yield index
        tasks.cancel_scope.cancel()


def searcher(index: Index, set_up: SetUp) -> Searcher:
    """A searcher that ranks this way."""
    return Searcher(IndexView(index, index.sources), set_up.settings, set_up.weights)
