"""Which vector store: a server where one is named, else by the number of passages. And where the
words are: in memory, or on that server if the settings say so."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from memory_mcp.core.config import Config
from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import VectorStore, WordSearch
from memory_mcp.index import edge
from memory_mcp.index.catalog import FOLDER
from memory_mcp.index.dense import DenseStore
from memory_mcp.index.identity import derivation
from memory_mcp.index.known import Known
from memory_mcp.index.queue import Pulse
from memory_mcp.index.server import ServerStore
from memory_mcp.index.server_words import WordCollection
from memory_mcp.index.table import Table
from memory_mcp.index.tenant import tenant
from memory_mcp.index.word_search import MemoryWords, ServerWords
from memory_mcp.index.wordview import without_postings

log = logging.getLogger(__name__)

EDGE_FROM = 20_000
"""Passages from which qdrant-edge is worth its disk space: a question then takes the embedded
client 2 ms and more, five times as long."""


def wants_edge(config: Config, passages: int) -> bool:
    """Whether so many passages belong in qdrant-edge, and it is installed."""
    return config.vectors.url is None and passages > EDGE_FROM and edge.is_installed()


def open_store(config: Config, identity: str, dimension: int, passages: int) -> VectorStore:
    """The store for the vectors of a model. Blocking; raises StorageError where a server does not
    answer. Where edge cannot be used the embedded client is."""
    if config.vectors.url is not None:
        home = tenant(Path(config.home))
        return ServerStore(config.vectors, home, identity, dimension)
    if wants_edge(config, passages):
        try:
            return open_edge(config, dimension)
        except StorageError as error:
            log.warning("%s", error)
    return DenseStore(dimension)


def open_edge(config: Config, dimension: int) -> VectorStore:
    """The store on qdrant-edge. Blocking; raises StorageError where it cannot be had."""
    return edge.EdgeStore(Path(config.home) / FOLDER, dimension)


def open_words(
    config: Config, known: Mapping[str, Known], pulse: Pulse
) -> tuple[Table, WordSearch]:
    """A table that keeps of words what has to be kept here, and what searches them. Nothing is
    asked of a server yet."""
    if config.vectors.words == "memory":
        return Table(), MemoryWords()
    table = Table(words=without_postings)
    collection = WordCollection(config.vectors, partial(tenant, Path(config.home)))
    return table, ServerWords(collection, derivation(config), table, known, pulse)
