"""The tokens of a text, each with a direction: how near a passage comes to each word asked for.

Late interaction (Khattab and Zaharia, ColBERT, 2020) with the token vectors that the embedding
model computes anyway before it takes their mean. They are kept in 128 bytes each: projected on 128
random axes of plus and minus one (Achlioptas 2003), which come from a hash and so are the same
everywhere, and rounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

from memory_mcp.core.ports import Tokens

WIDTH = 128
"""Bytes of a token. On LoCoMo 64 lose half a point of MRR, 384 are no better."""
_SCALE = 127.0
_BLOCK = 128  # tokens: few enough that no BLAS wakes a second thread, which may wait for its turn

Floats = npt.NDArray[np.float32]


def projected(hidden: Floats) -> Tokens:
    """The directions of token vectors, shape (tokens, dimension): shape (tokens, WIDTH), 127 is
    1."""
    axes = hidden @ _axes(hidden.shape[1])
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    unit = axes / np.maximum(lengths, 1e-9)
    rounded: Tokens = np.round(unit * _SCALE).astype(np.int8)
    return rounded


@cache
def _axes(dimension: int) -> Floats:
    bits = hashlib.shake_256(b"axes of tokens").digest(dimension * WIDTH // 8)
    signs = np.unpackbits(np.frombuffer(bits, np.uint8)).reshape(dimension, WIDTH)
    return signs.astype(np.float32) * 2 - 1


def pack(tokens: Tokens) -> bytes:
    """The bytes in which they are kept."""
    return tokens.tobytes()


def unpack(data: bytes) -> Tokens | None:
    """What `pack` made; None for bytes that are none of ours."""
    if not data or len(data) % WIDTH:
        return None
    return np.frombuffer(data, np.int8).reshape(-1, WIDTH)


def likeness(question: Tokens, passages: Mapping[int, Tokens]) -> dict[int, float]:
    """For each passage: the mean, over the tokens of the question, of the cosine of that token of
    the passage which is nearest to it."""
    if not passages or not len(question):
        return {}
    cosines = _cosines(np.concatenate(list(passages.values())), question)
    starts = np.cumsum([0, *(len(tokens) for tokens in passages.values())])[:-1]
    best = np.maximum.reduceat(cosines, starts, axis=0).mean(axis=1)
    return dict(zip(passages, best.tolist(), strict=True))


def _cosines(tokens: Tokens, question: Tokens) -> Floats:
    """Of each token with each of the question, shape (tokens, tokens of the question). A block at
    a time is made wider: to get as much memory as all of them need takes longer than the product.
    """
    asked = np.ascontiguousarray(question.T, np.float32) / _SCALE**2
    wide = np.empty((_BLOCK, WIDTH), np.float32)
    cosines = np.empty((len(tokens), len(question)), np.float32)
    for start in range(0, len(tokens), _BLOCK):
        some = tokens[start : start + _BLOCK]
        wide[: len(some)] = some
        np.matmul(wide[: len(some)], asked, out=cosines[start : start + _BLOCK])
    return cosines
