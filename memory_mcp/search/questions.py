"""One's own questions with the right notes, and how well a search answers them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from statistics import fmean

from memory_mcp.core.errors import InputError
from memory_mcp.core.note import Json

DEPTH = 10
"""Places that are looked at."""
HITS = (1, 3, 5, 10)
_LIKE = 0.75  # how near a key comes to the one that was meant
_KEYS = ("question", "gold", "rank", "id", "history")


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` are references of notes, any of which is right; `rank` is the worst place allowed."""

    id: str
    text: str
    gold: frozenset[str]
    rank: int = DEPTH
    history: tuple[str, ...] = ()
    """What was said before, the oldest first."""

    @property
    def asked(self) -> str:
        """What is searched for: the question, behind what it follows."""
        return "\n".join([*self.history, self.text])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search gave: references in their order, at most DEPTH."""

    question: Question
    found: tuple[str, ...]

    @property
    def place(self) -> int | None:
        """The place of the first right note, from 1; None where there is none."""
        places = (n for n, name in enumerate(self.found, start=1) if name in self.question.gold)
        return next(places, None)

    @property
    def fine(self) -> bool:
        """Whether the right note is at its worst place allowed, or before."""
        return self.place is not None and self.place <= self.question.rank


def parse(text: str) -> tuple[Question, ...]:
    """Read one JSON object a line: `question` and `gold` (a reference or a list of them); also
    `rank`, `id` and `history`. Blank lines are skipped. Raises InputError with the line."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(_question(json.loads(line), number))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"line {number}: {error}. A line is an object such as"
                ' {"question": "who is karl", "gold": ["wiki/people/karl"], "rank": 1}.'
            ) from error
    if not found:
        raise InputError("there is no question; each line is one, with its right notes in gold.")
    return tuple(found)


def _question(row: Json, number: int) -> Question:
    if not isinstance(row, dict):
        raise ValueError("it is no object")
    for key in row.keys() - set(_KEYS):  # others may say more of a question
        if meant := get_close_matches(key, _KEYS, 1, _LIKE):
            raise ValueError(f"the key {key!r} is not known; did you mean {meant[0]!r}?")
    text, gold, rank = row.get("question"), row.get("gold"), row.get("rank", DEPTH)
    if not isinstance(text, str) or not text.strip():
        raise ValueError("question is missing, or no text")
    names: Json = [gold] if isinstance(gold, str) else gold
    if not isinstance(rank, int) or isinstance(rank, bool) or not 1 <= rank <= DEPTH:
        raise ValueError(f"rank is {rank!r}; it is a number from 1 to {DEPTH}")
    given = str(row.get("id", number))
    history = _texts("history", row.get("history", []))
    return Question(given, text, frozenset(_texts("gold", names, least=1)), rank, history)


def _texts(name: str, values: Json, least: int = 0) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) < least:
        raise ValueError(f"{name} is missing, or no list")
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} holds something that is no text")
    return tuple(str(value) for value in values)


def measure(outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """Shares, 0..1: the right note among the first k (H@k), the mean of 1/place (MRR), and within
    the rank allowed."""
    places = [outcome.place for outcome in outcomes]
    found = {f"H@{k}": fmean(bool(place and place <= k) for place in places) for k in HITS}
    found["MRR"] = fmean(1 / place if place else 0.0 for place in places)
    found["in rank"] = fmean(outcome.fine for outcome in outcomes)
    return found
