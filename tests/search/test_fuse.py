"""Fusion: min-max, coverage, the share of the vectors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from memory_mcp.search.fuse import DEPTH, coverage, last_of, spread, vector_share
from memory_mcp.search.trace import Column

shares = st.floats(0, 1)
scores = st.lists(st.floats(0.001, 50), min_size=1).map(np.array)


@given(scores)
def test_min_max_gives_one_to_the_best_and_keeps_the_order(found: Column) -> None:
    spreaded = spread(found, found.min(), least=0.0)
    assert spreaded[found.argmax()] == approx(1)
    assert ((spreaded >= 0) & (spreaded <= 1)).all()
    assert spreaded[found.argsort()].tolist() == sorted(spreaded)


def test_what_is_not_known_stays_unknown() -> None:
    found = spread(np.array([0.8, np.nan, 0.4]), 0.4, least=0.0)
    assert np.isnan(found).tolist() == [False, True, False]
    assert np.isnan(spread(np.array([np.nan]), 0.0, least=0.1)).all()


def test_nearly_equal_passages_are_not_torn_apart() -> None:
    found = np.array([0.80, 0.79])
    assert spread(found, 0.79, least=0.1)[1] == approx(0.9)
    assert spread(found, 0.79, least=0.0)[1] == 0


def test_a_leg_that_is_not_full_ends_at_zero() -> None:
    assert last_of(np.array([3.0, 2.0]), otherwise=0.0) == 0
    assert last_of(np.arange(1.0, DEPTH + 1), otherwise=0.0) == 1


def test_coverage_weighs_words_by_their_rarity() -> None:
    held = np.array([[True, False], [True, True], [False, False]])
    assert coverage(held, (3.0, 1.0)).tolist() == [approx(0.75), 1, 0]
    assert coverage(held[:, :1], (0.0,)).tolist() == [0, 0, 0]


@given(shares, shares)
def test_vectors_are_trusted_fully_without_words_and_least_with_all_of_them(
    covered: float, least: float
) -> None:
    assert vector_share(0, least, 0.5) == 1
    assert vector_share(1, least, 0.5) == approx(least)
    assert least - 1e-9 <= vector_share(covered, least, 0.5) <= 1


@given(shares, shares)
def test_more_coverage_never_means_more_vector(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert vector_share(high, 0.2, 0.8) <= vector_share(low, 0.2, 0.8)


@given(shares, shares)
def test_a_greater_trust_means_more_vector_where_words_cover_a_part(
    one: float, least: float
) -> None:
    assert vector_share(one, least, 0.85) >= vector_share(one, least, 0.5) - 1e-12
