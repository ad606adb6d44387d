"""Ports: only where two implementations live today."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Clock(Protocol):
    """The only way to know the time."""

    def now(self) -> datetime:
        """The current time, with its offset."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors. Blocking; called on a worker thread."""

    @property
    def identity(self) -> str:
        """Provider, weights, dimension, prefixes, pooling, normalisation: what may be mixed."""
        ...

    @property
    def model(self) -> str:
        """A short name for people."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def batch(self) -> int:
        """How many texts one call of `passages` should get at most."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of texts to find, shape (len(texts), dimension). Raises EmbeddingError."""
        ...

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,). Raises EmbeddingError."""
        ...


class VectorIndex(Protocol):
    """Nearest neighbours among unit vectors, by integer ids. Blocking; owned by one lane."""

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add or replace vectors."""
        ...

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        ...

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        """(id, cosine), best first."""
        ...

    def count(self) -> int:
        """How many vectors there are."""
        ...

    def close(self) -> None:
        """Let go of all resources."""
        ...
