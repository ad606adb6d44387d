"""Rows that another process removed or wrote from less are noticed and written again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from memory_mcp.core.note import Stamp
from memory_mcp.index.catalog import Catalog, Row, written
from memory_mcp.index.prepare import prepare
from memory_mcp.index.records import Records
from memory_mcp.index.table import Parsed, Table
from tests.index.world import SECONDS, World

pytestmark = pytest.mark.anyio

KEY = ("memory:default", "a")


class Two:
    """What one process recorded of a note, and the catalog as another process has it open."""

    def __init__(self, root: Path) -> None:
        self.world = World(root)
        self.world.write("memory/a", "The kettle is in the shed.")
        folder = self.world.home / ".index"
        self.records, self.other = Records(folder, "rules"), Catalog(folder)

    async def record(self) -> Row:
        source = self.world.source("memory")
        parsed = prepare(source, "a", None, self.world.config)
        assert isinstance(parsed, Parsed)
        entry = Table(self.world.sources).put(source, parsed)
        await self.records.record([(entry, lambda: parsed)], "model")
        assert await self.records.check() == []
        (row,) = self.other.rows()
        assert row.key == KEY
        return row

    async def close(self) -> None:
        self.other.close()
        await self.records.close()


async def test_a_row_that_another_process_removed_is_to_be_written_again(tmp_path: Path) -> None:
    two = Two(tmp_path)
    await two.record()
    two.other.forget([KEY])
    assert await two.records.check() == [KEY]
    assert await two.records.check() == []
    await two.record()
    await two.close()


@pytest.mark.parametrize(
    "less", [{"identity": ""}, {"stamp": Stamp(1, 2, 3)}, {"digest": "of an older text"}]
)
async def test_a_row_that_knows_less_is_to_be_written_again(
    tmp_path: Path, less: dict[str, object]
) -> None:
    two = Two(tmp_path)
    row = await two.record()
    two.other.record([written(replace(row, **less), None)])  # type: ignore[arg-type]  # names are fields
    assert await two.records.check() == [KEY]
    await two.close()


async def test_vectors_of_another_model_are_left_to_the_process_that_made_them(
    tmp_path: Path,
) -> None:
    two = Two(tmp_path)
    row = await two.record()
    two.other.record([written(replace(row, identity="another model"), None)])
    assert await two.records.check() == []
    await two.close()


async def test_a_running_index_writes_such_a_row_again(tmp_path: Path) -> None:
    settings = {"watch": False, "sweep_seconds": 1, "rescan_minutes": 0}
    world = World(tmp_path, index=settings)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running() as index:
        other = Catalog(world.home / ".index")
        other.forget([KEY])
        with anyio.fail_after(SECONDS):
            while not other.rows():
                await index._pulse.wait()
        other.close()
