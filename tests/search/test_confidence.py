"""The score: a confidence with one meaning, and its falling form."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from memory_mcp.search.confidence import confidence, falling, meaning
from memory_mcp.search.family import E5, MINILM, OTHER, Family, family_of

shares = st.floats(0, 1)
cosines = st.floats(-1, 1)
families = st.sampled_from([MINILM, E5, OTHER])


@given(shares, st.one_of(st.none(), cosines), families)
def test_confidence_is_a_share(covered: float, cosine: float | None, family: Family) -> None:
    assert 0 <= confidence(covered, cosine, family) <= 1 + 1e-9


@given(shares, shares, cosines, cosines, families)
def test_more_evidence_never_means_less_confidence(
    one: float, other: float, near: float, far: float, family: Family
) -> None:
    low, high = sorted((one, other)), sorted((near, far))
    assert confidence(low[0], high[0], family) <= confidence(low[1], high[1], family)


def test_an_exact_word_counts_where_the_model_sees_nothing() -> None:
    exact = confidence(1.0, 0.0, MINILM)
    assert exact >= 2 * confidence(0.0, 0.25, MINILM)
    assert confidence(1.0, None, MINILM) == approx(exact)


def test_noise_of_the_model_is_no_meaning() -> None:
    assert meaning(MINILM.noise, MINILM) == 0
    assert meaning(0.78, E5) == 0
    assert meaning(0.99, E5) == 1


def test_families_are_known_by_the_name_of_the_model() -> None:
    assert family_of("sentence-transformers/all-MiniLM-L6-v2") is MINILM
    assert family_of("multilingual-e5-small") is E5
    assert family_of("text-embedding-3-small") is OTHER


def test_falling_scores_stay_as_they_are() -> None:
    assert falling([0.9, 0.5, 0.5, 0.1]) == [0.9, 0.5, 0.5, 0.1]


def test_scores_that_rise_share_their_mean() -> None:
    assert falling([0.4, 0.8, 0.1]) == approx([0.6, 0.6, 0.1])


@given(st.lists(shares, max_size=40))
def test_falling_never_rises_keeps_the_sum_and_stays_in_range(scores: list[float]) -> None:
    fallen = falling(scores)
    assert all(after <= before + 1e-9 for before, after in pairwise(fallen))
    assert sum(fallen) == approx(sum(scores), abs=1e-6)
    if scores:
        assert min(scores) - 1e-9 <= min(fallen) and max(fallen) <= max(scores) + 1e-9
