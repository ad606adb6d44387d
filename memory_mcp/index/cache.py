"""The embedding cache on disk: (identity, passage key) -> vector, and its tokens where the model
tells them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from memory_mcp.core.ports import Tokens, Vectors
from memory_mcp.index.database import Database
from memory_mcp.index.tokens import pack, unpack

_LAYOUT = """
CREATE TABLE IF NOT EXISTS vectors (
    identity TEXT NOT NULL, key TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (identity, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tokens (
    identity TEXT NOT NULL, key TEXT NOT NULL, tokens BLOB NOT NULL,
    PRIMARY KEY (identity, key)
)
"""
_ONCE = 500  # keys in one question


class EmbeddingCache:
    """Vectors on disk as little-endian float32. Blocking; raises StorageError."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "embeddings.sqlite3", _LAYOUT, version=2)

    def load(self, identity: str, keys: Sequence[str], dimension: int) -> dict[str, Vectors]:
        """The vectors that are there. One that is cut or is no unit vector counts as missing."""

        def work(connection: sqlite3.Connection) -> dict[str, Vectors]:
            found: dict[str, Vectors] = {}
            for start in range(0, len(keys), _ONCE):
                some = keys[start : start + _ONCE]
                marks = ",".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT key, vector FROM vectors WHERE identity = ? AND key IN ({marks})",
                    (identity, *some),
                )
                found.update(_sound(rows, dimension))
            return found

        return self.database.run(work)

    def tokens(self, identity: str, keys: Sequence[str]) -> dict[str, Tokens]:
        """The tokens that are there, at most 500 at once."""

        def work(connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
            marks = ",".join("?" * len(keys[:_ONCE]))
            return connection.execute(
                f"SELECT key, tokens FROM tokens WHERE identity = ? AND key IN ({marks})",
                (identity, *keys[:_ONCE]),
            ).fetchall()

        rows = self.database.run(work)
        return {key: known for key, data in rows if (known := unpack(data)) is not None}

    def save(
        self,
        identity: str,
        vectors: Mapping[str, Vectors],
        tokens: Mapping[str, Tokens] | None = None,
    ) -> None:
        """Keep vectors and tokens; those that are there already are replaced."""
        rows = [(identity, key, _blob(vector)) for key, vector in vectors.items()]
        more = [(identity, key, pack(some)) for key, some in (tokens or {}).items()]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            connection.executemany("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)", more)

        self.database.run(work)

    def forget(self, identity: str, keep: Collection[str] | None = None) -> int:
        """Drop the vectors of an identity, all or those whose key is not in `keep`; how many."""
        kept = set(keep or ())

        def work(connection: sqlite3.Connection) -> int:
            rows = connection.execute("SELECT key FROM vectors WHERE identity = ?", (identity,))
            gone = [(identity, key) for (key,) in rows if key not in kept]
            for table in ("vectors", "tokens"):
                command = f"DELETE FROM {table} WHERE identity = ? AND key = ?"
                connection.executemany(command, gone)
            return len(gone)

        return self.database.run(work)

    def close(self) -> None:
        """Close the file."""
        self.database.close()


def _blob(vector: Vectors) -> bytes:
    return np.asarray(vector, "<f4").tobytes()


def _sound(rows: Iterable[tuple[str, bytes]], dimension: int) -> dict[str, Vectors]:
    found: dict[str, Vectors] = {}
    for key, blob in rows:
        if len(blob) != 4 * dimension:
            continue
        vector = np.frombuffer(blob, "<f4").astype(np.float32)
        if abs(float(np.dot(vector, vector)) - 1.0) < 1e-3:  # false for NaN too
            found[key] = vector
    return found
