"""What would come into a conversation, on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command, note


def test_recall_shows_the_block_and_json_how_it_came_about(home: Path, command: Command) -> None:
    note(home, "wiki/karl", "# Karl\n\nKarl is a carpenter. His wife is called Anna.\n")
    shown = command("recall", "who is karl the carpenter?")
    assert "<MEMORY[wiki/karl]" in shown.out
    said = ("--history", "who is karl?", "--history", "assistant: Karl is a carpenter.")
    found = command("recall", "and his wife?", *said, "--json").json
    assert [hit["reference"] for hit in found["hits"]] == ["wiki/karl"]
    assert found["query"]["history"] == ["who is karl?", "Karl is a carpenter."]


def test_recall_says_why_it_is_silent(home: Path, command: Command) -> None:
    note(home, "wiki/karl", "# Karl\n\nKarl is a carpenter.\n")
    shown = command("recall", "thanks, go on")
    assert shown.out == ""
    assert "asks nothing" in shown.err
