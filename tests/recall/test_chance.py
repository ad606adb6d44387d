"""How likely a note beside the best one is a right one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.note import Passage
from memory_mcp.recall.chance import CANDIDATES, LIKENESS, NO_LIKENESS, Weights, chances
from memory_mcp.search.group import Group, Piece
from memory_mcp.search.trace import Sheet


def piece(path: str, rank: float, bm25: float = 1.0, likeness: float = 0.0) -> Piece:
    sheet = Sheet.of(1).plus("tokens", np.array([likeness]), 1.0)
    passage = Passage("h", path, 1, 2, "", path)
    return Piece(("s", path), passage, rank, 0.9, 0.5, bm25, sheet=sheet)


def told(
    *readings: Sequence[Piece], going_on: bool = False, lifted: dict[str, float] | None = None
) -> dict[str, float]:
    """The chances of the notes of the first reading."""
    more = lifted or {}
    groups = [Group(one.note, (one,), lifted=more.get(one.note[1], 0.0)) for one in readings[0]]
    found = chances(groups, groups, readings, going_on)
    return {path: chance for (_, path), chance in found.items()}


def chance(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


@pytest.mark.parametrize(("likeness", "weights"), [(0.8, LIKENESS), (0.0, NO_LIKENESS)])
def test_standing_words_and_likeness_decide_as_far_as_they_are_known(
    likeness: float, weights: Weights
) -> None:
    best = piece("a", 2.0, bm25=10, likeness=min(1.0, 2 * likeness))
    other = piece("b", 1.0, bm25=6, likeness=likeness)
    odds = weights.bias + 0.5 * weights.standing + 0.6 * weights.words
    odds += weights.likeness * likeness
    assert told([best, other])["b"] == pytest.approx(chance(odds))
    behind = told([best, other], going_on=True)["b"]
    assert behind == pytest.approx(chance(odds + weights.going_on))


def test_a_note_that_stands_out_in_one_reading_only_is_less_likely() -> None:
    alone = [piece("a", 1.0), piece("b", 0.9), piece("c", 0.8)]
    behind = [piece("a", 1.0), piece("c", 0.8), piece("b", 0.1)]
    assert told(alone)["b"] > told(alone)["c"]
    assert told(alone, behind)["b"] < told(alone, behind)["c"]
    assert told(alone, behind[:2])["b"] < told(alone, behind)["b"]


def test_the_crowd_counts_for_nothing_where_there_is_one() -> None:
    crowd = [piece(f"n{n}", 0.5, bm25=0.5) for n in range(CANDIDATES - 2)]
    best, other = piece("a", 1.0), piece("b", 0.75, bm25=0.75)
    odds = NO_LIKENESS.bias + (NO_LIKENESS.standing + NO_LIKENESS.words) / 2
    many, few = told([best, other, *crowd]), told([best, other, *crowd[1:]])
    assert many["b"] == pytest.approx(chance(odds))
    assert many["n0"] == pytest.approx(chance(NO_LIKENESS.bias))
    assert few["b"] > many["b"]


def test_a_note_that_replaces_a_better_one_is_as_likely_by_its_standing() -> None:
    old, new = piece("old", 1.0), piece("new", 0.4)
    found = told([new, old], lifted={"new": 0.6})
    assert found["new"] == found["old"]


def test_a_reading_that_found_nothing_says_nothing() -> None:
    reading = [piece("a", 1.0), piece("b", 0.5)]
    assert told(reading, []) == told(reading)
    assert chances([], [], [], False) == {}


@given(
    st.lists(
        st.tuples(st.floats(0, 1e3), st.floats(0, 1e3), st.floats(0, 1)), min_size=1, max_size=40
    )
)
def test_every_note_has_a_chance_and_none_a_better_one_than_a_note_that_leads_everywhere(
    found: list[tuple[float, float, float]],
) -> None:
    pieces = [piece(f"n{n}", *one) for n, one in enumerate(found)]
    pieces.append(piece("best", 1e3 + 1, 1e3 + 1, 1.0))
    pieces.sort(key=lambda one: -one.rank)
    shares = told(pieces)
    assert all(0 <= share <= shares["best"] <= 1 for share in shares.values())
