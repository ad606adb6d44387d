"""A person's vault becomes a source: found, read, linked to, and left as it is."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.journeys import runs

COUNT = 200


def lay_vault(vault: Path) -> dict[Path, bytes]:
    """A folder of notes, and their bytes."""
    (vault / "trips").mkdir(parents=True)
    for number in range(COUNT):
        file = vault / "trips" / f"day {number}.md"
        file.write_bytes(f"# Day {number}\r\n\r\nWe walked {number} miles.\r\n".encode())
    (vault / "Boat.md").write_text("# Boat\n\nThe mooring is at pier nine.\n", encoding="utf-8")
    return {file: file.read_bytes() for file in vault.rglob("*.md")}


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_vault_is_a_source_and_stays_what_it_is(tmp_path: Path) -> None:
    home, vault = tmp_path / "home", tmp_path / "Vault"
    before = lay_vault(vault)
    memory = partial(runs.memory, home)

    assert f"memory-mcp --home {home} init makes it" in memory("list", code=1)
    memory("init")
    (home / "config.yml").write_text(f"sources: {{vault: {{path: {vault}}}}}\n", encoding="utf-8")

    listed = json.loads(memory("list", "--source", "vault", "--limit", "1000", "--json"))
    assert listed["total"] == COUNT + 1
    assert memory("show", "vault/Boat") == before[vault / "Boat.md"].decode()

    memory("write", "memory/boat-plans", "--content", "Paint the hull in spring.")
    assert "vault/Boat (about)" in memory("link", "boat-plans", "Boat", "--relation", "about")
    backlinks = json.loads(memory("show", "vault/Boat", "--json"))["backlinks"]
    assert "memory/boat-plans" in json.dumps(backlinks)

    hits = json.loads(memory("search", "where do we tie up the ship", "--json"))["hits"]
    assert "vault/Boat" in [hit["reference"] for hit in hits]
    assert json.loads(memory("status", "--json"))["sources"]["vault"]["state"] == "ready"

    assert "not in the inbox" in memory("delete", "vault/Boat", code=1)
    assert "not in the inbox" in memory("write", "vault/Boat", "--content", "x", code=1)
    memory("delete", "memory/boat-plans")
    assert "All is well." in memory("doctor")
    assert {file: file.read_bytes() for file in vault.rglob("*") if file.is_file()} == before
