"""A vault whose disk is away is set aside, never wiped."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memory_mcp.index.index import disk_state
from tests.index.world import World, found, near, until_settled

pytestmark = pytest.mark.anyio


async def _filled(world: World) -> None:
    for n in range(5):
        world.write(f"vault/n{n}", f"Kiln program {n} peaks at 1060.")
    world.write("memory/clay", "Clay is in the garage.")


async def test_a_vault_that_vanishes_is_not_served_and_comes_back_unembedded(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    await _filled(world)
    async with world.running() as index:
        calls = len(world.hash.calls)
        world.vault.rename(tmp_path / "away")
        await until_settled(index)
        state = index.state()
        assert state.sources["vault"].state == "missing"
        assert [w.reference for w in state.warnings] == ["vault"]
        assert "5 notes" in state.warnings[0].message
        assert (found(index, "kiln"), found(index, "clay")) == ([], ["memory/clay"])
        assert await near(index, "kiln program") == ["memory/clay"]
        (tmp_path / "away").rename(world.vault)
        await until_settled(index)
        assert len(found(index, "kiln")) == 5
        assert len(world.hash.calls) == calls
        assert index.state().warnings == ()
        assert index.state().vectors == 6


async def test_a_vault_that_is_empty_at_start_is_kept_until_it_is_back(tmp_path: Path) -> None:
    world = World(tmp_path)
    await _filled(world)
    async with world.running():
        calls = len(world.hash.calls)
    world.vault.rename(tmp_path / "away")
    world.vault.mkdir()
    async with world.running() as index:
        state = index.state()
        assert state.sources["vault"].state == "empty"
        assert [w.reference for w in state.warnings] == ["vault"]
        seen = disk_state(world.config, world.sources)
        assert (seen.sources["vault"].state, seen.pending) == ("empty", 0)
        assert [w.reference for w in seen.warnings] == ["vault"]
        world.vault.rmdir()
        shutil.copytree(tmp_path / "away", world.vault)
        await until_settled(index)
        assert len(found(index, "kiln")) == 5
        assert len(world.hash.calls) == calls


async def test_the_last_note_of_a_vault_is_set_aside_and_that_of_the_inbox_removed(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.write("vault/only", "Kiln program one.")
    world.write("memory/only", "Clay is in the garage.")
    async with world.running() as index:
        (world.vault / "only.md").unlink()
        (world.memory / "only.md").unlink()
        await index.refresh(world.source("vault"), "only")
        await index.refresh(world.source("memory"), "only")
        await until_settled(index)
        state = index.state()
        assert (found(index, "kiln"), found(index, "clay")) == ([], [])
        assert state.sources["memory"].state == "empty"
        assert [w.reference for w in state.warnings] == ["vault"]


async def test_an_empty_vault_that_never_had_notes_is_no_reason_to_warn(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.running() as index:
        assert index.state().warnings == ()
        world.write("vault/first", "Kiln program one.")
        await until_settled(index)
        assert found(index, "kiln") == ["vault/first"]
        assert index.state().sources["vault"].state == "ready"


async def test_rows_of_a_source_that_is_no_longer_configured_are_removed(tmp_path: Path) -> None:
    world = World(tmp_path)
    await _filled(world)
    async with world.running():
        pass
    other = World(tmp_path, sources={})
    async with other.running() as index:
        assert found(index, "kiln") == []
        assert list(index.state().sources) == ["memory", "wiki"]
    assert disk_state(world.config, world.sources).pending == 5


async def test_a_folder_excluded_later_leaves_the_index(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("vault/Work/a", "Kiln program one.")
    world.write("vault/b", "Kiln program two.")
    async with world.running():
        pass
    vault = {"path": str(world.vault), "exclude": ["Work/**"]}
    async with World(tmp_path, sources={"vault": vault}).running() as index:
        assert found(index, "kiln") == ["vault/b"]


async def test_an_inbox_that_was_deleted_takes_a_new_note_at_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/old", "Clay is in the garage.")
    async with world.running() as index:
        shutil.rmtree(world.memory)
        await until_settled(index)
        assert found(index, "clay") == []
        assert index.state().sources["memory"].state == "missing"
        world.write("memory/new", "The kettle is in the shed.")
        await index.refresh(world.source("memory"), "new")
        assert found(index, "kettle") == ["memory/new"]
        assert await index.settled(5)
        assert index.state().sources["memory"].state == "ready"
        assert found(index, "clay") == []
