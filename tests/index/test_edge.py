"""Vectors of many passages in qdrant-edge: the same answers, one owner, a move without a gap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest

from memory_mcp.core.config import Config
from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import VectorIndex, VectorStore
from memory_mcp.index import stores
from memory_mcp.index.dense import DenseStore
from memory_mcp.index.edge import FOLDER, EdgeStore, is_installed
from memory_mcp.index.lane import Lane
from tests.index.test_dense import units

pytestmark = pytest.mark.skipif(not is_installed(), reason="needs the extra edge")


@pytest.fixture
def both(tmp_path: Path) -> Iterator[list[VectorStore]]:
    made: list[VectorStore] = [
        EdgeStore(tmp_path / ".index", 8),
        DenseStore(8),
    ]
    yield made
    for store in made:
        store.close()


def test_edge_answers_as_the_embedded_store(both: list[VectorStore]) -> None:
    vectors, ids = units(300), [(1 << 62) + n for n in range(300)]
    edge, embedded = indexes = [store.collection("vault") for store in both]
    for index in indexes:
        index.add(ids, vectors)
        index.add(ids[:1], vectors[1:2])
        index.remove([ids[3], 99])
    allowed = set(ids[::7])
    for more in (None, allowed, {ids[5]}, set()):
        one, other = (index.nearest(vectors[5], 12, more) for index in indexes)
        assert [point for point, _ in one] == [point for point, _ in other]
        assert np.allclose([s for _, s in one], [s for _, s in other], atol=1e-5)
    assert sorted(edge.ids()) == sorted(embedded.ids())
    assert edge.count() == embedded.count() == 299
    assert edge.cosines(vectors[9], [ids[9], 99]) == {ids[9]: pytest.approx(1.0, abs=1e-5)}
    assert np.allclose(edge.vectors([ids[8]])[ids[8]], vectors[8], atol=1e-6)
    assert edge.nearest(vectors[5], 0) == []
    every = edge.nearest(vectors[5], 12)
    least = every[6][1]
    for index in indexes:
        better = [point for point, _ in index.nearest(vectors[5], 12, above=least)]
        assert [point for point, _ in every[:6]] == better[:6]
        assert len(better) <= 7
    assert list(both[0].collection("other").ids()) == []


def test_a_filter_gives_the_best_of_what_it_lets_through(both: list[VectorStore]) -> None:
    vectors, ids = units(2000), list(range(2000))
    for store in both:
        index: VectorIndex = store.collection("vault")
        index.add(ids, vectors)
        for step in (2, 10, 100, 1500):
            allowed = set(ids[::step])
            expected = sorted(allowed, key=lambda n: -float(vectors[n] @ vectors[1]))[:20]
            assert [point for point, _ in index.nearest(vectors[1], 20, allowed)] == expected


def test_a_second_owner_is_refused_before_it_touches_a_shard(tmp_path: Path) -> None:
    first = EdgeStore(tmp_path, 8)
    first.collection("vault").add([1, 2], units(2))
    with pytest.raises(StorageError, match="in use by another process"):
        EdgeStore(tmp_path, 8)
    first.collection("vault").add([3], units(1))
    assert first.collection("vault").count() == 3
    first.close()
    again = EdgeStore(tmp_path, 8)
    assert again.collection("vault").count() == 0
    again.close()


def test_a_source_without_vectors_costs_no_shard(tmp_path: Path) -> None:
    store = EdgeStore(tmp_path, 4)
    empty = store.collection("empty")
    empty.remove([1])
    assert empty.nearest(np.ones(4, np.float32), 5) == []
    assert empty.cosines(np.ones(4, np.float32), [1]) == empty.vectors([1]) == {}
    assert not list(empty.ids()) and empty.count() == 0
    assert not list((tmp_path / FOLDER).glob("*"))
    store.close()


def test_only_many_passages_without_a_server_go_to_edge(tmp_path: Path) -> None:
    home = Config.model_validate({"home": str(tmp_path)})
    served = Config.model_validate({"home": str(tmp_path), "vectors": {"url": "http://x"}})
    assert not stores.wants_edge(home, stores.EDGE_FROM)
    assert stores.wants_edge(home, stores.EDGE_FROM + 1)
    assert not stores.wants_edge(served, stores.EDGE_FROM + 1)
    store = stores.open_store(home, "id", 8, stores.EDGE_FROM + 1)
    other = stores.open_store(home, "id", 8, stores.EDGE_FROM + 1)
    assert (store.kind, other.kind) == ("edge", "memory")
    store.close()
    other.close()


@pytest.mark.anyio
async def test_vectors_move_to_edge_while_they_are_searched_and_changed(tmp_path: Path) -> None:
    lane, vectors = Lane(), units(1500)
    await lane.open(lambda: DenseStore(8), ["a", "b"])
    await lane.add("a", dict(enumerate(vectors)))
    await lane.add("b", {5000: vectors[0]})
    seen: list[int] = []

    async def look() -> None:
        while lane.kind != "edge":
            found = await lane.nearest(["a", "b"], vectors[7], 5)
            seen.append(found[0][0])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        tasks.start_soon(lane.remove, "a", [1, 2])
        await lane.move(lambda: EdgeStore(tmp_path, 8))
    assert set(seen) == {7}
    assert lane.count(["a"]) == 1498
    points = {point for point, _ in await lane.nearest(["a", "b"], vectors[0], 2000)}
    assert points == {*range(1500), 5000} - {1, 2}
    await lane.close()
