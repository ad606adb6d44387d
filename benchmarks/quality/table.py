"""Rows of results: printed as they come, kept for comparison with an earlier run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.quality.metrics import Answer, measure, paired

T = TypeVar("T")
Row = dict[str, float | int | str]

WORSE = 1.0
"""Points by which a figure may fall before that is a fault."""


class Table:
    """The rows of one run."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._answers: dict[tuple[str, str], Sequence[Answer]] = {}

    def report(
        self,
        table: str,
        ranking: str,
        answers: Sequence[Answer],
        more: Mapping[str, float] | None = None,
    ) -> None:
        """Measure, add a row, with `more` shares, and print it."""
        found = {**_told(measure(answers), answers), **(more or {})}
        found = {key: 100 * value for key, value in found.items()}
        self._answers[table, ranking] = answers
        self.add(table, ranking, len(answers), found)

    def add(self, table: str, ranking: str, count: int, found: dict[str, float]) -> None:
        """Add a row of percentages and print it."""
        rounded = {key: round(value, 1) for key, value in found.items()}
        self.rows.append({"table": table, "ranking": ranking, "n": count, **rounded})
        numbers = " ".join(f"{key} {value:5}" for key, value in rounded.items())
        print(f"{table:22} {ranking:20} n={count:<5} {numbers}", flush=True)

    def compare(self, ranking: str, others: Sequence[str]) -> None:
        """Print what other rankings gain or lose against `ranking`, question by question, in
        points, with the standard error of the difference."""
        for (table, name), answers in self._answers.items():
            if name in others and (table, ranking) in self._answers:
                steps = _told(paired(self._answers[table, ranking], answers), answers)
                numbers = " ".join(
                    f"{key} {100 * mean:+.1f} ±{100 * spread:.1f}"
                    for key, (mean, spread) in steps.items()
                )
                print(f"{table:22} {name:20} against {ranking}: {numbers}", flush=True)

    def write(self, path: Path) -> None:
        """Keep the rows, one a line."""
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in self.rows)
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _told(figures: Mapping[str, T], answers: Sequence[Answer]) -> dict[str, T]:
    """Without those of a budget where no ranking has passages."""
    if any(answer.passages for answer in answers):
        return dict(figures)
    return {key: value for key, value in figures.items() if not key.startswith("T@")}


def falls(before: Iterable[Row], now: Iterable[Row]) -> list[str]:
    """Figures that fell by more than WORSE points. Rows that only one run has are no fall, nor are
    those of so few questions that a single one is more."""
    known = {(row["table"], row["ranking"]): row for row in now}
    found = []
    for old in before:
        if float(old["n"]) * WORSE < 100:
            continue
        new = known.get((old["table"], old["ranking"]), {})
        for key, value in old.items():
            later = new.get(key)
            if key == "n" or not isinstance(value, float) or not isinstance(later, int | float):
                continue
            if later < value - WORSE:
                found.append(f"{old['table']}, {old['ranking']}: {key} {value} -> {later}")
    return found
