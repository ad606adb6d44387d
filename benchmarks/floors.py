"""The least that a hybrid search can cost: bare libraries over the same vectors and words.

Each answers with its hundred best by vector and its hundred best by words, and nothing else: no
fusion, no filter, no text, no answer to what changes meanwhile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from memory_mcp.core.ports import Vectors

DEPTH = 100


class Floor(Protocol):
    """A pair of engines that is filled once and asked often."""

    name: str

    def ask(self, vector: Vectors, words: Sequence[str]) -> int:
        """How many candidates both legs gave."""
        ...


class NumpyAndTantivy:
    """A matrix product over all vectors, and tantivy in memory over the counted words."""

    name = "numpy + tantivy"

    def __init__(self, vectors: Vectors, texts: Sequence[str]) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_unsigned_field("id", stored=True)
        schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        self._tantivy = tantivy
        self._index = tantivy.Index(schema.build())
        writer = self._index.writer(128_000_000, 1)
        for number, text in enumerate(texts):
            document = tantivy.Document()
            document.add_unsigned("id", number)
            document.add_text("words", text)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._vectors = vectors

    def ask(self, vector: Vectors, words: Sequence[str]) -> int:
        """How many candidates both legs gave."""
        scores = self._vectors @ vector
        depth = min(DEPTH, len(scores))
        best = np.argpartition(-scores, depth - 1)[:depth]
        near = best[np.argsort(-scores[best])].tolist()
        query = self._tantivy.Query
        schema, should = self._index.schema, self._tantivy.Occur.Should
        parts = [(should, query.term_query(schema, "words", word)) for word in words]
        found = self._searcher.search(query.boolean_query(parts), DEPTH, count=False)
        return len(near) + len(found.hits)


class SqliteVecAndFts:
    """sqlite-vec and FTS5 in one database in memory. Raises where the extension does not load."""

    name = "sqlite-vec + FTS5"

    def __init__(self, vectors: Vectors, texts: Sequence[str]) -> None:
        import sqlite_vec

        self._db = db = sqlite3.connect(":memory:")
        db.enable_load_extension(True)
        sqlite_vec.load(db)
        db.enable_load_extension(False)
        size = vectors.shape[1]
        db.execute(
            f"CREATE VIRTUAL TABLE v USING vec0(vector float[{size}] distance_metric=cosine)"
        )
        db.execute("CREATE VIRTUAL TABLE w USING fts5(words, content='')")
        rows = enumerate(zip(vectors, texts, strict=True))
        for number, (vector, text) in rows:
            db.execute("INSERT INTO v(rowid, vector) VALUES (?, ?)", (number, vector.tobytes()))
            db.execute("INSERT INTO w(rowid, words) VALUES (?, ?)", (number, text))
        db.commit()

    def ask(self, vector: Vectors, words: Sequence[str]) -> int:
        """How many candidates both legs gave."""
        near = self._db.execute(
            "SELECT rowid, distance FROM v WHERE vector MATCH ? AND k = ?",
            (vector.tobytes(), DEPTH),
        ).fetchall()
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._db.execute(
            "SELECT rowid, rank FROM w WHERE w MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH)
        ).fetchall()
        return len(near) + len(found)
