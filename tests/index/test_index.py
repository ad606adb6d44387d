"""Files go in, words and vectors come out, and nothing stale with them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Embedder, Vectors
from memory_mcp.index.index import disk_state
from memory_mcp.index.state import IndexEvent
from tests.fakes import HashEmbedder
from tests.index.world import SECONDS, World, found, near, until, until_settled

pytestmark = pytest.mark.anyio


class GatedEmbedder(HashEmbedder):
    """Embeds passages only once the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def passages(self, texts: Sequence[str]) -> Vectors:
        assert self.gate.wait(SECONDS)
        return super().passages(texts)


async def test_words_are_searchable_while_vectors_are_still_missing(tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    world = World(tmp_path, lambda: embedder)
    world.write("vault/bench", "The bench gets linseed oil.")
    async with world.running(settled=False) as index:
        await until(index, lambda: bool(found(index, "linseed")))
        state = index.state()
        assert state.pending == 1
        assert state.degraded is not None
        assert state.vectors == 0
        embedder.gate.set()
        assert await index.settled(SECONDS)
        state = index.state()
        assert (state.pending, state.degraded, state.vectors) == (0, None, 1)
        assert await near(index, "linseed oil bench") == ["vault/bench"]


async def test_one_changed_paragraph_costs_one_embedding(tmp_path: Path) -> None:
    world = World(tmp_path)
    sections = [f"## Part {n}\n\nStone {n} lies by gate number {n}.\n" for n in range(50)]
    world.write("vault/long", "# Stones\n\nAll of them.\n\n" + "\n".join(sections))
    async with world.running() as index:
        before = len(world.hash.calls)
        assert before >= 50
        sections[20] = "## Part 20\n\nStone 20 was moved to the quarry.\n"
        world.write("vault/long", "# Stones\n\nAll of them.\n\n" + "\n".join(sections))
        await until_settled(index)
        assert len(world.hash.calls) == before + 1
        assert "quarry" in world.hash.calls[-1]
        assert found(index, "quarry") == ["vault/long"]
        assert index.state().vectors == before


async def test_nothing_is_embedded_twice_over_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path)
    for n in range(20):
        world.write(f"memory/n{n}", f"# N{n}\n\nStone {n} lies by the gate.")
    async with world.running():
        pass
    first = len(world.hash.calls)
    async with world.running() as index:
        assert len(world.hash.calls) == first
        assert index.state().vectors == 20
        assert len(found(index, "stone")) == 20


