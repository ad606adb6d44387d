"""Fusion: min-max, coverage, the share of the vectors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from memory_mcp.search.fuse import DEPTH, coverage, floor_of, spread, vector_share

shares = st.floats(0, 1)
scores = st.dictionaries(st.integers(0, 50), st.floats(0.001, 50), min_size=1)


@given(scores)
def test_min_max_gives_one_to_the_best_and_keeps_the_order(found: dict[int, float]) -> None:
    spreaded = spread(found, min(found.values()), least=0.0)
    assert spreaded[max(found, key=lambda point: found[point])] == approx(1)
    assert all(0 <= value <= 1 for value in spreaded.values())
    ordered = sorted(found, key=lambda point: found[point])
    assert [spreaded[p] for p in ordered] == sorted(spreaded.values())


def test_nearly_equal_passages_are_not_torn_apart() -> None:
    assert spread({1: 0.80, 2: 0.79}, 0.79, least=0.1)[2] == approx(0.9)
    assert spread({1: 0.80, 2: 0.79}, 0.79, least=0.0)[2] == 0


def test_a_leg_that_is_not_full_ends_at_zero() -> None:
    assert floor_of([3.0, 2.0]) == 0
    assert floor_of([float(DEPTH - place) for place in range(DEPTH)]) == 1


def test_coverage_weighs_words_by_their_rarity() -> None:
    assert coverage({0}, (3.0, 1.0)) == approx(0.75)
    assert coverage({0, 1}, (3.0, 1.0)) == 1
    assert coverage((), (3.0, 1.0)) == 0
    assert coverage({0}, (0.0,)) == 0


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
