"""What the table counts of live notes follows each change."""

from __future__ import annotations

from pathlib import Path

from memory_mcp.index.prepare import prepare
from memory_mcp.index.table import Parsed, Table
from tests.index.world import World

GERMAN = "Der Wasserkocher steht im Schuppen, und der Schlüssel liegt unter dem Stein."
ENGLISH = "The kettle is in the shed, and the key is under the stone."


def _put(world: World, table: Table, path: str, text: str) -> None:
    world.write(f"memory/{path}", text)
    source = world.source("memory")
    parsed = prepare(source, path, None, world.config)
    assert isinstance(parsed, Parsed)
    table.put(source, parsed)


def test_languages_and_keys_are_those_of_the_live_notes(tmp_path: Path) -> None:
    world = World(tmp_path)
    table, own = Table(world.sources), world.source("memory").id
    assert table.languages([own]) == set()
    _put(world, table, "a", GERMAN)
    _put(world, table, "b", GERMAN)
    assert table.languages([own]) == {"de"}
    assert table.languages(["another"]) == set()
    _put(world, table, "b", ENGLISH)
    assert table.languages([own]) == {"de", "en"}
    entry = table.entry(own, "a")
    assert entry is not None and set(entry.points) < table.points
    table.remove(own, "a")
    assert table.languages([own]) == {"en"}
    assert table.keys == {(own, "b")}
