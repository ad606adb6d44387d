"""How a rank score came about: steps whose points add up to it exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Step:
    """One leg or rule: its own value, the weight or factor it was given, and the points it
    brought."""

    rule: str
    value: float
    weight: float
    points: float


@dataclass(frozen=True)
class Trace:
    """All steps of a hit, in the order in which they were taken."""

    steps: tuple[Step, ...] = ()

    @cached_property
    def score(self) -> float:
        """The rank score: the exactly rounded sum of the points. It orders hits and has no
        scale."""
        return math.fsum([step.points for step in self.steps])

    @classmethod
    def of(cls, *parts: tuple[str, float, float]) -> Trace:
        """(rule, value, weight) of each step, as `plus` adds them."""
        steps = [Step(rule, value, weight, value * weight) for rule, value, weight in parts]
        return cls(tuple([step for step in steps if step.points]))

    def plus(self, rule: str, value: float, weight: float) -> Trace:
        """Add `value * weight`; nothing is recorded where that is 0."""
        points = value * weight
        return Trace((*self.steps, Step(rule, value, weight, points))) if points else self

    def times(self, rule: str, factor: float, value: float = 1.0) -> Trace:
        """Multiply what there is by `factor`; nothing is recorded where that is 1."""
        if factor == 1.0:
            return self
        return Trace((*self.steps, Step(rule, value, factor, self.score * (factor - 1.0))))
