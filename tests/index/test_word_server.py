"""Words on a server: the same answers as in memory, also while it is away or behind."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from qdrant_client import QdrantClient

from memory_mcp.core.config import VectorSettings
from memory_mcp.core.note import Labels
from memory_mcp.core.words import query_terms
from memory_mcp.index.chosen import Chosen, Rule
from memory_mcp.index.index import Index
from memory_mcp.index.payload import MANY_IDS
from memory_mcp.index.server import short
from memory_mcp.index.server_words import SentNote, WordCollection
from memory_mcp.index.view import IndexView
from memory_mcp.search.hit import SearchRequest
from memory_mcp.search.search import Searcher
from tests.index.qdrant_double import KEY, QdrantDouble, qdrant
from tests.index.world import World, until_settled

pytestmark = pytest.mark.anyio

NOTES = {
    "vault/gate": "# Gate\n\nStone lies by the old gate.\n\n## Lock\n\nA brass lock.\n",
    "vault/trips/hut": "---\ntags: [snow]\n---\nThe hut by the gate has six beds.\n",
    "wiki/mill": "# Mill\n\nWater runs to the mill; stone grinds the corn.\n",
    "memory/garten": "# Garten\n\nDie Müllers haben einen Garten mit Brunnen aus Stein.\n",
}
QUERIES = ("stone gate", "six beds in the hut", "Müllers Garten", "where is the brass lock", "nix")


@pytest.fixture
def server() -> Iterator[QdrantDouble]:
    with qdrant() as running:
        yield running


def world(root: Path, server: QdrantDouble, notes: Mapping[str, str] = NOTES) -> World:
    vectors = {"url": server.url, "api_key": KEY, "words": "server"}
    made = World(root, vectors=vectors)
    for reference, text in notes.items():
        made.write(reference, text)
    return made


async def words(
    index: Index, query: str, allowed: Mapping[str, Collection[int]] | None = None
) -> list[tuple[str, float]]:
    """(reference, BM25) of what holds a word of the query, best first, equal ones by name."""
    view = index.words([source.id for source in index.sources])
    found = await index.by_words(view, query_terms(query, ("en", "de")), 20, allowed)
    entries = [(index.at(point), score) for point, score in found]
    told = [(at[0].card.reference, round(score, 9)) for at, score in entries if at is not None]
    assert [score for _, score in told] == sorted((score for _, score in told), reverse=True)
    return sorted(told, key=lambda hit: (-hit[1], hit[0]))


def on_server(server: QdrantDouble) -> list[Any]:
    """The points of the words."""
    (name,) = (
        one.name
        for one in server.client.get_collections().collections
        if one.name.startswith("memory-mcp-words-")
    )
    return list(server.client.scroll(name, limit=10_000)[0])


async def test_words_on_a_server_score_as_in_memory(tmp_path: Path, server: QdrantDouble) -> None:
    remote = world(tmp_path / "one", server)
    local = World(tmp_path / "two")
    for reference, text in NOTES.items():
        local.write(reference, text)
    async with remote.running() as one, local.running() as other:
        for query in QUERIES:
            server.filters.clear()
            assert await words(one, query) == await words(other, query), query
            assert len(server.filters) == 1
        here, there = (
            Searcher(IndexView(index, index.sources), world.config.search)
            for index, world in ((one, remote), (other, local))
        )
        for query in QUERIES:
            request = SearchRequest(query)
            one_way, other_way = [
                [
                    (hit.card.reference, round(hit.score, 6), round(hit.bm25_score, 6))
                    for hit in hits
                ]
                for hits in [(await side.search(request)).hits for side in (here, there)]
            ]
            assert one_way == other_way
        assert one.state().degraded is None


async def test_what_changes_is_found_at_once_and_what_is_gone_leaves_the_server(
    tmp_path: Path, server: QdrantDouble
) -> None:
    home = world(tmp_path, server)
    async with home.running() as index:
        first = {point.id for point in on_server(server)}
        file = home.write("vault/gate", "A quartzite step.")
        await index.refresh(home.source("vault"), "gate")
        assert await words(index, "quartzite") != []
        assert await words(index, "brass") == []
        file.unlink()
        await until_settled(index)
        assert await words(index, "quartzite") == []
        left = {point.id for point in on_server(server)}
        assert left < first
        assert len(first - left) == 3
    (home.vault / "trips" / "hut.md").unlink()
    home.write("wiki/mill", "# Mill\n\nThe mill was sold.\n")
    async with home.running() as index:
        await until_settled(index)
        assert await words(index, "hut") == await words(index, "water") == []
        assert [name for name, _ in await words(index, "sold")] == ["wiki/mill"]
        assert len(on_server(server)) == 4


async def test_a_restart_writes_nothing_and_a_second_engine_changes_nothing(
    tmp_path: Path, server: QdrantDouble
) -> None:
    home = world(tmp_path, server)
    async with home.running():
        before = on_server(server)
    server.writes = 0
    async with home.running() as one:
        assert server.writes == 0
        async with world(tmp_path, server).running() as other:
            assert await words(one, "stone") == await words(other, "stone") != []
    assert on_server(server) == before


async def test_without_the_server_words_answer_all_the_same_and_it_is_said(
    tmp_path: Path, server: QdrantDouble
) -> None:
    home = world(tmp_path, server)
    home.load = None
    async with home.running() as index:
        expected = [await words(index, query) for query in QUERIES]
        server.away = True
        assert [await words(index, query) for query in QUERIES] == expected
        assert server.url in str(index.state().warnings)
        home.write("vault/new", "A quartzite step.")
        await index.refresh(home.source("vault"), "new")
        assert [name for name, _ in await words(index, "quartzite")] == ["vault/new"]
        server.away = False
        assert await index.settled(8)
        assert [name for name, _ in await words(index, "quartzite")] == ["vault/new"]
        assert server.url not in str(index.state().warnings)


async def test_a_server_that_hangs_is_not_waited_for_long(
    tmp_path: Path, server: QdrantDouble
) -> None:
    home = world(tmp_path, server)
    home.load = None
    async with home.running() as index:
        server.answers.clear()
        try:
            with anyio.fail_after(6):
                assert [name for name, _ in await words(index, "brass")] == ["vault/gate"]
            assert "did not answer" in str(index.state().warnings)
        finally:
            server.answers.set()
        assert await index.settled(8)
        assert "did not answer" not in str(index.state().warnings)


async def test_a_collection_that_is_dropped_meanwhile_is_filled_again(
    tmp_path: Path, server: QdrantDouble
) -> None:
    home = world(tmp_path, server)
    async with home.running() as index:
        count = len(on_server(server))
        for one in server.client.get_collections().collections:
            if one.name.startswith("memory-mcp-words-"):
                server.client.delete_collection(one.name)
        assert [name for name, _ in await words(index, "brass")] == ["vault/gate"]
        assert await index.settled(8)
        assert len(on_server(server)) == count


async def test_words_need_no_model(tmp_path: Path, server: QdrantDouble) -> None:
    home = world(tmp_path, server)
    home.load = None
    async with home.running() as index:
        assert [name for name, _ in await words(index, "brass")] == ["vault/gate"]
        assert len(server.filters) == 1


async def test_a_filter_counts_before_the_cut(tmp_path: Path, server: QdrantDouble) -> None:
    home = world(tmp_path, server, {f"vault/n{n}": f"Stone number {n}." for n in range(60)})
    home.write("vault/trips/long", "Stone " + "is one word of very many in this text " * 9)
    async with home.running() as index:
        view = IndexView(index, index.sources)
        searcher = Searcher(view, home.config.search)
        hits = (await searcher.search(SearchRequest("stone", path_prefix="trips/"))).hits
        assert [hit.card.reference for hit in hits] == ["vault/trips/long"]


def collection(server: QdrantDouble) -> WordCollection:
    return WordCollection(VectorSettings(url=server.url, api_key=KEY), lambda: "/home")


def note(number: int, labels: Labels, *terms: str) -> SentNote:
    counts = dict.fromkeys(terms, 1)
    return SentNote("vault", number << 20, "made", labels, {number: counts})


def test_candidates_of_a_broad_filter_are_told_by_its_rule(server: QdrantDouble) -> None:
    size = MANY_IDS + 50
    inside = {number: {"stone": 1} for number in range(1, size + 1)}
    remote = collection(server)
    remote.open()
    long = SentNote("vault", 1 << 20, "made", Labels(("trips",)), inside)
    remote.put([long, note(size + 1, Labels(), "stone")], ())
    allowed = Chosen(inside, Rule(("trips",)))
    for by_id in (False, True):
        found = remote.candidates([["stone"]], size + 5, {"vault": allowed}, by_id=by_id)
        assert sorted(found) == [*inside]
        assert ("has_id" in str(server.filters[-1])) is by_id
    remote.close()


def check_collection(remote: WordCollection) -> None:
    """What holds of the double and of a real server."""
    remote.open()
    one = note(1, Labels(("a",), ()), "stone", "gate")
    other = note(2, Labels(), "stone", "mill")
    remote.put([one, other], ())
    remote.put([one, other], ())
    assert remote.open() == {"vault": {one.marker: "made", other.marker: "made"}}
    scopes: dict[str, Collection[int] | None] = {"vault": None}
    assert sorted(remote.candidates([["stone"]], 9, scopes)) == [1, 2]
    assert remote.candidates([["stone"], ["mill", "mills"]], 9, scopes)[0] == 2
    assert remote.candidates([["stone"]], 9, {"vault": {1}}) == [1]
    assert remote.candidates([["stone"]], 9, {"wiki": None}) == []
    changed = SentNote("vault", one.marker, "anew", Labels(), {3: {"roof": 2}})
    remote.put([changed], [other.marker])
    assert remote.open() == {"vault": {one.marker: "anew"}}
    assert remote.candidates([["stone"], ["roof"]], 9, scopes) == [3]
    remote.close()


def test_a_note_is_replaced_whole_and_a_repeated_write_changes_nothing(
    server: QdrantDouble,
) -> None:
    check_collection(collection(server))


@pytest.mark.server
@pytest.mark.skipif("QDRANT_URL" not in os.environ, reason="needs a Qdrant server in QDRANT_URL")
def test_a_real_server_keeps_words() -> None:
    home = os.urandom(8).hex()
    check_collection(WordCollection(VectorSettings(url=os.environ["QDRANT_URL"]), lambda: home))
    client = QdrantClient(url=os.environ["QDRANT_URL"])
    client.delete_collection(f"memory-mcp-words-{short(home)}")
    client.close()
