"""The golden set: notes of one person in English and German, and questions with the right note.

It lies in `benchmarks/golden` and was written before the ranking that is judged by it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "golden"
SOURCES: Mapping[str, str] = {
    "memory": "agents/default/memory",
    "wiki": "wiki",
    "vault": "vault",
}
"""Where the folders of the set stand in a home."""


@dataclass(frozen=True, slots=True)
class Question:
    """`gold` are references of notes, any of which is right; `rank` is the worst place allowed."""

    id: str
    text: str
    language: str
    kind: str
    gold: frozenset[str]
    rank: int
    history: tuple[str, ...] = ()
    """What was said before, the oldest first: only with it has a follow-up a subject."""

    @property
    def beyond_english(self) -> bool:
        """Whether only a model of several languages can see what is meant: another language than
        that of the note, or German in other words than the note's."""
        return self.kind == "cross" or (self.kind == "paraphrase" and self.language != "en")

    @property
    def asked(self) -> str:
        """What is searched for: the question, behind what it follows."""
        return "\n".join([*self.history, self.text])


def load(folder: Path = FOLDER) -> tuple[Question, ...]:
    """Read every `questions*.jsonl`. Raises ValueError for a gold note that is not there."""
    questions = []
    for path in sorted(folder.glob("questions*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for reference in row["gold"]:
                if not (folder / "notes" / f"{reference}.md").is_file():
                    raise ValueError(f"{row['id']}: there is no note {reference}")
            questions.append(
                Question(
                    row["id"],
                    row["question"],
                    row["language"],
                    row["kind"],
                    frozenset(row["gold"]),
                    row["rank"],
                    tuple(row.get("history", ())),
                )
            )
    return tuple(questions)


def write_home(home: Path, folder: Path = FOLDER) -> None:
    """Copy the notes to where a home has them."""
    for name, place in SOURCES.items():
        if (folder / "notes" / name).is_dir():
            shutil.copytree(folder / "notes" / name, home / place, dirs_exist_ok=True)


def place_of(question: Question, ranked: Sequence[str]) -> int | None:
    """The place of the first right note among ranked references, from 1; None where there is
    none."""
    places = (place for place, name in enumerate(ranked, start=1) if name in question.gold)
    return next(places, None)
