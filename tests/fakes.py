"""Fakes that satisfy the ports: an embedder that hashes words, a clock that is set by hand."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from memory_mcp.core.ports import Vectors


class HashEmbedder:
    """A bag of hashed words as a unit vector: equal words are near, meaning is not known."""

    def __init__(self, dimension: int = 32) -> None:
        self.dimension = dimension
        self.identity = f"hash/{dimension}"
        self.model = f"hash-{dimension}"
        self.batch = 64
        self.band = None
        self.calls: list[str] = []
        """Every text that was embedded as a passage, in order."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension)."""
        self.calls.extend(texts)
        return np.stack([self._vector(text) for text in texts]) if texts else self._empty()

    def query(self, text: str) -> Vectors:
        """The unit vector of a question."""
        return self._vector(text)

    def _empty(self) -> Vectors:
        return np.empty((0, self.dimension), np.float32)

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(self.dimension, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.sha256(word.encode()).digest()
            vector[digest[0] % self.dimension] += 1.0
        norm = float(np.linalg.norm(vector))
        if norm == 0:
            vector[0], norm = 1.0, 1.0
        return (vector / norm).astype(np.float32)


class FixedClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2026, 3, 14, 9, 30, tzinfo=UTC)

    def now(self) -> datetime:
        """The time that was set."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)
