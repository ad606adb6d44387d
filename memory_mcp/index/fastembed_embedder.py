"""Any embedding model by its name, through fastembed (an optional extra; downloads it once)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Vectors
from memory_mcp.index.identity import embedding_identity
from memory_mcp.index.prefixes import prefixes
from memory_mcp.index.probe import ANSWERS, QUESTIONS, band
from memory_mcp.index.unit import unit_vectors
from memory_mcp.index.windows import question_vector

DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"
_QUESTION = 256  # tokens; of a longer text its ends and windows are embedded
_CHARS_TOKEN = 4


class FastembedEmbedder:
    """A model that fastembed knows. Blocking; loading may download."""

    batch = 32

    def __init__(self, model: str | None) -> None:
        """Load a model by name. Raises ModelError where the extra is not installed, or the
        model is not known to fastembed or cannot be loaded."""
        self.model = model or DEFAULT_MODEL
        self._ask, self._tell = prefixes(self.model)
        self._engine = _load(self.model)
        self.dimension = len(self._embed(["dimension"], None)[0])
        self.band = band(self._asked(QUESTIONS), self.passages(ANSWERS))
        rules = f"fastembed/{self._tell.strip()}/unit"
        self.identity = embedding_identity("fastembed", self.model, "", self.dimension, rules)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension). Raises EmbeddingError."""
        return self._embed([self._tell + text for text in texts], self.dimension)

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,); a long one counts by its ends and
        windows. Raises EmbeddingError."""
        return question_vector(text, _QUESTION, lambda it: len(it) // _CHARS_TOKEN, self._asked)

    def _asked(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of questions: the prefix of ours, or what fastembed knows of the model."""
        embed = self._engine.embed if self._ask else self._engine.query_embed
        try:
            rows = np.stack(list(embed([self._ask + text for text in texts])))
        except (RuntimeError, ValueError, OSError) as error:
            raise EmbeddingError(f"{self.model} failed on a question: {error}") from error
        return unit_vectors(rows, len(texts), self.dimension, self.model)

    def _embed(self, texts: Sequence[str], dimension: int | None) -> Vectors:
        if not texts:
            return np.empty((0, dimension or 0), np.float32)
        try:
            rows = np.stack(list(chain(self._engine.embed(list(texts), batch_size=self.batch))))
        except (RuntimeError, ValueError, OSError) as error:
            raise EmbeddingError(f"{self.model} failed on {len(texts)} texts: {error}") from error
        return unit_vectors(rows, len(texts), dimension, self.model)


def _load(model: str) -> Any:
    try:
        from fastembed import TextEmbedding
    except ImportError as error:
        raise ModelError(
            f"embedding.provider fastembed (model {model}) needs a further package; in the"
            " environment of memory-mcp run: pip install fastembed"
        ) from error
    try:
        return TextEmbedding(model)
    except Exception as error:  # fastembed, its hub client and onnxruntime each raise their own
        raise ModelError(
            f"the model {model} cannot be loaded by fastembed: {error}. Check the name, and that"
            " this machine can reach the model's host, or use embedding.provider bundled"
        ) from error
