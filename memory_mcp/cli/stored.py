"""Examining what is stored of the index: the two databases, and vectors against their texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from memory_mcp.cli.finding import Finding
from memory_mcp.core.note import Passage
from memory_mcp.core.ports import Embedder
from memory_mcp.index.cache import EmbeddingCache
from memory_mcp.index.catalog import NAME, Catalog, Row

SAMPLE = 12
"""Passages that are embedded again: damage shows in a few, and a paid model costs little."""

ALIKE = 0.99
"""Least cosine of a stored vector and one made now; providers round a little."""

DELETE = "delete it; it is made again from your notes"


def examine_stored(folder: Path, embedder: Embedder | None) -> Iterator[Finding]:
    """Findings on `<home>/.index`. Nothing is changed or repaired. Blocking."""
    sound = True
    for name in (NAME, "embeddings.sqlite3"):
        finding = _database(folder / name)
        sound = sound and finding.state == "good"
        yield finding
    if sound and embedder is not None:
        yield _vectors(folder, embedder)


def _database(path: Path) -> Finding:
    subject = f".index/{path.name}"
    if not path.exists():
        return Finding(subject, "remark", "not made yet; the first search makes it")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
            said = str(base.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        return Finding(subject, "wrong", f"damaged: {said.splitlines()[0]}", DELETE)
    return Finding(subject, "good", f"sound, {path.stat().st_size / 1e6:.1f} MB")


def _vectors(folder: Path, embedder: Embedder) -> Finding:
    """Embed a sample of passages again and compare with what is stored."""
    catalog, cache = Catalog(folder), EmbeddingCache(folder)
    try:
        rows = [row for row in catalog.rows() if row.identity == embedder.identity]
        passages = _sample(catalog, rows)
        keys = [passage.key for passage in passages]
        stored = cache.load(embedder.identity, keys, embedder.dimension)
    finally:
        catalog.close()
        cache.close()
    subject = "stored vectors"
    if not passages:
        return Finding(subject, "remark", f"none of {embedder.model} yet")
    missing = len(set(keys) - stored.keys())
    again = embedder.passages([passage.embedded for passage in passages])
    off = [
        passage.heading
        for passage, vector in zip(passages, again, strict=True)
        if passage.key in stored and float(np.dot(stored[passage.key], vector)) < ALIKE
    ]
    if off:
        text = f"{len(off)} of {len(passages)} tried are not those of their text: {off[0]}"
        return Finding(subject, "wrong", text, "run memory-mcp reindex --embeddings")
    if missing:
        text = f"{missing} of {len(passages)} tried are missing"
        return Finding(subject, "wrong", text, "run memory-mcp reindex")
    return Finding(subject, "good", f"{len(passages)} embedded again, all as stored")


def _sample(catalog: Catalog, rows: Sequence[Row]) -> list[Passage]:
    """Passages of notes spread over the whole catalog, one of each note."""
    step = max(1, len(rows) // SAMPLE)
    found: list[Passage] = []
    for row in rows[::step][:SAMPLE]:
        for parsed in catalog.contents(row.source_id, [row.path]):
            found.extend(parsed.passages[:1])
    return found
