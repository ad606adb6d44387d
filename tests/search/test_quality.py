"""The quality benchmark measures what it says, on a tiny set of our own."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality import golden, locomo
from benchmarks.quality.metrics import (
    Answer,
    Taken,
    area,
    hit,
    measure,
    paired,
    recall,
    reciprocal,
    within,
)
from benchmarks.quality.runs import run_locomo
from benchmarks.quality.table import Row, Table, falls
from benchmarks.quality.ways import LEGS

TURNS = {
    "conv-01/session-01": ["Ann: We adopted a grey parrot called Kiwi.", "Bo: Does Kiwi talk?"],
    "conv-01/session-02": ["Ann: The roof was repaired by a man from Lyon.", "Bo: Was it dear?"],
    "conv-02/session-01": ["Cem: My bicycle was stolen at the station.", "Dee: Call the police!"],
}
QUESTIONS = [
    ("conv-01", "What is the name of the parrot?", ["conv-01/session-01#0"]),
    ("conv-01", "Who repaired the roof?", ["conv-01/session-02#0"]),
    ("conv-02", "Where was the bicycle stolen?", ["conv-02/session-01#0"]),
    ("conv-02", "A question without evidence?", []),
]


def write_set(folder: Path) -> None:
    """The files that the loader reads, with three notes."""
    notes: list[dict[str, Any]] = []
    for note, turns in TURNS.items():
        lines = [f"# {note}", "", *(f"- {turn}" for turn in turns)]
        path = folder / "md" / f"{note}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        ids = [{"id": f"{note}#{place}", "line": place + 3} for place in range(len(turns))]
        notes.append({"id": note, "turns": ids})
    rows = [
        {
            "conv": conv,
            "question": text,
            "category": 4,
            "gold_turns": gold,
            "gold_notes": [turn.partition("#")[0] for turn in gold],
        }
        for conv, text, gold in QUESTIONS
    ]
    for name, data in (("notes", notes), ("questions", rows), ("questions_adversarial", [])):
        (folder / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")


def test_metrics_follow_their_definitions() -> None:
    ranked = ("a", "b", "c")
    assert hit(ranked, {"c"}, 2) == 0
    assert hit(ranked, {"c"}, 3) == 1
    assert recall(ranked, {"b", "z"}, 5) == 0.5
    assert reciprocal(ranked, {"b"}) == 0.5
    assert reciprocal(ranked, {"z"}) == 0


def test_a_passage_that_exceeds_the_budget_ends_the_taking() -> None:
    taken = (
        Taken(300, frozenset({"x"})),
        Taken(300, frozenset({"y"})),
        Taken(10, frozenset({"z"})),
    )
    assert within(taken, {"x", "y"}, 500) == 0.5
    assert within(taken, {"x", "z"}, 500) == 0.5
    assert within(taken, {"x", "y", "z"}, 610) == 1


def test_a_perfect_ranking_measures_one() -> None:
    answer = Answer(("a",), (Taken(9, frozenset({"x"})),), frozenset({"a"}), frozenset({"x"}))
    assert set(measure([answer]).values()) == {1.0}


def test_rankings_of_the_same_questions_are_compared_in_pairs() -> None:
    right, second = (
        Answer(notes, (), frozenset({"a"}), frozenset({"a"})) for notes in (("a",), ("b", "a"))
    )
    found = paired([right, second, second, second], [second, second, second, right])
    assert found["MRR"] == pytest.approx((0, math.sqrt(1 / 24)))
    assert found["H@5"] == pytest.approx((0, 0))


def test_the_area_is_one_for_apart_and_a_half_for_equal_scores() -> None:
    assert area([0.9, 0.8], [0.1, 0.2]) == 1
    assert area([0.5, 0.5], [0.5]) == 0.5


@pytest.mark.anyio
async def test_a_tiny_set_is_measured_through_the_product(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_set(data)
    table = Table()
    loaded = locomo.load(data)
    assert len(loaded.questions) == 3
    await run_locomo(loaded, tmp_path / "home", table, LEGS, {})
    shipped = [row for row in table.rows if row["ranking"] == "as shipped"]
    assert {row["table"] for row in shipped} >= {"pool c14", "conv c14", "no answer"}
    ranked = [row for row in shipped if row["table"] != "no answer"]
    assert all(row["H@1"] == 100.0 and row["T@500"] == 100.0 for row in ranked)


def test_a_fall_of_more_than_a_point_is_named() -> None:
    before: list[Row] = [{"table": "a", "ranking": "b", "n": 786, "H@1": 80.0, "MRR": 70.0}]
    little: list[Row] = [{**before[0], "H@1": 79.0}]
    much: list[Row] = [{**before[0], "H@1": 78.9, "MRR": 71.0}]
    assert falls(before, little) == []
    assert falls(before, much) == ["a, b: H@1 80.0 -> 78.9"]
    assert falls(before, []) == []
    few: list[Row] = [{**before[0], "n": 20}]
    assert falls(few, much) == []


def test_a_question_whose_note_is_missing_is_refused(tmp_path: Path) -> None:
    row = {"id": "x-1", "question": "q", "language": "en", "kind": "fact", "gold": ["wiki/no"]}
    (tmp_path / "questions-x.jsonl").write_text(json.dumps({**row, "rank": 1}), encoding="utf-8")
    with pytest.raises(ValueError, match="x-1: there is no note wiki/no"):
        golden.load(tmp_path)


def test_the_best_right_note_decides_the_place() -> None:
    question = golden.Question("x", "q", "en", "fact", frozenset({"wiki/b", "wiki/c"}), 1)
    assert golden.place_of(question, ["wiki/a", "wiki/c", "wiki/b"]) == 2
    assert golden.place_of(question, ["wiki/a"]) is None


def test_the_golden_set_has_what_it_is_for() -> None:
    questions = golden.load()
    notes = list((golden.FOLDER / "notes").rglob("*.md"))
    assert len(notes) >= 120
    assert len(questions) >= 150
    assert len({question.id for question in questions}) == len(questions)
    assert all(1 <= question.rank <= 3 for question in questions)
    assert sum(question.rank == 1 for question in questions) >= 0.8 * len(questions)
    assert {question.language for question in questions} == {"en", "de"}
    assert all(
        bool(question.history) == (question.kind == "follow-up") or question.kind == "cross"
        for question in questions
    )
