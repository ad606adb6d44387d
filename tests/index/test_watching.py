"""Changes are noticed without being asked: by events at once, by sweeps in the end."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from memory_mcp.index.index import Index
from memory_mcp.index.mounts import is_share
from tests.index.world import World, found, until

pytestmark = pytest.mark.anyio


def _is_plan(index: Index, text: str) -> bool:
    return found(index, text) == ["memory/plan"]


async def test_an_editor_s_save_by_rename_is_found_by_its_event(tmp_path: Path) -> None:
    world = World(tmp_path, index={"watch": True, "sweep_seconds": 0, "rescan_minutes": 0})
    world.write("memory/plan", "The bench gets linseed oil.")
    async with world.running() as index:
        for text in ("beeswax", "teak oil", "nothing"):
            temporary = world.memory / ".plan.md.tmp1"
            temporary.write_text(f"The bench gets {text}.", encoding="utf-8")
            temporary.replace(world.memory / "plan.md")
            await until(index, partial(_is_plan, index, text))
        assert found(index, "linseed") == []
        (world.memory / "plan.md").unlink()
        await until(index, lambda: found(index, "bench") == [])


async def test_without_events_a_sweep_finds_the_change(tmp_path: Path) -> None:
    world = World(tmp_path, index={"watch": False, "sweep_seconds": 1, "rescan_minutes": 0})
    async with world.running() as index:
        world.write("vault/late", "The bench gets beeswax.")
        await until(index, lambda: found(index, "beeswax") == ["vault/late"])


def test_a_folder_of_this_machine_is_no_share(tmp_path: Path) -> None:
    assert not is_share(tmp_path)
    assert not is_share(tmp_path / "absent")
