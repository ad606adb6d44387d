"""What a BM25 score depends on beyond one document."""

from __future__ import annotations

import math
from dataclasses import dataclass


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
