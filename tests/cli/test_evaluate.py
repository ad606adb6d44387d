"""Questions of one's own on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, note


def ask(folder: Path, *rows: object) -> str:
    file = folder / "questions.jsonl"
    file.write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(file)


def test_a_note_that_comes_too_late_is_shown_with_what_came_first(
    home: Path, tmp_path: Path, command: Command
) -> None:
    note(home, "wiki/kettle", "# Kettle\n\nThe kettle hums in E flat.\n")
    note(home, "wiki/choir", "# Choir\n\nThe choir sings in D minor.\n")
    file = ask(
        tmp_path,
        {"question": "what does the kettle hum", "gold": "wiki/kettle", "rank": 1},
        {"id": "b", "question": "kettle hums", "gold": ["wiki/choir"], "rank": 1},
        {"question": "and in which key?", "gold": ["wiki/choir"], "history": ["the choir sings"]},
    )
    done = command("eval", file)
    assert done.code == 0
    assert "allowed 1: kettle hums" in done.out
    assert "wanted wiki/choir; first is wiki/kettle" in done.out
    assert "what does the kettle hum" not in done.out
    assert "3 questions" in done.out
    found = command("eval", file, "--json").json
    assert found["questions"] == 3
    assert found["H@1"] == pytest.approx(2 / 3)
    assert found["in rank"] == pytest.approx(2 / 3)
    assert [row["id"] for row in found["results"]] == ["1", "b", "5"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1"),
        ("[]", "it is no object"),
        ('{"gold": ["wiki/a"]}', "question is missing"),
        ('{"question": "a"}', "gold is missing"),
        ('{"question": "a", "gold": []}', "gold is missing"),
        ('{"question": "a", "gold": [3]}', "gold holds something that is no text"),
        ('{"question": "a", "gold": "wiki/a", "rank": 0}', "rank is 0"),
        ('{"question": "a", "gold": "wiki/a", "rank": true}', "rank is True"),
        ('{"question": 3, "gold": "wiki/a"}', "question is missing, or no text"),
        ('{"question": "a", "gold": "wiki/a", "rnk": 1}', "did you mean 'rank'"),
        ("", "there is no question"),
    ],
)
def test_a_line_that_is_no_question_is_refused_with_an_example(
    home: Path, tmp_path: Path, command: Command, line: str, said: str
) -> None:
    note(home, "wiki/a", "A.\n")
    file = tmp_path / "questions.jsonl"
    file.write_text(line, encoding="utf-8")
    done = command("eval", str(file))
    assert done.code == 1
    assert said in done.err
    missing = command("eval", str(tmp_path / "none.jsonl"))
    assert missing.code == 1
    assert "There is no file" in missing.err
    assert "none.jsonl" in missing.err


def test_right_notes_may_be_named_as_anywhere_and_must_be_there(
    home: Path, tmp_path: Path, command: Command
) -> None:
    note(home, "wiki/tools/kettle", "# Kettle\n\nThe kettle hums in E flat.\n")
    good = {"question": "what does the kettle hum", "gold": "kettle", "kind": "fact"}
    assert command("eval", ask(tmp_path, good), "--json").json["H@1"] == 1
    rows = (good, {"question": "x", "gold": "kettel", "id": "b"}, {"question": "y", "gold": "pot"})
    done = command("eval", ask(tmp_path, *rows))
    assert done.code == 1
    assert "question b: " in done.err
    assert "wiki/tools/kettle" in done.err
    assert "question 5: " in done.err
