"""Tokens: how near a passage comes to a question, word by word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pytest import approx

from memory_mcp.core.ports import Tokens
from memory_mcp.index.cache import EmbeddingCache
from memory_mcp.index.embedder import DIMENSION, BundledEmbedder
from memory_mcp.index.tokens import WIDTH, likeness, pack, projected, unpack

PORT = "The staging database listens on port 5433 of the host heron."
FRUIT = "Apples are red and sweet."

hidden = arrays.arrays(
    np.float32, st.tuples(st.integers(1, 6), st.just(384)), elements=st.floats(-3, 3, width=32)
)


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


def tokens_of(seed: int, count: int) -> Tokens:
    draw = np.random.default_rng(seed)
    return projected(draw.standard_normal((count, DIMENSION)).astype(np.float32))


@given(hidden)
def test_a_direction_keeps_its_length_in_few_bytes(values: np.ndarray) -> None:
    found = projected(values)
    assert found.dtype == np.int8
    assert found.shape == (len(values), WIDTH)
    lengths = np.linalg.norm(found.astype(np.float32), axis=1) / 127
    assert all(length == approx(1, abs=0.05) or length == 0 for length in lengths)


def test_cosines_survive_the_projection_within_a_tenth() -> None:
    draw = np.random.default_rng(3)
    one, other = draw.standard_normal((2, 200, DIMENSION)).astype(np.float32)
    near = one + 0.5 * other
    exact = (one * near).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(near, axis=1)
    kept = (projected(one).astype(int) * projected(near).astype(int)).sum(1) / 127**2
    assert np.abs(kept - exact).mean() < 0.1


def test_the_axes_are_the_same_on_every_machine() -> None:
    first = projected(np.eye(1, DIMENSION, dtype=np.float32))
    assert first[0, :8].tolist() == [-11, 11, -11, 11, -11, 11, 11, 11]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 4))
def test_likeness_is_the_mean_of_the_nearest_tokens(sizes: list[int], asked: int) -> None:
    question = tokens_of(1, asked)
    passages = {n: tokens_of(n + 2, size) for n, size in enumerate(sizes)}
    found = likeness(question, passages)
    for n, passage in passages.items():
        cosines = question.astype(float) @ passage.astype(float).T / 127**2
        assert found[n] == approx(cosines.max(axis=1).mean(), abs=1e-4)


def test_nothing_is_like_nothing() -> None:
    assert likeness(tokens_of(1, 2), {}) == {}
    assert likeness(np.empty((0, WIDTH), np.int8), {1: tokens_of(2, 1)}) == {}


@given(st.integers(0, 5))
def test_tokens_come_back_as_they_were_kept(count: int) -> None:
    tokens = tokens_of(9, count) if count else np.empty((0, WIDTH), np.int8)
    back = unpack(pack(tokens))
    assert back is None if not count else back is not None and np.array_equal(back, tokens)


@given(st.binary(max_size=3 * WIDTH))
def test_any_bytes_are_tokens_or_none(data: bytes) -> None:
    found = unpack(data)
    assert (found is None) == (not data or len(data) % WIDTH > 0)


def test_a_passage_that_has_the_words_is_nearer(embedder: BundledEmbedder) -> None:
    vectors, (port, fruit) = embedder.read([PORT, FRUIT])
    assert np.array_equal(vectors, embedder.passages([PORT, FRUIT]))
    vector, asked = embedder.ask("Which port does the staging database use?")
    assert asked is not None
    assert np.array_equal(vector, embedder.query("Which port does the staging database use?"))
    found = likeness(asked, {1: port, 2: fruit})
    assert found[1] > found[2] + 0.2


def test_stop_words_and_marks_count_only_where_there_is_nothing_else(
    embedder: BundledEmbedder,
) -> None:
    _, (plain, marked, empty) = embedder.read(["heron port", "the heron, and the port!", ""])
    assert len(plain) == len(marked)
    assert len(empty) > 0
    _, asked = embedder.ask("of the")
    assert asked is not None and len(asked) > 0


def test_a_paste_has_no_tokens_and_a_vector(embedder: BundledEmbedder) -> None:
    vector, tokens = embedder.ask(f"{PORT} " * 60 + "Which port?")
    assert tokens is None
    assert vector.shape == (DIMENSION,)


def test_the_cache_keeps_tokens_beside_their_vector(
    tmp_path: Path, embedder: BundledEmbedder
) -> None:
    cache = EmbeddingCache(tmp_path)
    vectors, tokens = embedder.read([PORT, FRUIT])
    cache.save("id", dict(zip("ab", vectors, strict=True)), dict(zip("ab", tokens, strict=True)))
    found = cache.tokens("id", ["a", "b", "c"])
    assert {key: some.tolist() for key, some in found.items()} == {
        key: some.tolist() for key, some in zip("ab", tokens, strict=True)
    }
    assert cache.tokens("other", ["a"]) == {}
    cache.forget("id", keep=["b"])
    assert cache.tokens("id", ["a", "b"]).keys() == {"b"}
    cache.close()
