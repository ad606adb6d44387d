"""The labelled pairs of notes: no new fact is ever taken for one that is there."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.duplicates.pairs import LABELS, judge, load, precision_and_recall
from memory_mcp.index.embedder import BundledEmbedder

PAIRS = load()


def test_the_set_is_large_and_even() -> None:
    assert len(PAIRS) >= 160
    assert len({pair.id for pair in PAIRS}) == len(PAIRS)
    assert {pair.label for pair in PAIRS} == set(LABELS)
    languages = Counter(pair.language for pair in PAIRS)
    assert set(languages) == {"en", "de", "mixed"} and languages["mixed"] >= 10
    assert abs(languages["en"] - languages["de"]) < 20
    halves = Counter(pair.half for pair in PAIRS)
    assert abs(halves["tuned"] - halves["told"]) < 20


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_with_the_bundled_model_no_new_fact_is_dropped_and_most_repetitions_are_noticed() -> None:
    judged = judge(PAIRS, BundledEmbedder())
    assert [item.pair.id for item in judged if item.loses] == []
    assert precision_and_recall(judged, "same")[1] >= 0.55
    assert precision_and_recall(judged, "contradiction")[1] >= 0.9
    assert precision_and_recall(judged, "new")[1] >= 0.8


@pytest.mark.parametrize("likeness", [0.0, 0.5, 1.0])
def test_whatever_a_model_says_no_new_fact_is_dropped(likeness: float) -> None:
    judged = judge(PAIRS, None, likeness)
    assert [item.pair.id for item in judged if item.loses] == []


def test_the_other_way_round_only_what_is_all_there_is_the_same() -> None:
    """A note that says more than the text that comes may say the same; a contradiction never."""
    judged = judge([pair.turned() for pair in PAIRS], None)
    wrong = [item.pair.id for item in judged if item.loses and item.pair.label != "new"]
    assert wrong == []
