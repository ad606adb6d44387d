"""Imports as a whole: into a real memory, with names, a report, and a way back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.curate.importing.planning import Import, plan_import
from memory_mcp.search.hit import SearchRequest
from tests.curate.importing.test_folder import FACT, lay
from tests.curate.importing.test_graph import LINES, lines
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio


def disk(place: World) -> dict[str, bytes]:
    """Every note of inbox and wiki."""
    folders = (place.home / "agents", place.home / "wiki")
    return {
        str(path.relative_to(place.home)): path.read_bytes()
        for folder in folders
        for path in folder.rglob("*.md")
    }


def references(plan: Import) -> dict[str, str]:
    return {one.origin: one.reference for one in plan.taken}


async def test_a_folder_becomes_pages_that_come_again_never_twice_and_go_back_whole(
    tmp_path: Path,
) -> None:
    root = lay(
        tmp_path / "garden",
        tea="# Tea\n\nSee [bees](sub/bees.md).\n<private>the code</private>\n",
        sub__bees="---\npinned: true\n---\nBees.\n",
    )
    async with world(tmp_path, {"wiki/garden/tea": "Mine.\n"}) as place:
        parts, runs = place.curation.parts, place.curation.runs
        before = disk(place)
        plan = await plan_import(parts, "markdown", root)
        assert disk(place) == before
        assert references(plan) == {
            "sub/bees.md": "wiki/garden/sub/bees",
            "tea.md": "wiki/garden/tea-2",
        }
        await runs.apply("import-1", plan.changes)
        assert place.text("wiki/garden/tea") == "Mine.\n"
        assert "<private>the code</private>" in place.text("wiki/garden/tea-2")
        assert "pinned" not in place.text("wiki/garden/sub/bees")
        found = await place.searcher.search(SearchRequest("bees"))
        assert any(hit.card.reference == "wiki/garden/sub/bees" for hit in found.hits)
        again = await plan_import(parts, "markdown", root)
        assert (again.changes, again.taken) == ((), ())
        assert [one.reference for one in again.there] == list(references(plan).values())
        await runs.restore("import-1")
        assert disk(place) == before


async def test_what_changed_on_either_side_since_an_import_is_left(tmp_path: Path) -> None:
    root = lay(tmp_path / "old", tea="Tea.\n", milk="Milk.\n")
    async with world(tmp_path) as place:
        parts = place.curation.parts
        plan = await plan_import(parts, "markdown", root, folder="")
        await place.curation.runs.apply("import-1", plan.changes)
        page = place.file("wiki/tea")
        page.write_text(page.read_text(encoding="utf-8") + "Mine.\n", encoding="utf-8")
        times = (root / "milk.md").stat()
        os.utime(root / "milk.md", ns=(times.st_atime_ns, times.st_mtime_ns + 10**10))
        again = await plan_import(parts, "markdown", root, folder="")
        assert again.changes == ()
        assert [one.reference for one in again.there] == ["wiki/milk"]
        assert "imported before as wiki/tea" in again.left[0].reason


async def test_facts_of_two_projects_go_to_the_inbox_under_names_of_their_own(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, {"memory/user-role": "Mine.\n"}) as place:
        parts, runs = place.curation.parts, place.curation.runs
        for name in ("one", "two"):
            root = lay(tmp_path / name / "memory", user_role=FACT, deploy=f"For {name}.\n")
            await runs.apply(
                f"import-{name}", (await plan_import(parts, "claude-code", root)).changes
            )
        assert "For two." in place.text("memory/deploy-2")
        assert place.text("memory/user-role") == "Mine.\n"
        text = place.text("memory/user-role-2")
        assert "aliases: [user_role]" in text
        assert text.endswith("\n\nA baker.\n")
        again = await plan_import(parts, "claude-code", tmp_path / "two")
        assert [one.reference for one in again.there] == ["memory/deploy-2", "memory/user-role-3"]
        assert again.changes == ()


async def test_relations_of_a_graph_are_links_between_the_notes(tmp_path: Path) -> None:
    graph = tmp_path / "memory.jsonl"
    graph.write_text(lines(*LINES), encoding="utf-8")
    async with world(tmp_path, {"memory/acme": "Another one.\n"}) as place:
        parts = place.curation.parts
        plan = await plan_import(parts, "mcp-memory", graph)
        await place.curation.runs.apply("import-1", plan.changes)
        assert "{to: memory/people-acme, relation: works_at}" in place.text("memory/alice-moreau")
        reading = await place.curation.parts.reader.get("memory/people-acme")
        assert [link.reference for link in reading.backlinks] == ["memory/alice-moreau"]
        assert (await plan_import(parts, "mcp-memory", graph)).changes == ()
        pages = await plan_import(parts, "mcp-memory", graph, "wiki")
        assert set(references(pages).values()) == {"wiki/people/alice-moreau", "wiki/people/acme"}


async def test_secrets_are_named_and_refused_where_the_settings_refuse_them(
    tmp_path: Path,
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    root = lay(tmp_path / "old", key=f"token = {key}\n", tea="Tea.\n")
    async with world(tmp_path, secrets="refuse") as place:
        plan = await plan_import(place.curation.parts, "markdown", root)
        assert set(references(plan)) == {"tea.md"}
        assert [item.origin for item in plan.left] == ["key.md"]
        assert key not in plan.left[0].reason


async def test_an_import_that_cannot_be_is_refused_with_the_way_out(tmp_path: Path) -> None:
    root = lay(tmp_path / "old", tea="Tea.\n")
    async with world(tmp_path) as place:
        parts = place.curation.parts
        with pytest.raises(InputError, match="inbox has no folders"):
            await plan_import(parts, "markdown", root, "memory", "x")
        with pytest.raises(InputError, match="holds notes of this memory already"):
            await plan_import(parts, "markdown", place.home / "wiki")
        with pytest.raises(InputError, match=r"\.\."):
            await plan_import(parts, "markdown", root, folder="../out")
        (tmp_path / "bad.jsonl").write_bytes(b"\xff\xff")
        with pytest.raises(InputError, match="UTF-8"):
            await plan_import(parts, "mcp-memory", tmp_path / "bad.jsonl")


async def test_a_read_only_memory_takes_nothing(tmp_path: Path) -> None:
    root = lay(tmp_path / "old", tea="Tea.\n")
    async with world(tmp_path, read_only=True) as place:
        plan = await plan_import(place.curation.parts, "markdown", root)
        with pytest.raises(RefusedError, match="read-only"):
            await place.curation.runs.apply("import-1", plan.changes)


async def test_links_by_a_path_are_named_where_the_folders_are_lost(tmp_path: Path) -> None:
    root = lay(tmp_path / "old", tea="See [b](sub/bees.md).\n", sub__bees="Bees.\n")
    async with world(tmp_path) as place:
        plan = await plan_import(place.curation.parts, "markdown", root, "memory")
        remarks = {one.reference: one.remarks for one in plan.taken}
        assert remarks["memory/tea"] == ()
        assert remarks["memory/bees"] == ()
        flat = lay(tmp_path / "more", sub__a="See [b](../tea.md).\n")
        plan = await plan_import(place.curation.parts, "markdown", flat, "memory")
        assert '"../tea"' in plan.taken[0].remarks[0]
