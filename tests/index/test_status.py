"""The state from outside agrees with the state from inside, and needs no model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memory_mcp.index import multilingual
from memory_mcp.index.embedder import IDENTITY
from memory_mcp.index.identity import derivation
from memory_mcp.index.index import disk_state
from memory_mcp.index.multilingual import multilingual_problem
from tests.index.world import World

pytestmark = pytest.mark.anyio


async def test_pending_counts_what_changed_since_the_catalog_was_written(tmp_path: Path) -> None:
    world = World(tmp_path)
    for n in range(5):
        world.write(f"vault/n{n}", f"Stone {n} lies by the gate.")
    before = disk_state(world.config, world.sources)
    assert (before.pending, before.vectors) == (5, 0)
    assert before.sources["vault"].state == "indexing"
    async with world.running() as index:
        inside, outside = index.state(), disk_state(world.config, world.sources)
        assert (inside.pending, outside.pending) == (0, 0)
        assert inside.sources == outside.sources
        assert (inside.vectors, outside.vectors) == (5, 5)
    world.write("vault/n1", "Stone one was moved.")
    world.write("vault/new", "A new stone.")
    (world.vault / "n2.md").unlink()
    after = disk_state(world.config, world.sources)
    assert (after.pending, after.sources["vault"].files) == (2, 3)
    assert after.degraded is not None


async def test_looking_writes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/a", "The kettle is in the shed.")
    disk_state(world.config, world.sources)
    assert not (world.home / ".index").exists()
    async with world.running():
        pass
    files = sorted((world.home / ".index").iterdir())
    stamps = [file.stat().st_mtime_ns for file in files if file.suffix == ".sqlite3"]
    disk_state(world.config, world.sources)
    again = [f.stat().st_mtime_ns for f in files if f.suffix == ".sqlite3"]
    assert again == stamps


async def test_a_damaged_catalog_is_named_and_everything_is_pending(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running():
        pass
    (world.home / ".index" / "catalog.sqlite3").write_bytes(b"\0" * 5000)
    state = disk_state(world.config, world.sources)
    assert state.pending == 1
    assert [warning.reference for warning in state.warnings] == ["index"]


async def test_other_rules_and_other_models_make_files_pending(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running():
        pass
    longer = World(tmp_path, chunking={"target_tokens": 300})
    assert disk_state(longer.config, longer.sources).pending == 1
    assert derivation(longer.config) != derivation(world.config)
    url = {"provider": "openai-compatible", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    other = World(tmp_path, embedding=url)
    state = disk_state(other.config, other.sources)
    assert (state.pending, state.embedder.model) == (1, "m")
    off = World(tmp_path, embedding={"provider": "none"})
    assert disk_state(off.config, off.sources).pending == 0


async def test_the_bundled_model_is_judged_by_its_files(tmp_path: Path) -> None:
    world = World(tmp_path)
    state = disk_state(world.config, world.sources)
    assert (state.embedder.state, state.embedder.dimension) == ("ready", 384)
    assert "all-MiniLM-L6-v2" in IDENTITY
    other = World(tmp_path, embedding={"provider": "multilingual"})
    state = disk_state(other.config, other.sources)
    assert state.embedder.model == multilingual.MODEL
    assert (state.embedder.state == "failed") == (multilingual_problem() is not None)


async def test_a_source_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("vault/a", "Kiln program.")
    async with world.running():
        pass
    shutil.rmtree(world.vault)
    state = disk_state(world.config, world.sources)
    assert (state.sources["vault"].state, state.pending) == ("missing", 0)
    assert "1 notes" in state.warnings[0].message


async def test_vectors_on_a_server_that_is_away_are_none_and_wait_for_nothing(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running():
        pass
    state = disk_state(world.config, world.sources, "the server is away")
    assert (state.embedder.state, state.embedder.error) == ("failed", "the server is away")
    assert state.degraded == "words only: the server is away"
    assert (state.vectors, state.pending) == (0, 0)
    off = World(tmp_path, embedding={"provider": "none"})
    assert disk_state(off.config, off.sources, "the server is away").embedder.state == "off"
