"""The sets of the recall benchmark are sound, and its arithmetic is right."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.recall_figures import Given, by, figures
from benchmarks.recall_prompts import (
    Prompt,
    behind,
    dialogues,
    golden_questions,
    no_need,
    rotations,
)
from memory_mcp.recall.turn import Turn

GOLD = frozenset({"wiki/a"})


def test_there_are_enough_dialogues_in_both_languages() -> None:
    found = Counter(prompt.language for prompt in dialogues())
    assert found.keys() == {"en", "de"}
    assert min(found.values()) >= 24
    assert abs(found["en"] - found["de"]) <= 4


def test_each_dialogue_has_a_question_an_answer_and_a_right_note() -> None:
    for prompt in dialogues():
        assert [turn.role for turn in prompt.history] == ["user", "assistant"], prompt.id
        assert all(turn.text.strip() for turn in prompt.history), prompt.id
        assert prompt.message.strip() and prompt.gold, prompt.id


def test_ids_and_messages_of_the_sets_are_unique() -> None:
    for prompts in (dialogues(), no_need()):
        assert len({prompt.id for prompt in prompts}) == len(prompts)
    messages = [(prompt.message, prompt.language) for prompt in no_need()]
    assert len(set(messages)) == len(messages)


def test_there_are_enough_prompts_without_need_of_each_kind() -> None:
    found = no_need()
    assert len(found) >= 80
    assert {prompt.language for prompt in found} == {"en", "de"}
    assert min(Counter(prompt.kind for prompt in found).values()) >= 10
    assert not any(prompt.gold or prompt.history for prompt in found)


def test_both_sets_have_a_half_that_nothing_is_chosen_by() -> None:
    for prompts in (dialogues(), no_need()):
        assert Counter(prompt.half for prompt in prompts).keys() == {"first", "second"}


def test_the_golden_questions_have_their_right_notes() -> None:
    assert all(prompt.gold for prompt in golden_questions())


def test_a_dialogue_without_its_note_is_an_error(tmp_path: Path) -> None:
    row = {
        "id": "x",
        "language": "en",
        "half": "first",
        "kind": "slot",
        "turns": [],
        "message": "?",
        "gold": ["wiki/none"],
    }
    (tmp_path / "dialogues-en.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(ValueError, match="x: there is no note wiki/none"):
        dialogues(tmp_path)


def test_a_prompt_alone_has_no_history() -> None:
    prompt = Prompt("a", "and his wife?", "pronoun", history=(Turn("user", "who is he"),))
    assert prompt.alone.history == ()
    assert prompt.alone.message == prompt.message


def test_a_prompt_behind_another_follows_its_whole_conversation() -> None:
    other = Prompt("b", "who is he", "who", history=(Turn("assistant", "hello"),), gold=GOLD)
    (found,) = behind([Prompt("a", "thanks", "go on")], [other])
    assert [turn.text for turn in found.history] == ["hello", "who is he"]
    assert not found.gold


def test_each_question_is_asked_once_with_and_once_without_its_answer(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{name}/{number}",
            "conv": name,
            "question": f"q{number}",
            "answer": f"a{number}",
            "category": 1,
            "gold_turns": ["t"],
            "gold_notes": [f"{name}/session-01"],
        }
        for name in ("one", "three", "two")
        for number in range(2)
    ]
    (tmp_path / "questions.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "notes.json").write_text("[]", encoding="utf-8")
    found = rotations(tmp_path)
    assert [rotation.left_out for rotation in found] == ["one", "three", "two"]
    for rotation in found:
        assert rotation.left_out not in rotation.indexed
        assert {prompt.kind for prompt in rotation.asked} <= set(rotation.indexed)
        assert not any(prompt.gold for prompt in rotation.foreign)
        assert [turn.text for turn in rotation.asked[1].history] == ["q0", "a0"]
    asked = [prompt.id for rotation in found for prompt in rotation.asked]
    foreign = [prompt.id for rotation in found for prompt in rotation.foreign]
    assert sorted(asked) == sorted(foreign) == sorted(str(row["id"]) for row in rows)


def test_a_foreign_question_about_a_first_name_that_is_there_is_told_apart(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{name}/{text}",
            "conv": name,
            "question": text,
            "answer": "a",
            "gold_turns": ["t"],
            "gold_notes": [f"{name}/session-01"],
        }
        for name, text in (("one", "What has Ann?"), ("one", "Did Ann meet Bob?"), ("two", "Bo?"))
    ]
    notes = [
        {"conv": "one", "speakers": ["Ann", "Bob"]},
        {"conv": "two", "speakers": ["Ann", "Bo"]},
    ]
    (tmp_path / "questions.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    without_one, without_two = rotations(tmp_path)
    assert [prompt.kind for prompt in without_one.foreign] == ["namesake", "stranger"]
    assert [prompt.kind for prompt in without_two.foreign] == ["stranger"]


def test_figures_count_right_notes_silence_and_tokens() -> None:
    wanted = Prompt("a", "who", "who", gold=GOLD)
    spared = Prompt("b", "thanks", "go on")
    given = [
        Given(wanted, ("wiki/b", "wiki/a"), 100, 40),
        Given(wanted, (), 0, 0),
        Given(spared, ("wiki/b",), 100, 0),
        Given(spared, (), 0, 0),
    ]
    found = figures(given)
    assert (found.answerable, found.right) == (2, 0.5)
    assert (found.no_need, found.silent) == (2, 0.5)
    assert found.gold_share == pytest.approx(0.4)
    assert found.useful == pytest.approx(0.2)
    assert found.tokens == 100


def test_figures_of_silence_have_no_shares() -> None:
    found = figures([Given(Prompt("a", "thanks", "go on"), (), 0, 0)])
    assert found.right is None and found.gold_share is None and found.tokens is None
    assert found.silent == 1


def test_parts_are_figured_apart() -> None:
    given = [Given(Prompt(kind, "m", kind), (), 0, 0) for kind in ("b", "a", "b")]
    found = by(given, lambda prompt: prompt.kind)
    assert list(found) == ["a", "b"]
    assert found["b"].no_need == 2
