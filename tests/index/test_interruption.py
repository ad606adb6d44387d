"""Stopped at any point, the next run ends complete."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from memory_mcp.core.errors import EmbeddingError
from memory_mcp.core.ports import Vectors
from memory_mcp.index.cache import EmbeddingCache
from memory_mcp.index.index import disk_state
from tests.fakes import HashEmbedder
from tests.index.test_agreement import compare, fresh, picture
from tests.index.world import SECONDS, World, found

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.timeout(60)
async def test_a_run_cancelled_anywhere_is_completed_by_the_next(tmp_path: Path) -> None:
    chance = random.Random(7)
    world = World(tmp_path)
    for n in range(60):
        world.write(
            f"vault/n{n}", f"# N{n}\n\nStone {n} lies by the oak gate.\n\n## More\n\nMoss."
        )
    for _ in range(12):
        index = world.index()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(index.run)
            for _ in range(chance.randrange(3000)):
                await checkpoint()
            tasks.cancel_scope.cancel()
        number = chance.randrange(60)
        world.write(
            f"vault/n{number}", f"# N{number}\n\nMoved to the iron gate {chance.random()}."
        )
    async with world.running() as index:
        assert index.state().pending == 0
        compare(await picture(index), await fresh(world))
    assert disk_state(world.config, world.sources).pending == 0


CHILD = """
import sys
from pathlib import Path
import anyio
from tests.index.world import World

async def main() -> None:
    world = World(Path(sys.argv[1]))
    world.hash.batch = 4
    index = world.index()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(index.run)
        while index.state().vectors < 20:
            await anyio.sleep(0.001)
        print("now", flush=True)

anyio.run(main)
"""


async def test_a_process_killed_while_it_embeds_leaves_nothing_half_done(tmp_path: Path) -> None:
    world = World(tmp_path)
    for n in range(200):
        world.write(f"memory/n{n}", f"# N{n}\n\nStone {n} lies by the gate.")
    with anyio.fail_after(SECONDS):
        command = [sys.executable, "-c", CHILD, str(tmp_path)]
        async with await anyio.open_process(command, cwd=ROOT, stderr=None) as child:
            assert child.stdout is not None
            await child.stdout.receive()
            child.kill()
    kept = EmbeddingCache(world.home / ".index")
    (before,) = kept.database.run(
        lambda c: c.execute("SELECT count(*) FROM vectors WHERE identity = 'hash/32'").fetchone()
    )
    kept.close()
    assert before >= 20
    async with world.running() as index:
        state = index.state()
        assert (state.pending, state.vectors, state.warnings) == (0, 200, ())
        assert len(world.hash.calls) == 200 - before
        assert len({entry.card.reference for entry in index.entries()}) == 200


async def test_the_catalog_claims_a_file_only_once_its_vectors_are_kept(tmp_path: Path) -> None:
    class Stuck(HashEmbedder):
        """Embeds three batches, then no more."""

        batch = 4

        def __init__(self) -> None:
            super().__init__()
            self.batch = 4
            self.stuck = threading.Event()

        def passages(self, texts: Sequence[str]) -> Vectors:
            if len(self.calls) >= 12:
                self.stuck.set()
                raise EmbeddingError("no more today")
            return super().passages(texts)

    stuck = Stuck()
    world = World(tmp_path, lambda: stuck)
    for n in range(40):
        world.write(f"memory/n{n}", f"Stone {n} lies by the gate.")
    async with world.running(settled=False) as index:
        assert await anyio.to_thread.run_sync(stuck.stuck.wait, SECONDS)
        assert not await index.settled(0.2)
        state = index.state()
        assert state.pending == 40 - state.vectors
        assert len(found(index, "stone")) == 20
        seen = disk_state(world.config, world.sources)
        assert (seen.pending, seen.vectors) == (28, 12)
    world.load = lambda: world.hash
    async with world.running() as index:
        assert (index.state().pending, index.state().vectors) == (0, 40)
        assert len(world.hash.calls) == 28


async def test_one_text_that_the_model_refuses_costs_only_that_note(tmp_path: Path) -> None:
    class Picky(HashEmbedder):
        """Refuses any batch with a poisoned word."""

        def passages(self, texts: Sequence[str]) -> Vectors:
            if any("poison" in text for text in texts):
                raise EmbeddingError("that text is too much")
            return super().passages(texts)

    picky = Picky()
    world = World(tmp_path, lambda: picky)
    world.write("memory/a", "The kettle is in the shed.")
    world.write("memory/b", "This is poison.")
    async with world.running(settled=False) as index:
        assert await index.settled(SECONDS)
        state = index.state()
        assert [w.reference for w in state.warnings] == ["memory/b"]
        assert state.pending == 0
        assert found(index, "poison") == ["memory/b"]
    assert disk_state(world.config, world.sources).pending == 0


async def test_a_model_that_failed_is_not_blamed_any_more_once_nothing_waits(
    tmp_path: Path,
) -> None:
    class Away(HashEmbedder):
        """Takes no passage."""

        def passages(self, texts: Sequence[str]) -> Vectors:
            raise EmbeddingError("no answer today")

    world = World(tmp_path, Away)
    file = world.write("memory/a", "The kettle is in the shed.")
    async with world.running(settled=False) as index:
        with anyio.fail_after(SECONDS):
            while "no answer today" not in (index.state().degraded or ""):
                assert not await index.settled(0.01)
        file.unlink()
        await index.sweep()
        assert await index.settled(SECONDS)
        assert index.state().degraded is None


async def test_two_indexes_on_one_home_both_end_complete(tmp_path: Path) -> None:
    world = World(tmp_path)
    for n in range(40):
        world.write(f"memory/n{n}", f"Stone {n} lies by the gate.")
    async with world.running(settled=False) as one, world.running(settled=False) as two:
        assert await one.settled(SECONDS)
        assert await two.settled(SECONDS)
        world.write("memory/n1", "Stone one was moved to the quarry.")
        await one.refresh(world.source("memory"), "n1")
        await two.sweep()
        assert await two.settled(SECONDS)
        assert found(two, "quarry") == found(one, "quarry") == ["memory/n1"]
    assert disk_state(world.config, world.sources).pending == 0
