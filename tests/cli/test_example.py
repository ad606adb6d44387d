"""The example memory is a sound one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.app import App
from memory_mcp.cli.context import Setup
from memory_mcp.cli.example import lay_example
from memory_mcp.cli.running import WORDS, with_memory
from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.note import Note
from memory_mcp.core.parse import parse
from memory_mcp.core.slug import check_slug

NAMES = {"memory": "agents/default/memory", "wiki": "wiki", "vault": "vault"}


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, as the demo lays it."""
    place = tmp_path / "example"
    lay_example(place)
    monkeypatch.setenv("MEMORY_MCP_HOME", str(place))
    monkeypatch.setenv("MEMORY_MCP_EMBEDDING__PROVIDER", "none")
    return place


def notes(example: Path) -> list[Note]:
    """All its notes, parsed."""
    return [
        parse(
            name,
            name,  # type: ignore[arg-type]
            file.relative_to(example / folder).as_posix().removesuffix(".md"),
            file.read_bytes(),
            "2026-03-14T09:30:00+00:00",
            ChunkSettings(),
        )
        for name, folder in NAMES.items()
        for file in sorted((example / folder).rglob("*.md"))
    ]


def test_no_note_of_the_example_has_a_warning(example: Path) -> None:
    warned = {note.card.reference: note.card.warnings for note in notes(example)}
    assert len(warned) >= 20
    assert {reference: texts for reference, texts in warned.items() if texts} == {}


def test_the_example_has_three_languages_and_all_kinds_of_relations(example: Path) -> None:
    cards = [note.card for note in notes(example)]
    assert {"en", "de", "zh"} <= {card.language for card in cards}
    assert {"wikilink", "relation"} <= {link.kind for card in cards for link in card.links}
    assert {"supersedes", "part_of"} <= {link.relation for card in cards for link in card.links}
    for card in cards:
        if card.source == "memory":
            check_slug(card.path)


def test_every_link_of_the_example_leads_to_a_note(example: Path) -> None:
    async def dead_links(app: App) -> list[tuple[str, str]]:
        return [
            (note.card.reference, link.target)
            for note in notes(example)
            for link in (await app.reader.get(note.card.reference)).links
            if link.reference is None
        ]

    assert with_memory(Setup({"home": str(example)}).config(), dead_links, WORDS) == []
