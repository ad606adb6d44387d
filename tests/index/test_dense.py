"""The vector store, embedded; and what is said of a server that is away."""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memory_mcp.core.config import VectorSettings
from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import VectorIndex, Vectors
from memory_mcp.index.dense import DenseStore
from memory_mcp.index.server import ServerStore
from tests.index.world import World, found


def units(count: int, dimension: int = 8) -> Vectors:
    rows = np.random.default_rng(5).normal(size=(count, dimension))
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.fixture
def store() -> Iterator[DenseStore]:
    made = DenseStore(8)
    yield made
    made.close()


def test_the_nearest_are_those_of_an_exact_search(store: DenseStore) -> None:
    index: VectorIndex = store.collection("vault")
    vectors = units(200)
    ids = [(1 << 62) + n for n in range(200)]
    index.add(ids, vectors)
    query = vectors[17]
    expected = np.argsort(-(vectors @ query))[:10]
    hits = index.nearest(query, 10)
    assert [point for point, _ in hits] == [ids[n] for n in expected]
    assert hits[0][1] == pytest.approx(1.0, abs=1e-5)
    assert index.count() == 200
    assert index.nearest(query, 0) == []


def test_replaced_and_removed_vectors_are_gone(store: DenseStore) -> None:
    index = store.collection("vault")
    vectors = units(3)
    index.add([1, 2], vectors[:2])
    index.add([1], vectors[2:])
    assert np.allclose(index.vectors([1])[1], vectors[2], atol=1e-6)
    index.remove([2, 99])
    index.remove([])
    assert sorted(index.ids()) == [1]
    assert index.vectors([2, 99]) == {}
    assert [point for point, _ in index.nearest(vectors[1], 5)] == [1]


def test_places_of_removed_vectors_are_taken_again(store: DenseStore) -> None:
    index, vectors = store.collection("vault"), units(500)
    random, there, most = np.random.default_rng(3), dict[int, Vectors](), 0
    for _ in range(150):
        some = random.choice(500, size=20, replace=False).tolist()
        if random.random() < 0.5:
            index.remove([*some, some[0]])
            for point in some:
                there.pop(point, None)
        else:
            rows = random.choice(500, size=20)
            index.add(some, vectors[rows])
            there |= dict(zip(some, vectors[rows], strict=True))
        most = max(most, len(there))
        assert sorted(index.ids()) == sorted(there)
        assert index.count() == len(there)
        query = vectors[random.integers(500)]
        hits = index.nearest(query, 10)
        best = sorted((float(row @ query) for row in there.values()), reverse=True)[:10]
        assert [score for _, score in hits] == pytest.approx(best, abs=1e-5)
        expected = {point: float(row @ query) for point, row in there.items()}
        assert index.cosines(query, range(500)) == pytest.approx(expected, abs=1e-5)
        assert len(index._held.ids_inv) <= most + 20


def test_sources_do_not_see_each_other(store: DenseStore) -> None:
    store.collection("memory:a").add([1], units(1))
    assert store.collection("memory:b").nearest(units(1)[0], 5) == []
    store.collection("memory:a").close()


@pytest.mark.timeout(60)
def test_more_than_twenty_thousand_vectors_cause_no_warning(store: DenseStore) -> None:
    index = store.collection("vault")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        other = DenseStore(8)
        other.collection("vault").add(range(20_001), units(20_001))
        other.close()
    assert [str(warning.message) for warning in caught] == []
    assert index.count() == 0


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_that_is_away_is_named() -> None:
    url = f"http://127.0.0.1:{_closed_port()}"
    store = ServerStore(VectorSettings(url=url, api_key="secret"), "/home", "id", 8)
    with pytest.raises(StorageError, match=r"vectors\.url") as caught:
        store.collection("vault")
    assert "secret" not in str(caught.value)
    store.close()


@pytest.mark.anyio
async def test_without_its_server_the_index_has_words_and_says_so(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{_closed_port()}"
    world = World(tmp_path, vectors={"url": url})
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running() as index:
        state = index.state()
        assert found(index, "kettle") == ["memory/a"]
        assert state.degraded is not None
        assert url in state.degraded
        assert state.pending == 0


@pytest.mark.server
@pytest.mark.skipif("QDRANT_URL" not in os.environ, reason="needs a Qdrant server in QDRANT_URL")
def test_a_real_server_keeps_vectors_between_stores_and_drops_those_of_another_model() -> None:
    settings = VectorSettings(url=os.environ["QDRANT_URL"])
    one = ServerStore(settings, "/test-home", "id", 8)
    one.collection("vault").add([1, 2], units(2))
    one.close()
    again = ServerStore(settings, "/test-home", "id", 8)
    assert sorted(again.collection("vault").ids()) == [1, 2]
    again.close()
    other = ServerStore(settings, "/test-home", "other", 8)
    assert list(other.collection("vault").ids()) == []
    other.close()
