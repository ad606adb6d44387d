"""Prompts with what recall should do: bring one of the right notes, or say nothing."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.quality import golden
from memory_mcp.recall.turn import Turn


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message after a history (oldest first). `gold` are references of notes, any of which is
    right; empty means that no note is wanted. `kind` groups prompts in the tables. `half`: nothing
    may be chosen by the second one."""

    id: str
    message: str
    kind: str
    language: str = "en"
    history: tuple[Turn, ...] = ()
    gold: frozenset[str] = frozenset()
    half: str = "first"

    @property
    def alone(self) -> Prompt:
        """The same message as the first of a conversation."""
        return replace(self, history=())


def dialogues(folder: Path = golden.FOLDER) -> tuple[Prompt, ...]:
    """The second turns of the two-turn dialogues, `dialogues-*.jsonl`. Raises ValueError for a
    right note that is not there."""
    found = []
    for path in sorted(folder.glob("dialogues-*.jsonl")):
        for row in _rows(path):
            for reference in row["gold"]:
                if not (folder / "notes" / f"{reference}.md").is_file():
                    raise ValueError(f"{row['id']}: there is no note {reference}")
            history = tuple(Turn(turn["role"], turn["text"]) for turn in row["turns"])
            gold = frozenset(row["gold"])
            found.append(replace(_prompt(row), history=history, gold=gold))
    return tuple(found)


def golden_questions() -> tuple[Prompt, ...]:
    """The questions of the golden set that a model of English can see, after their histories."""
    return tuple(
        Prompt(
            one.id,
            one.text,
            one.kind,
            one.language,
            tuple(Turn("user", text) for text in one.history),
            one.gold,
        )
        for one in golden.load()
        if not one.beyond_english
    )


def no_need(folder: Path = golden.FOLDER) -> tuple[Prompt, ...]:
    """Messages that no note answers, `no-need.jsonl`."""
    return tuple(_prompt(row) for row in _rows(folder / "no-need.jsonl"))


def behind(prompts: Iterable[Prompt], said: Sequence[Prompt], seed: int = 1) -> tuple[Prompt, ...]:
    """Each prompt after the conversation of another one, drawn at random: its history and its
    message. A prompt that needs no note needs none there either."""
    draw = random.Random(seed)
    found = []
    for prompt in prompts:
        other = draw.choice(said)
        found.append(replace(prompt, history=(*other.history, Turn("user", other.message))))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Rotation:
    """LoCoMo with one conversation left out of the index. `asked` are questions of another one,
    which is there; `foreign` those of the one left out."""

    left_out: str
    indexed: tuple[str, ...]
    asked: tuple[Prompt, ...]
    foreign: tuple[Prompt, ...]


def rotations(folder: Path, every: int = 1) -> tuple[Rotation, ...]:
    """Each conversation is left out once, and the one after it is asked about; so each question of
    the categories 1 to 4 is asked once where its answer is and once where it is not.

    The turns before a question are the question before it in its conversation and the answer to
    that, as in a session about one subject. A foreign question is of the kind `stranger`, or
    `namesake` where all people that it names are also speakers of conversations that are there.
    `every`: take only every n-th question.
    """
    speakers = _speakers(folder)
    questions: dict[str, list[Prompt]] = {}
    for row in json.loads((folder / "questions.json").read_text(encoding="utf-8")):
        if row["gold_turns"]:
            questions.setdefault(str(row["conv"]), []).append(_question(row))
    names = sorted(questions)
    asked = {name: _in_session(questions[name])[::every] for name in names}
    return tuple(
        Rotation(
            left_out=name,
            indexed=tuple(other for other in names if other != name),
            asked=asked[names[(place + 1) % len(names)]],
            foreign=tuple(
                replace(prompt, gold=frozenset(), kind=_foreign(prompt.message, name, speakers))
                for prompt in asked[name]
            ),
        )
        for place, name in enumerate(names)
    )


def _speakers(folder: Path) -> Mapping[str, frozenset[str]]:
    """The people of each conversation, in small letters."""
    found: dict[str, frozenset[str]] = {}
    for note in json.loads((folder / "notes.json").read_text(encoding="utf-8")):
        people = frozenset(str(name).casefold() for name in note["speakers"])
        found[str(note["conv"])] = found.get(str(note["conv"]), frozenset()) | people
    return found


def _foreign(message: str, left_out: str, speakers: Mapping[str, frozenset[str]]) -> str:
    words = set(re.findall(r"\w+", message.casefold()))
    everybody = frozenset[str]().union(*speakers.values())
    there = frozenset[str]().union(*(own for name, own in speakers.items() if name != left_out))
    named = words & everybody
    return "namesake" if named and named <= there else "stranger"


@dataclass(frozen=True, slots=True)
class _Question(Prompt):
    """A question with its answer, as turns of a later one's history."""

    answer: str = ""


def _question(row: Mapping[str, Any]) -> _Question:
    return _Question(
        id=str(row["id"]),
        message=str(row["question"]),
        kind=str(row["conv"]),
        gold=frozenset(map(str, row["gold_notes"])),
        answer=str(row["answer"]),
    )


def _in_session(questions: Sequence[_Question]) -> tuple[Prompt, ...]:
    found: list[Prompt] = []
    before: tuple[Turn, ...] = ()
    for one in questions:
        found.append(Prompt(one.id, one.message, one.kind, history=before, gold=one.gold))
        before = (Turn("user", one.message), Turn("assistant", one.answer))
    return tuple(found)


def _prompt(row: Mapping[str, Any]) -> Prompt:
    return Prompt(row["id"], row["message"], row["kind"], row["language"], half=row["half"])


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        yield row
