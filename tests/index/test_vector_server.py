"""Vectors on a server: the same answers, kept between runs, and tidy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest
from qdrant_client import models

from memory_mcp.core.config import VectorSettings
from memory_mcp.core.errors import StorageError
from memory_mcp.core.note import Labels
from memory_mcp.index.chosen import Chosen, Rule
from memory_mcp.index.dense import DenseStore
from memory_mcp.index.index import Index
from memory_mcp.index.payload import MANY_IDS
from memory_mcp.index.server import ServerStore
from tests.fakes import HashEmbedder
from tests.index.qdrant_double import KEY, QdrantDouble, qdrant
from tests.index.test_dense import units
from tests.index.world import SECONDS, World, found, near, until_settled


@pytest.fixture
def server() -> Iterator[QdrantDouble]:
    with qdrant() as running:
        yield running


def test_a_server_answers_as_the_embedded_store(server: QdrantDouble) -> None:
    vectors = units(30)
    ids = [(1 << 62) + n for n in range(30)]
    remote = ServerStore(VectorSettings(url=server.url, api_key=KEY), "/home", "id", 8)
    local = DenseStore(8)
    remote.collection("other").add([7, ids[8] + 100], vectors[:2])
    for store in (remote, local):
        store.collection("vault").add(ids, vectors)
        store.collection("vault").remove([ids[3]])
    one, other = remote.collection("vault"), local.collection("vault")
    assert sorted(one.ids()) == sorted(other.ids())
    assert one.count() == other.count() == 29
    assert [p for p, _ in one.nearest(vectors[5], 7)] == [
        p for p, _ in other.nearest(vectors[5], 7)
    ]
    assert [p for p, _ in one.nearest(vectors[5], 7, set(ids[::4]))] == [
        p for p, _ in other.nearest(vectors[5], 7, set(ids[::4]))
    ]
    assert one.cosines(vectors[9], ids[8:10]).keys() == {*ids[8:10]}
    assert np.allclose(one.vectors([ids[8]])[ids[8]], vectors[8], atol=1e-6)
    remote.close()
    local.close()


def test_a_broad_filter_is_told_by_its_rule_and_a_narrow_one_by_ids(server: QdrantDouble) -> None:
    size = MANY_IDS + 200
    vectors, ids = units(size), list(range(1, size + 1))
    allowed = Chosen(ids[: MANY_IDS + 100], Rule(("trips/alps",), "snow"))
    inside, outside = Labels(("trips", "trips/alps"), ("snow",)), Labels(("trips",), ("snow",))
    remote = ServerStore(VectorSettings(url=server.url, api_key=KEY), "/home", "id", 8)
    one = remote.collection("vault")
    one.add(ids, vectors, [inside if point in allowed else outside for point in ids])
    local = DenseStore(8)
    local.collection("vault").add(ids, vectors)
    broad = one.nearest(vectors[5], 20, allowed)
    assert "has_id" not in str(server.filters[-1])
    few = Chosen(ids[:300], Rule(("trips",)))
    narrow = one.nearest(vectors[5], 20, few)
    assert "has_id" in str(server.filters[-1])
    for hits, points in ((broad, allowed), (narrow, few)):
        expected = local.collection("vault").nearest(vectors[5], 20, points)
        assert [point for point, _ in hits] == [point for point, _ in expected]
    remote.close()
    local.close()


def test_a_rule_that_the_server_cannot_follow_yet_loses_nothing(server: QdrantDouble) -> None:
    size = MANY_IDS + 100
    vectors, ids = units(size), list(range(1, size + 1))
    store = ServerStore(VectorSettings(url=server.url, api_key=KEY), "/home", "id", 8)
    one = store.collection("vault")
    one.add(ids, vectors, [Labels(tags=("old",))] * size)
    hits = one.nearest(vectors[3], 5, Chosen(ids, Rule(tag="new")))
    assert len(hits) == 5
    assert hits[0][0] == 4
    store.close()


def test_another_model_gets_a_collection_of_its_own_and_the_old_one_goes(
    server: QdrantDouble,
) -> None:
    settings = VectorSettings(url=server.url, api_key=KEY)
    for home, identity in (("/home", "one"), ("/other", "one"), ("/home", "two")):
        store = ServerStore(settings, home, identity, 8)
        store.collection("vault").add([1], units(1))
        store.close()
    names = {one.name for one in server.client.get_collections().collections}
    assert len(names) == 2
    assert all(name.startswith("memory-mcp-") for name in names)


def test_a_refused_key_is_an_error_that_does_not_show_it(server: QdrantDouble) -> None:
    store = ServerStore(VectorSettings(url=server.url, api_key="wrong-one"), "/home", "id", 8)
    with pytest.raises(StorageError, match=r"vectors\.url") as caught:
        store.collection("vault")
    assert "wrong-one" not in str(caught.value)
    store.close()


@pytest.mark.anyio
async def test_a_home_on_a_server_is_complete_after_a_restart_and_keeps_no_strays(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    for n in range(5):
        world.write(f"vault/n{n}", f"Stone {n} lies by the gate.")
    async with world.running() as index:
        assert await near(index, "Stone 3 lies by the gate") != []
        assert index.state().vectors == 5
    (world.vault / "n1.md").unlink()
    world.write("vault/n2", "Moved to the quarry.")
    async with world.running() as index:
        await until_settled(index)
        state = index.state()
        assert (state.vectors, state.degraded, state.pending) == (4, None, 0)
        assert found(index, "quarry") == ["vault/n2"]
        assert "vault/n1" not in await near(index, "Stone 1 lies by the gate")
    assert (
        sum(server.client.count(c.name).count for c in server.client.get_collections().collections)
        == 4
    )


@pytest.mark.anyio
async def test_new_tags_of_a_note_reach_the_server_also_after_a_restart(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    world.write("vault/trips/alps/hut", "---\ntags: [snow]\n---\nThe hut has six beds.\n")

    def tags() -> list[str]:
        (name,) = (one.name for one in server.client.get_collections().collections)
        (point,) = server.client.scroll(name)[0]
        assert point.payload is not None
        assert point.payload["folders"] == ["trips", "trips/alps"]
        return list(point.payload["tags"])

    async with world.running() as index:
        assert tags() == ["snow"]
        world.write("vault/trips/alps/hut", "---\ntags: [Ice/Old]\n---\nThe hut has six beds.\n")
        await until_settled(index)
        assert tags() == ["ice", "ice/old"]
    world.write("vault/trips/alps/hut", "---\ntags: [sun]\n---\nThe hut has six beds.\n")
    async with world.running():
        assert tags() == ["sun"]


@pytest.mark.anyio
async def test_homes_at_one_path_on_two_machines_keep_apart_on_a_server(
    tmp_path: Path, server: QdrantDouble
) -> None:
    async def filled(text: str) -> None:
        world = World(tmp_path / "same", vectors={"url": server.url, "api_key": KEY})
        world.write("memory/a", text)
        async with world.running() as index:
            assert await near(index, text) == ["memory/a"]

    await filled("Stone lies by the gate.")
    (tmp_path / "same").rename(tmp_path / "first")
    await filled("Water runs to the mill.")
    counts = [
        server.client.count(one.name).count for one in server.client.get_collections().collections
    ]
    assert counts == [1, 1]


@pytest.mark.anyio
async def test_an_inbox_that_joins_late_finds_its_vectors_on_the_server(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    world.write("memory/stays", "Stone lies by the gate.")
    world.write("memory/goes", "Water runs to the mill.")
    async with world.running() as index:
        assert index.state().vectors == 2
    (world.memory / "goes.md").unlink()
    world.sources, inbox = world.sources[1:], world.sources[0]
    again = world.hash = HashEmbedder()
    async with world.running() as index:
        index.add(inbox)
        assert await index.settled(SECONDS)
        assert index.state().vectors == 1
        assert await near(index, "Stone lies by the gate") == ["memory/stays"]
    assert again.calls == []


@pytest.mark.anyio
async def test_a_server_that_goes_away_is_told_and_forgotten_when_it_is_back(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    world.write("vault/a", "Stone lies by the gate.")
    async with world.running() as index:
        server.away = True
        assert await near(index, "Stone lies by the gate") == []
        assert found(index, "stone") == ["vault/a"]
        assert server.url in (index.state().degraded or "")
        server.away = False
        assert await near(index, "Stone lies by the gate") == ["vault/a"]
        assert index.state().degraded is None


async def trouble(index: Index) -> None:
    """Wait until the index says what the server costs."""
    with anyio.fail_after(SECONDS):
        while index.state().unread or "words only" not in (index.state().degraded or ""):
            await index.look_at_store(SECONDS)


def points(server: QdrantDouble) -> int:
    return sum(
        server.client.count(one.name).count for one in server.client.get_collections().collections
    )


@pytest.mark.anyio
async def test_a_server_that_is_away_from_the_start_is_said_and_taken_when_it_comes(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    world.write("vault/a", "Stone lies by the gate.")
    server.away = True
    async with world.running() as index:
        state = index.state()
        assert (state.embedder.state, state.vectors, state.pending) == ("failed", 0, 0)
        assert "set vectors.url to null" in (state.embedder.error or "")
        assert state.degraded == f"words only: {state.embedder.error}"
        assert found(index, "stone") == ["vault/a"]
        server.away = False
        await index.look_at_store(SECONDS)
        assert await index.settled(SECONDS)
        state = index.state()
        assert (state.embedder.state, state.embedder.error) == ("ready", None)
        assert (state.degraded, state.vectors) == (None, 1)
        assert await near(index, "Stone lies by the gate") == ["vault/a"]


@pytest.mark.anyio
async def test_who_asks_how_a_server_is_hears_how_it_is_now(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    world.write("vault/a", "Stone lies by the gate.")
    async with world.running() as index:
        for away, state in ((True, "failed"), (True, "failed"), (False, "ready")):
            server.away = away
            await index.look_at_store(SECONDS)
            assert index.state().embedder.state == state
            assert (index.state().degraded is not None) is away


@pytest.mark.anyio
async def test_a_server_that_hangs_is_said_to_be_away_to_who_asks_how_it_is(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    async with world.running() as index:
        server.answers.clear()
        try:
            await index.look_at_store(0.2)
            state = index.state()
        finally:
            server.answers.set()
        assert "did not answer within 0.2 s. Start it" in (state.embedder.error or "")
        await index.look_at_store(SECONDS)
        assert index.state().embedder.state == "ready"


@pytest.mark.anyio
@pytest.mark.parametrize("loss", ["dropped", "emptied", "some"])
async def test_what_a_server_lost_meanwhile_is_put_in_again_without_the_model(
    tmp_path: Path, server: QdrantDouble, loss: str
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    for n in range(5):
        world.write(f"vault/n{n}", f"Stone {n} lies by the gate.")
    async with world.running() as index:
        before = list(world.hash.calls)
        (name,) = (one.name for one in server.client.get_collections().collections)
        some = [int(point.id) for point in server.client.scroll(name, limit=10)[0]]
        if loss == "dropped":
            server.client.delete_collection(name)
            assert await near(index, "Stone 3 lies by the gate") == []
            assert "words only" in (index.state().degraded or "")
        else:
            gone = some if loss == "emptied" else some[:2]
            server.client.delete(name, models.PointIdsList(points=[*gone]))
        await index.look_at_store(SECONDS)
        assert await index.settled(SECONDS)
        assert points(server) == 5
        assert (await near(index, "Stone 3 lies by the gate"))[0] == "vault/n3"
        state = index.state()
        assert (state.degraded, state.vectors, state.embedder.state) == (None, 5, "ready")
    assert before == world.hash.calls


@pytest.mark.anyio
async def test_what_changed_while_a_server_was_away_reaches_it_and_nothing_is_said_any_more(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    world.write("vault/a", "Stone lies by the gate.")
    file = world.write("vault/b", "Water runs to the mill.")
    async with world.running() as index:
        server.away = True
        world.write("vault/c", "A lamp hangs in the hall.")
        file.unlink()
        await index.sweep()
        await trouble(index)
        assert found(index, "lamp") == ["vault/c"]
        server.away = False
        await index.look_at_store(SECONDS)
        assert await index.settled(SECONDS)
        assert (index.state().degraded, index.state().vectors) == (None, 2)
        assert points(server) == 2
        assert (await near(index, "A lamp hangs in the hall"))[0] == "vault/c"


@pytest.mark.anyio
async def test_a_server_that_takes_nothing_but_answers_is_not_called_away(
    tmp_path: Path, server: QdrantDouble
) -> None:
    world = World(tmp_path, vectors={"url": server.url, "api_key": KEY})
    world.write("vault/a", "Stone lies by the gate.")
    async with world.running() as index:
        server.full = True
        world.write("vault/b", "Water runs to the mill.")
        await index.sweep()
        with anyio.fail_after(SECONDS):
            while "words only for 1 note" not in (index.state().degraded or ""):
                await index.look_at_store(SECONDS)
        assert await near(index, "Stone lies by the gate") == ["vault/a"]
        assert index.state().embedder.state == "ready"
        server.full = False
        assert await index.settled(SECONDS)
        assert (index.state().degraded, index.state().vectors) == (None, 2)
