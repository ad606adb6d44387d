"""The trace adds up."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.search.trace import Trace

numbers = st.floats(0, 2, allow_subnormal=False)
steps = st.lists(st.tuples(st.sampled_from(["plus", "times"]), numbers, numbers), max_size=12)


def build(taken: list[tuple[str, float, float]]) -> Trace:
    trace = Trace()
    for kind, value, weight in taken:
        trace = trace.plus("a", value, weight) if kind == "plus" else trace.times("b", value)
    return trace


@given(steps)
def test_the_points_of_the_steps_add_up_to_the_score(
    taken: list[tuple[str, float, float]],
) -> None:
    trace = build(taken)
    assert math.fsum(step.points for step in trace.steps) == trace.score


@given(steps, numbers)
def test_a_factor_multiplies_what_there_is(
    taken: list[tuple[str, float, float]], factor: float
) -> None:
    trace = build(taken)
    assert math.isclose(trace.times("f", factor).score, trace.score * factor, abs_tol=1e-9)


@given(steps)
def test_neutral_steps_leave_no_trace(taken: list[tuple[str, float, float]]) -> None:
    trace = build(taken)
    assert trace.plus("none", 0.7, 0) is trace
    assert trace.times("none", 1.0) is trace


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), numbers, numbers), max_size=6))
def test_steps_taken_at_once_are_those_taken_one_by_one(
    parts: list[tuple[str, float, float]],
) -> None:
    one_by_one = Trace()
    for part in parts:
        one_by_one = one_by_one.plus(*part)
    assert Trace.of(*parts) == one_by_one
    assert Trace.of(*parts).score == one_by_one.score
