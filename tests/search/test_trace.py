"""The trace adds up."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from memory_mcp.search.trace import Sheet, Trace

numbers = st.floats(0, 2, allow_subnormal=False)
columns = st.tuples(numbers, numbers).map(np.array)
steps = st.lists(st.tuples(st.sampled_from(["plus", "times"]), columns, columns), max_size=12)


def build(taken: list[tuple[str, np.ndarray, np.ndarray]]) -> Sheet:
    sheet = Sheet.of(2)
    for kind, value, weight in taken:
        sheet = sheet.plus("a", value, weight) if kind == "plus" else sheet.times("b", value)
    return sheet


@given(steps)
def test_the_points_of_the_steps_add_up_to_the_score(
    taken: list[tuple[str, np.ndarray, np.ndarray]],
) -> None:
    sheet = build(taken)
    for row in range(2):
        trace = sheet.trace(row)
        assert math.fsum(step.points for step in trace.steps) == trace.score
        assert trace.score == approx(sheet.scores[row], abs=1e-12)


@given(steps, columns)
def test_a_factor_multiplies_what_there_is(
    taken: list[tuple[str, np.ndarray, np.ndarray]], factor: np.ndarray
) -> None:
    sheet = build(taken)
    assert sheet.times("f", factor).scores == approx(sheet.scores * factor, abs=1e-9)


@given(steps)
def test_neutral_steps_leave_no_trace(taken: list[tuple[str, np.ndarray, np.ndarray]]) -> None:
    sheet = build(taken)
    assert sheet.plus("none", np.ones(2), 0.0) is sheet
    assert sheet.times("none", np.ones(2)) is sheet
    one = sheet.plus("some", np.array([0.7, 0.0]), 1.0)
    assert "some" in {step.rule for step in one.trace(0).steps}
    assert "some" not in {step.rule for step in one.trace(1).steps}
    trace = Trace()
    assert trace.plus("none", 0.7, 0) is trace