async def test_a_file_that_moves_keeps_its_vectors_and_loses_its_old_name(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("vault/n/one", "Elderflower syrup, two lemons.")
    world.write("vault/n/two", "Elderflower syrup, two lemons.")
    async with world.running() as index:
        calls = len(world.hash.calls)
        (world.vault / "n").rename(world.vault / "m")
        await until_settled(index)
        assert sorted(found(index, "elderflower")) == ["vault/m/one", "vault/m/two"]
        assert index.entry("vault", "n/one") is None
        (world.vault / "m" / "one.md").unlink()
        await until_settled(index)
        assert found(index, "elderflower") == ["vault/m/two"]
        assert await near(index, "elderflower syrup") == ["vault/m/two"]
        assert len(world.hash.calls) <= calls + 2  # the title is part of what is embedded


async def test_a_rename_in_case_only_leaves_one_note(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("vault/Garden", "Beans at the south wall.")
    async with world.running() as index:
        (world.vault / "Garden.md").rename(world.vault / "garden.md")
        await until_settled(index)
        assert [entry.card.path for entry in index.entries()] == ["garden"]
        assert found(index, "beans") == ["vault/garden"]


async def test_a_deleted_note_is_gone_from_both_legs_at_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/gone", "Wolfgang keeps the trailer in Hallein.")
    world.write("memory/stay", "The raft is at home.")
    async with world.running() as index:
        (world.memory / "gone.md").unlink()
        await index.refresh(world.source("memory"), "gone")
        assert found(index, "trailer") == []
        assert await near(index, "trailer Hallein") == ["memory/stay"]
        assert await index.settled(SECONDS)
        assert index.state().vectors == 1


async def test_a_written_note_is_found_when_refresh_returns(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.running() as index:
        world.write("memory/first", "The kettle is in the shed.")
        await index.refresh(world.source("memory"), "first")
        assert found(index, "kettle") == ["memory/first"]
        assert await near(index, "kettle shed") == ["memory/first"]


async def test_a_change_that_keeps_size_and_time_is_found_by_a_later_sweep(tmp_path: Path) -> None:
    world = World(tmp_path)
    file = world.write("vault/race", "The answer is one.")
    async with world.running() as index:
        stat = file.stat()
        file.write_text("The answer is two.", encoding="utf-8")
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        await until_settled(index)
        assert found(index, "two") == ["vault/race"]
        assert found(index, "one") == []


async def test_a_touched_file_is_hashed_and_not_embedded(tmp_path: Path) -> None:
    world = World(tmp_path)
    file = world.write("vault/same", "The same words.")
    async with world.running() as index:
        calls = len(world.hash.calls)
        os.utime(file, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
        await until_settled(index)
        entry = index.entry("vault", "same")
        assert entry is not None
        assert entry.stamp.mtime_ns == 1_700_000_000_000_000_000
        assert entry.card.modified.startswith("2023-11-14T")
        assert len(world.hash.calls) == calls
    assert disk_state(world.config, world.sources).pending == 0


async def test_the_last_of_many_saves_wins(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.running() as index:
        for round_ in range(30):
            world.write("memory/race", f"# Race\n\nThe final answer is round{round_:02d}.")
            await index.sweep(world.source("memory"))
        await until_settled(index)
        assert found(index, "round29") == ["memory/race"]
        texts = [passage.text for entry in index.entries() for passage in entry.passages]
        assert [text for text in texts if "round29" not in text] == []


async def test_a_file_that_cannot_be_read_costs_a_warning_on_itself(tmp_path: Path) -> None:
    world = World(tmp_path)
    big = world.write("vault/big", "x" * (17 * 1024 * 1024))
    world.write("vault/good", "Wax seals for jars.")
    async with world.running() as index:
        state = index.state()
        assert [w.reference for w in state.warnings] == ["vault/big"]
        assert state.pending == 0
        assert found(index, "wax") == ["vault/good"]
        seen = disk_state(world.config, world.sources)
        assert seen.pending == 0
        assert [w.reference for w in seen.warnings] == ["vault/big"]
        big.write_text("Small again: beeswax.", encoding="utf-8")
        await until_settled(index)
        assert index.state().warnings == ()
        assert found(index, "beeswax") == ["vault/big"]


async def test_listeners_hear_what_changed_and_whether_the_list_did(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/a", "# A\n\nOne.\n\nTwo.")
    async with world.running() as index:
        heard: list[IndexEvent] = []
        end = index.subscribe(heard.append)
        world.write("memory/a", "# A\n\nOne.\n\nThree.")
        await index.refresh(world.source("memory"), "a")
        assert heard == [IndexEvent(frozenset(("memory/a",)), False, "memory:default")]
        world.write("memory/b", "New.")
        await index.refresh(world.source("memory"), "b")
        assert heard[-1] == IndexEvent(frozenset(("memory/b",)), True, "memory:default")
        end()
        (world.memory / "b.md").unlink()
        await index.refresh(world.source("memory"), "b")
        assert len(heard) == 2


class FlakyEmbedder(HashEmbedder):
    """Takes no text with a poisoned word, and nothing at all while it is away."""

    def __init__(self) -> None:
        super().__init__()
        self.attempts = 0

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.attempts += 1
        if any("poison" in text for text in texts):
            raise EmbeddingError("that text is too much")
        return super().passages(texts)


def _broken() -> Embedder:
    raise ModelError("the model file is cut")


async def test_a_model_that_cannot_be_loaded_costs_only_the_vectors(tmp_path: Path) -> None:
    world = World(tmp_path, _broken)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running() as index:
        state = index.state()
        assert state.degraded == "words only: the model file is cut"
        assert (state.pending, state.embedder.state) == (0, "failed")
        assert found(index, "kettle") == ["memory/a"]
        assert await index.query_vector("kettle") is None
    world.load = lambda: world.hash
    async with world.running() as index:
        assert (index.state().vectors, index.state().degraded) == (1, None)


async def test_without_a_provider_the_index_is_complete_with_words(tmp_path: Path) -> None:
    world = World(tmp_path, embedding={"provider": "none"})
    world.load = None
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running() as index:
        state = index.state()
        assert (state.pending, state.embedder.state, state.vectors) == (0, "off", 0)
        assert found(index, "kettle") == ["memory/a"]
    assert disk_state(world.config, world.sources).pending == 0


class OtherEmbedder(HashEmbedder):
    """Another model: other vectors, another identity."""

    def __init__(self) -> None:
        super().__init__(dimension=16)


async def test_another_model_embeds_everything_again_and_mixes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    for n in range(10):
        world.write(f"memory/n{n}", f"Stone {n} lies by the gate.")
    async with world.running():
        pass
    other = OtherEmbedder()
    world.load = lambda: other
    async with world.running() as index:
        assert len(other.calls) == 10
        assert index.state().vectors == 10
        vector = await index.query_vector("stone gate")
        assert vector is not None
        assert vector.shape == (16,)
        assert len(await index.nearest([world.source("memory").id], vector, 20)) == 10
    world.load = lambda: world.hash
    calls = len(world.hash.calls)
    async with world.running():
        assert len(world.hash.calls) == calls  # the first model's vectors were kept


async def test_cosine_is_exact_for_points_that_have_vectors(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running() as index:
        entry = index.entry("memory:default", "a")
        assert entry is not None
        vector = world.hash.passages([entry.passages[0].embedded])[0]
        scores = await index.cosine(vector, [*entry.points, 12345])
        assert scores == {entry.points[0]: pytest.approx(1.0, abs=1e-6)}


async def test_a_rebuild_reads_everything_again_and_reports_progress(tmp_path: Path) -> None:
    world = World(tmp_path)
    for n in range(30):
        world.write(f"vault/n{n}", f"Stone {n} lies by the gate.")
    seen: list[tuple[int, int]] = []
    async with world.running() as index:
        await index.rebuild(lambda done, total: seen.append((done, total)))
        assert seen[-1][0] == seen[-1][1]
        assert len(world.hash.calls) == 30
        await index.rebuild(embeddings=True)
        assert len(world.hash.calls) == 60
        assert index.state().vectors == 30
    await world.index().rebuild()


async def test_the_event_loop_stays_free_while_a_thousand_notes_are_loaded(tmp_path: Path) -> None:
    world = World(tmp_path)
    for n in range(300):
        world.write(f"vault/n{n}", f"# N{n}\n\n" + f"Stone {n} lies by the gate {n % 7}.\n\n" * 5)
    longest = 0.0
    async with world.running(settled=False) as index, anyio.create_task_group() as tasks:

        async def feel() -> None:
            nonlocal longest
            while True:
                before = anyio.current_time()
                await checkpoint()
                longest = max(longest, anyio.current_time() - before)
                await anyio.sleep(0.002)

        tasks.start_soon(feel)
        assert await index.settled(SECONDS)
        tasks.cancel_scope.cancel()
    assert longest < 0.5
