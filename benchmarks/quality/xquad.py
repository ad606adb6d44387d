"""XQuAD (google-deepmind/xquad, CC BY-SA 4.0): paragraphs in several languages, one gold
paragraph a question."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Xquad:
    """Paragraphs by id (title, text) and questions as (question, gold id)."""

    language: str
    passages: dict[str, tuple[str, str]]
    questions: tuple[tuple[str, str], ...]


def load(folder: Path, language: str) -> Xquad:
    """Read `<language>.json`."""
    data = json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))
    passages = {row["id"]: (row["title"], row["text"]) for row in data["passages"]}
    questions = tuple((row["question"], row["gold"][0]) for row in data["questions"])
    return Xquad(language, passages, questions)


def write_notes(data: Xquad, folder: Path) -> None:
    """One note for each paragraph, titled as its article."""
    for name, (title, text) in data.passages.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
