"""What a BM25 score depends on beyond one document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

K1, B = 1.2, 0.75  # Lucene's; on our questions they hardly matter
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What scores depend on beyond one document; pooled over several indexes by adding."""

    documents: int
    length: int

    @property
    def average(self) -> float:
        """Mean length of a document, 1 where there is nothing to divide."""
        return self.length / self.documents if self.length else 1.0


def lucene_idf(documents: int, df: int) -> float:
    """log(1 + (N - df + 0.5) / (df + 0.5)): Lucene's, above zero in any collection."""
    if documents == 0:
        return 0.0
    return math.log(1 + (documents - df + 0.5) / (df + 0.5))


def norms(
    statistics: Statistics, lengths: npt.NDArray[np.integer[Any]], k1: float = K1, b: float = B
) -> Floats:
    """What the lengths of documents do to their scores."""
    made: Floats = k1 * (1 - b + b / statistics.average * lengths.astype(np.float64))
    return made


def bm25(
    tf: npt.NDArray[np.integer[Any]],
    lengths: npt.NDArray[np.integer[Any]],
    statistics: Statistics,
    idf: Sequence[float],
    k1: float = K1,
    b: float = B,
) -> Floats:
    """What each term adds to the score of each document, shape (documents, terms), by how often it
    is in it."""
    size = norms(statistics, lengths, k1, b)[:, None]
    weighed: Floats = np.asarray(idf) * tf * (k1 + 1) / (tf + size)
    return weighed
