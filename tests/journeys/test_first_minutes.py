"""A person's first minutes, each command a process of its own, with the real model."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.journeys import runs

FOLDERS = ("people", "places", "threads")


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_memory_from_init_to_restore(tmp_path: Path) -> None:
    home = tmp_path / "home"
    memory = partial(runs.memory, home)
    assert str(home) in memory("init")
    first = json.loads(memory("write", "boiler", "--json", text="Das Ventil heißt V7. ☕\n"))
    memory("write", "boiler", "--content", "Press the red knob if the house stays cold.")
    hits = json.loads(memory("search", "no warmth in the building", "--json"))["hits"]
    assert hits[0]["reference"] == "memory/boiler"
    assert hits[0]["vector_score"] > 0
    assert "red knob" in memory("show", "memory/boiler")
    assert first["revision"] in memory("history", "boiler")
    memory("restore", "boiler", first["revision"])
    assert "Das Ventil heißt V7. ☕" in memory("show", "boiler")
    memory("delete", "boiler")
    listed = json.loads(memory("list", "--json"))["notes"]
    assert [row["reference"] for row in listed] == [f"wiki/{name}/README" for name in FOLDERS]
    memory("restore", "memory/boiler")
    assert memory("list").startswith("memory/boiler\t")
    assert memory("search", "which valve").startswith("1. memory/boiler")
    assert json.loads(memory("status", "--json"))["pending"] == 0
    assert "All is well." in memory("doctor")
    assert "Indexed again: 4 notes, 4 vectors" in memory("reindex", "--embeddings")
