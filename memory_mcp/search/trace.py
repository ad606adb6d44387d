"""How a rank score came about: steps whose points add up to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]
"""A number for each passage."""


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

    def plus(self, rule: str, value: float, weight: float) -> Trace:
        """Add `value * weight`; nothing is recorded where that is 0."""
        points = value * weight
        return Trace((*self.steps, Step(rule, value, weight, points))) if points else self


@dataclass(frozen=True, slots=True)
class Sheet:
    """The steps of many passages at once, a row each: for each rule a column of values, of weights
    and of points. A `Trace` is made of a row that somebody looks at."""

    scores: Column
    """The sum of the points."""
    steps: tuple[tuple[str, Column, Column | float, Column], ...] = field(default=())

    @classmethod
    def of(cls, rows: int) -> Sheet:
        """One without steps."""
        return cls(np.zeros(rows))

    def plus(self, rule: str, value: Column, weight: Column | float) -> Sheet:
        """Add `value * weight`; nothing is recorded where that is 0 for all."""
        return self._with(rule, value, weight, value * weight)

    def times(self, rule: str, factor: Column) -> Sheet:
        """Multiply what there is by `factor`; nothing is recorded where that is 1 for all."""
        return self._with(rule, np.ones_like(factor), factor, self.scores * (factor - 1.0))

    def _with(self, rule: str, value: Column, weight: Column | float, points: Column) -> Sheet:
        if not points.any():
            return self
        return Sheet(self.scores + points, (*self.steps, (rule, value, weight, points)))

    def trace(self, row: int) -> Trace:
        """The steps of a row that brought it points."""
        return Trace(
            tuple(
                Step(rule, float(value[row]), _at(weight, row), float(points[row]))
                for rule, value, weight, points in self.steps
                if points[row]
            )
        )


def _at(weight: Column | float, row: int) -> float:
    return float(weight[row]) if isinstance(weight, np.ndarray) else weight
