"""Unit vectors: every embedder's output passes here before anybody sees it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memory_mcp.core.errors import EmbeddingError
from memory_mcp.core.ports import Vectors


def unit_vectors(values: npt.ArrayLike, count: int, dimension: int | None, model: str) -> Vectors:
    """`values` as unit vectors, shape (count, dimension). Raises EmbeddingError where a model gave
    another number or length of vectors, one that is no number, or one without a direction."""
    try:
        vectors = np.asarray(values, np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{model} answered with something else than vectors") from error
    if count == 0:
        return np.empty((0, dimension or 0), np.float32)
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbeddingError(
            f"{model} answered with shape {vectors.shape} to {count} texts, not a vector each"
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise EmbeddingError(
            f"{model} answered with {vectors.shape[1]} numbers a vector instead of {dimension}: it"
            " is another model now; restart to index with it"
        )
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise EmbeddingError(f"{model} answered with a vector that has no direction (zero or NaN)")
    unit: Vectors = (vectors / norms).astype(np.float32)
    return unit


def mean_direction(vectors: Vectors) -> Vectors:
    """The unit vector amid unit vectors, shape (dimension,). Where they cancel out, the last."""
    mean = vectors.mean(axis=0)
    norm = float(np.linalg.norm(mean))
    direction: Vectors = (mean / norm if norm > 1e-6 else vectors[-1]).astype(np.float32)
    return direction
