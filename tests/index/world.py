"""A small home with real files and a real index, for tests of this floor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from memory_mcp.core.config import Config
from memory_mcp.core.ports import Embedder
from memory_mcp.core.words import query_terms
from memory_mcp.index.index import Index
from memory_mcp.notes.sources import Source, open_sources
from tests.fakes import HashEmbedder

SECONDS = 8.0


class World:
    """A home below `root` with an inbox, a wiki and a vault; one index at a time."""

    def __init__(self, root: Path, embedder: Callable[[], Embedder] | None = None, **more: Any):
        self.home = root / "home"
        self.vault = root / "vault"
        self.vault.mkdir(parents=True, exist_ok=True)
        self.memory = self.home / "agents" / "default" / "memory"
        self.hash = HashEmbedder()
        self.load: Callable[[], Embedder] | None = embedder or (lambda: self.hash)
        settings: dict[str, Any] = {
            "home": str(self.home),
            "sources": {"vault": {"path": str(self.vault)}},
            "index": {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0},
        }
        self.config = Config(**{**settings, **more})
        self.sources = open_sources(self.config)

    def source(self, name: str) -> Source:
        return next(source for source in self.sources if source.name == name)

    def index(self) -> Index:
        return Index(self.config, self.sources, self.load)

    @asynccontextmanager
    async def running(self, *, settled: bool = True) -> AsyncIterator[Index]:
        """An index at work, cancelled at the end."""
        index = self.index()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(index.run)
            if settled:
                assert await index.settled(SECONDS), index.state()
            yield index
            tasks.cancel_scope.cancel()

    def write(self, reference: str, text: str) -> Path:
        """Write a note by `<source>/<path>` behind the index's back."""
        name, _, path = reference.partition("/")
        file = self.source(name).root / f"{path}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


async def until_settled(index: Index) -> None:
    """Sweep everything and wait until it is indexed."""
    await index.sweep()
    assert await index.settled(SECONDS), index.state()


async def until(index: Index, ready: Callable[[], bool]) -> None:
    """Wait until `ready`, looking after each change of the index."""
    happened = anyio.Event()
    end = index.subscribe(lambda event: happened.set())
    with anyio.fail_after(SECONDS):
        while not ready():
            await happened.wait()
            happened = anyio.Event()
    end()


def found(index: Index, query: str) -> list[str]:
    """References of the passages that hold a word of the query, best first."""
    view = index.words([source.id for source in index.sources])
    points = view.passages(query_terms(query, ("en",)), 20)
    references = []
    for point, _ in points:
        hit = index.at(point)
        assert hit is not None
        references.append(hit[0].card.reference)
    return list(dict.fromkeys(references))


async def near(index: Index, text: str, limit: int = 20) -> list[str]:
    """References of the passages nearest to a text, best first."""
    vector = await index.query_vector(text)
    if vector is None:
        return []
    points = await index.nearest([source.id for source in index.sources], vector, limit)
    hits = [index.at(point) for point, _ in points]
    return list(dict.fromkeys(hit[0].card.reference for hit in hits if hit is not None))
