"""What a model is told about tools, a person is told about commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory_mcp
from memory_mcp.cli.wording import for_person, when
from memory_mcp.core.counting import counted

FLOORS = ("core", "settings", "notes", "index", "search", "curate")
TOOL = re.compile(r"\bmemory_(?!mcp)[a-z]+\b|\bnext_cursor\b|\bif_revision\b")


def texts() -> Iterator[str]:
    """Every text of the floors below the faces that names a tool, f-strings with their gaps."""
    for floor in FLOORS:
        for file in sorted((Path(memory_mcp.__file__).parent / floor).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise) and TOOL.search(text := said_by(node)):
                    yield text


def said_by(node: ast.AST) -> str:
    """The constant parts of the texts below a node, as they would be said."""
    parts = [
        item.value
        for item in ast.walk(node)
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    return " ".join(parts)


@pytest.mark.parametrize("text", sorted(set(texts())))
def test_no_error_of_ours_sends_a_person_to_a_tool(text: str) -> None:
    assert not TOOL.search(for_person(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Look for it with memory_search or memory_list.", "memory-mcp search or memory-mcp list"),
        ("Read it again with memory_get and repeat", "with memory-mcp show and repeat"),
        ("memory_link(source=<slug>, target=wiki/tea).", "memory-mcp link <slug> wiki/tea."),
        ("correct it with memory_edit(frontmatter={links: …}).", "correct it in an editor."),
        ("Both have it: pass scope project or global.", "pass --scope project or global."),
        ("Use next_cursor as it was returned,", "Give --cursor the value that was printed,"),
    ],
)
def test_tools_become_commands(text: str, said: str) -> None:
    assert said in for_person(text)


def test_names_and_texts_of_notes_stay_as_they_are() -> None:
    framed = "What changed:\n<MEMORY[memory/x]>\nUse memory_get here.\n</MEMORY>\nmemory_get"
    assert for_person(framed) == framed.removesuffix("memory_get") + "memory-mcp show"
    for text in ("There is no note 'memory_get'.", "wiki/memory_list", 'old_text "memory_save"'):
        assert for_person(text) == text


def test_one_is_no_plural() -> None:
    assert [counted(number, "note") for number in (0, 1, 2)] == ["0 notes", "1 note", "2 notes"]


def test_times_have_a_zone() -> None:
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d", when("2026-03-01T10:15:00.5+01:00")
    )
