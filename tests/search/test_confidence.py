"""The score: a confidence with one meaning, and its falling form."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from memory_mcp.core.band import Band
from memory_mcp.search import confidence as score
from memory_mcp.search.confidence import falling
from memory_mcp.search.family import E5, MINILM, OTHER, Family, family_of

shares = st.floats(0, 1)


def confidence(
    covered: float, said: float, cosine: float | None, family: Family, english: bool = True
) -> float:
    near = math.nan if cosine is None else cosine
    columns = (np.array([covered]), np.array([said]), np.array([near]))
    marks = {"english": np.array([english]), "exact": np.array([False])}
    return float(score.confidence(*columns, family, **marks)[0])


def meaning(cosine: float, family: Family) -> float:
    return float(score.meaning(np.array([cosine]), family)[0])


cosines = st.floats(-1, 1)
families = st.sampled_from([MINILM, E5, OTHER])


@given(shares, shares, st.one_of(st.none(), cosines), families, st.booleans())
def test_confidence_is_a_share(
    covered: float, said: float, cosine: float | None, family: Family, english: bool
) -> None:
    assert 0 <= confidence(covered, said, cosine, family, english=english) <= 1


@given(st.tuples(shares, shares), st.tuples(shares, shares), st.tuples(cosines, cosines), families)
def test_more_evidence_never_means_less_confidence(
    covered: tuple[float, float],
    said: tuple[float, float],
    near: tuple[float, float],
    family: Family,
) -> None:
    less = confidence(min(covered), min(said), min(near), family)
    assert less <= confidence(max(covered), max(said), max(near), family)


def test_an_exact_word_counts_where_the_model_sees_nothing() -> None:
    exact = confidence(1.0, 0.3, 0.0, MINILM)
    assert exact >= 0.8
    assert exact >= 4 * confidence(0.0, 0.0, 0.25, MINILM)
    assert confidence(1.0, 0.3, None, MINILM) >= 0.8


def test_half_of_the_words_alone_are_no_match() -> None:
    assert confidence(0.5, 0.1, 0.2, MINILM) < 0.1
    assert confidence(0.5, 0.1, None, MINILM) < 0.35


def test_a_note_in_a_language_that_the_model_hardly_knows_needs_less_likeness() -> None:
    evidence = (0.6, 0.3, 0.4, MINILM)
    assert confidence(*evidence, english=False) > confidence(*evidence)


def test_noise_of_the_model_is_no_meaning() -> None:
    assert meaning(MINILM.noise, MINILM) == 0
    assert meaning(E5.noise, E5) == 0
    assert meaning(MINILM.full, MINILM) == approx(1)


def test_models_that_were_measured_are_known_by_their_names() -> None:
    assert family_of("sentence-transformers/all-MiniLM-L6-v2") is MINILM
    assert family_of("multilingual-e5-small (4-bit)", Band(0.7, 0.8)) is E5
    assert family_of("text-embedding-3-small") is OTHER
    assert family_of("paraphrase-multilingual-MiniLM-L12-v2") is OTHER


def test_another_model_is_judged_by_the_band_of_its_cosines() -> None:
    narrow = family_of("somebody/new-model", Band(foreign=0.75, own=0.83))
    assert meaning(0.75, narrow) == 0
    assert 0 < meaning(0.83, narrow) < 1
    assert meaning(0.87, narrow) >= 1
    wide = family_of("somebody/new-model", Band(foreign=0.05, own=0.46))
    assert (wide.noise, wide.full) == approx((MINILM.noise, MINILM.full), abs=0.1)


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
