"""LoCoMo: conversations as notes, questions with the turns that answer them.

The texts are CC BY-NC 4.0: they are read from a folder and never become part of this project.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TUNED_ON = ("conv-26", "conv-41", "conv-43")
HELD_OUT = ("conv-47", "conv-49")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one conversation. Gold notes are paths, gold turns are (path, line)."""

    text: str
    conversation: str
    category: int
    gold_notes: frozenset[str]
    gold_turns: frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Locomo:
    """The folder of notes and the questions that have evidence."""

    notes: Path
    questions: tuple[Question, ...]

    @property
    def conversations(self) -> tuple[str, ...]:
        """Names of the conversations, sorted."""
        return tuple(sorted({question.conversation for question in self.questions}))


def load(folder: Path) -> Locomo:
    """Read `notes.json`, `questions.json` and `questions_adversarial.json`; the notes are under
    `md`."""
    lines = {
        turn["id"]: (note["id"], int(turn["line"]))
        for note in _read(folder / "notes.json")
        for turn in note["turns"]
    }
    rows = _read(folder / "questions.json") + _read(folder / "questions_adversarial.json")
    questions = tuple(_question(row, lines) for row in rows if row["gold_turns"])
    return Locomo(folder / "md", questions)


def _question(row: dict[str, Any], lines: dict[str, tuple[str, int]]) -> Question:
    return Question(
        text=str(row["question"]),
        conversation=str(row["conv"]),
        category=int(row["category"]),
        gold_notes=frozenset(row["gold_notes"]),
        gold_turns=frozenset(lines[turn] for turn in row["gold_turns"]),
    )


def _read(path: Path) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return data
