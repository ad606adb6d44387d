"""Several inboxes in one index: they join while it runs, and no view shows another agent's."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest

from memory_mcp.core.errors import NotFoundError
from memory_mcp.core.words import query_terms
from memory_mcp.index.catalog import Catalog
from memory_mcp.index.index import Index
from memory_mcp.index.state import IndexEvent
from memory_mcp.index.view import IndexView
from memory_mcp.notes.sources import Source, open_sources
from tests.fakes import HashEmbedder
from tests.index.world import SECONDS, World, until, until_settled

pytestmark = pytest.mark.anyio


def inbox(world: World, agent: str) -> Source:
    """The inbox of an agent, its folder made."""
    return open_sources(world.config.model_copy(update={"agent": agent}))[0]


def note(source: Source, path: str, text: str) -> Path:
    file = source.root / f"{path}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def view_of(index: Index, own: Source) -> IndexView:
    """What the agent with this inbox sees."""
    return IndexView(index, [own, *(one for one in index.sources if one.kind != "memory")])


def words_in(view: IndexView, query: str) -> set[str]:
    found = view.words([one.id for one in view.sources]).passages(query_terms(query, ("en",)), 20)
    hits = [view.at(point) for point, _ in found]
    return {f"{hit[0].source.id}/{hit[0].card.path}" for hit in hits if hit is not None}


async def nearest_in(view: IndexView, source_ids: list[str], text: str) -> set[str]:
    vector = await view.query_vector(text)
    assert vector is not None
    found = await view.nearest(source_ids, vector, 20)
    hits = [view.at(point) for point, _ in found]
    return {f"{hit[0].source.id}/{hit[0].card.path}" for hit in hits if hit is not None}


async def test_an_inbox_joins_a_running_index_and_is_found_by_words_and_meaning(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.write("memory/foo", "Default keeps bees.")
    scout = inbox(world, "scout")
    note(scout, "foo", "Scout keeps bees in Malta.")
    async with world.running() as index:
        index.add(scout)
        assert index.state().pending > 0
        assert await index.settled(SECONDS)
        view = view_of(index, scout)
        assert words_in(view, "bees") == {"memory:scout/foo"}
        every = ["memory:default", "memory:scout", "wiki", "vault"]
        assert await nearest_in(view, every, "keeps bees") == {"memory:scout/foo"}
        assert [entry.embedded for entry in view.entries()] == [True]


async def test_an_inbox_that_joins_during_the_first_scan_is_complete_afterwards(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    for number in range(150):
        world.write(f"vault/{number}", f"Note {number} about wheat.")
    scout = inbox(world, "scout")
    note(scout, "late", "Barley.")
    async with world.running(settled=False) as index:
        assert any(one.state == "scanning" for one in index.state().sources.values())
        index.add(scout)
        assert await index.settled(SECONDS)
        assert words_in(view_of(index, scout), "barley") == {"memory:scout/late"}
        assert sum(1 for _ in index.entries()) == 151


async def test_an_editor_is_seen_in_an_inbox_that_joined_late(tmp_path: Path) -> None:
    settings = {"watch": True, "sweep_seconds": 0, "rescan_minutes": 0}
    world = World(tmp_path, index=settings)
    scout = inbox(world, "scout")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
        view = view_of(index, scout)
        note(scout, "typed", "Typed by hand.")
        await until(index, lambda: words_in(view, "typed") == {"memory:scout/typed"})
        note(scout, "typed", "Changed by hand.")
        await until(index, lambda: words_in(view, "changed") == {"memory:scout/typed"})


async def test_a_link_leads_each_agent_to_their_own_note(tmp_path: Path) -> None:
    world = World(tmp_path)
    scout = inbox(world, "scout")
    world.write("wiki/page", "See [[foo]] and [[memory/foo]] and [[only-scouts]].")
    world.write("memory/foo", "Mine. [[page]]")
    note(scout, "foo", "Theirs. [[page]]")
    note(scout, "only-scouts", "Secret.")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
        default, other = view_of(index, world.source("memory")), view_of(index, scout)
        page = index.entry("wiki", "page")
        assert page is not None
        targets = [
            [view.names.target("wiki", "page", link) for link in page.card.links]
            for view in (default, other)
        ]
        assert targets == [
            [("memory:default", "foo"), ("memory:default", "foo"), None],
            [("memory:scout", "foo"), ("memory:scout", "foo"), ("memory:scout", "only-scouts")],
        ]
        for view, own in ((default, "memory:default"), (other, "memory:scout")):
            back = view.names.backlinks("wiki", "page")
            assert [(one.source_id, one.reference) for one in back] == [(own, "memory/foo")]
            assert {one.source_id for one in view.names.backlinks(own, "foo")} == {"wiki"}
        assert default.names.backlinks("memory:scout", "only-scouts") == ()
        assert default.names.target("memory:scout", "foo", page.card.links[0]) is None


async def test_a_note_is_superseded_only_by_what_the_agent_sees(tmp_path: Path) -> None:
    world = World(tmp_path)
    scout = inbox(world, "scout")
    world.write("wiki/plan", "The plan.")
    note(scout, "plan-2", "---\nsupersedes: wiki/plan\n---\nAnother plan.")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
        default, other = view_of(index, world.source("memory")), view_of(index, scout)
        assert other.names.superseded_by("wiki", "plan") == "memory/plan-2"
        assert default.names.superseded_by("wiki", "plan") is None
        assert default.names.superseded_by("memory:scout", "plan-2") is None


async def test_what_another_agent_has_is_neither_resolved_nor_suggested(tmp_path: Path) -> None:
    world = World(tmp_path)
    scout = inbox(world, "scout")
    note(scout, "garden-of-scout", "Roses.")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
        view = view_of(index, world.source("memory"))
        for text in ("garden-of-scout", "memory/garden-of-scout", "garden-of-scot"):
            with pytest.raises(NotFoundError) as caught:
                view.names.resolve(text, ["memory:scout", "memory:default", "wiki"])
            assert "Did you mean" not in str(caught.value)
        entry = index.entry("memory:scout", "garden-of-scout")
        assert entry is not None
        assert view.entry("memory:scout", "garden-of-scout") is None
        assert view.at(entry.points[0]) is None
        assert list(view.entries(["memory:scout"])) == []
        assert view.words(["memory:scout"]).size == 0
        vector = await view.query_vector("Roses")
        assert vector is not None
        assert await view.nearest(["memory:scout"], vector, 5) == []
        assert await view.cosine(vector, entry.points) == {}
        assert await index.cosine(vector, entry.points) != {}


async def test_each_agent_hears_of_its_own_notes_only(tmp_path: Path) -> None:
    world = World(tmp_path)
    scout = inbox(world, "scout")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
        heard: dict[str, list[IndexEvent]] = {"default": [], "scout": []}
        view_of(index, world.source("memory")).subscribe(heard["default"].append)
        end = view_of(index, scout).subscribe(heard["scout"].append)
        note(scout, "foo", "New.")
        await index.refresh(scout, "foo")
        world.write("wiki/page", "New.")
        await index.refresh(world.source("wiki"), "page")
        shared = IndexEvent(frozenset({"wiki/page"}), True, "wiki")
        own = IndexEvent(frozenset({"memory/foo"}), True, "memory:scout")
        assert heard == {"default": [shared], "scout": [own, shared]}
        end()
        await index.refresh(scout, "foo")
        assert len(heard["scout"]) == 2


async def test_the_state_of_a_view_counts_and_warns_of_its_own(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/a", "One.")
    scout = inbox(world, "scout")
    note(scout, "broken", "---\ntags: {a: b}\n---\nTwo.")
    note(scout, "more", "Three.")
    async with world.running() as index:
        index.add(scout)
        default, other = view_of(index, world.source("memory")), view_of(index, scout)
        assert default.state().pending == 0
        assert other.state().pending > 0
        assert await index.settled(SECONDS)
        ours, theirs = default.state(), other.state()
        assert list(ours.sources) == list(theirs.sources) == ["memory", "wiki", "vault"]
        assert [state.sources["memory"].files for state in (ours, theirs)] == [1, 2]
        assert [state.vectors for state in (ours, theirs)] == [1, 2]
        assert theirs.sources["memory"].path == str(scout.root)
        assert [one.reference for one in theirs.warnings] == ["memory/broken"]
        assert ours.warnings == ()
        assert set(index.state().sources) == {"memory", "wiki", "vault", "memory:scout"}


async def test_an_inbox_whose_folder_goes_is_set_aside_and_the_others_stay(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.write("memory/foo", "Stays.")
    scout = inbox(world, "scout")
    note(scout, "foo", "Goes.")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
        default, other = view_of(index, world.source("memory")), view_of(index, scout)
        shutil.rmtree(scout.root.parent)
        await until_settled(index)
        assert other.state().sources["memory"].state == "missing"
        assert list(other.entries()) == []
        assert default.state().warnings == ()
        assert words_in(default, "stays") == {"memory:default/foo"}
        note(scout, "foo", "Is back.")
        await until_settled(index)
        assert words_in(other, "back") == {"memory:scout/foo"}


async def test_a_restart_embeds_no_inbox_again_whichever_comes_first(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/foo", "Default's note.")
    scout = inbox(world, "scout")
    note(scout, "foo", "Scout's note.")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
    assert len(world.hash.calls) == 2
    again = HashEmbedder()
    index = Index(world.config, world.sources[1:], lambda: again)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(index.run)
        assert await index.settled(SECONDS)
        index.add(scout)
        index.add(world.source("memory"))
        assert await index.settled(SECONDS)
        assert index.state().vectors == 2
        tasks.cancel_scope.cancel()
    assert again.calls == []


async def test_rows_of_an_inbox_stay_while_it_is_not_open_and_go_with_its_folder(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    scout = inbox(world, "scout")
    note(scout, "foo", "Text.")
    async with world.running() as index:
        index.add(scout)
        assert await index.settled(SECONDS)
    catalog = Catalog(world.home / ".index")
    async with world.running():
        assert [row.path for row in catalog.rows("memory:scout")] == ["foo"]
    shutil.rmtree(scout.root.parent)
    async with world.running():
        assert catalog.rows("memory:scout") == []
    catalog.close()


async def test_a_source_that_is_there_joins_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/a", "One.")
    async with world.running() as index:
        index.add(world.source("memory"))
        assert await index.settled(SECONDS)
        assert len(index.sources) == 3
        assert sum(1 for _ in index.entries()) == 1
