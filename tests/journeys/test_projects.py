"""Projects as a person meets them: real clients, in real work trees of git, on one engine."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memory_mcp.settings.project_file import NAME
from tests.journeys.runs import memory
from tests.journeys.test_engine import House, house
from tests.repositories import git, repository
from tests.server.worlds import MODES, Talk

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(90)]

__all__ = ["house"]


@asynccontextmanager
async def working(
    house: House, folder: Path, *flags: str, mode: Any = "auto"
) -> AsyncIterator[Talk]:
    """A client that works in a folder."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memory_mcp", *flags],
        env={**house.environ, "MEMORY_MCP_PROJECTS": "auto"},
        cwd=folder,
    )
    with (house.home / "stderr.log").open("a", encoding="utf-8") as log:
        async with Client(stdio_client(server, errlog=log), mode=mode) as inner:
            yield Talk(inner)


async def found(talk: Talk, query: str) -> list[tuple[str, str | None]]:
    hits = (await talk.done("memory_search", query=query))["hits"]
    return [(hit["reference"], hit["scope"]) for hit in hits]


@pytest.mark.parametrize("mode", MODES)
async def test_a_note_survives_the_work_tree_in_which_it_was_written(
    house: House, tmp_path: Path, mode: Any
) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../wt")
    async with working(house, tmp_path / "wt", mode=mode) as talk:
        await talk.done(
            "memory_write", slug="parcel", content="The parcel counts each return twice."
        )
        git(repo, "worktree", "remove", "--force", "../wt")
        (repo / "sub").mkdir()
        async with working(house, repo / "sub", mode=mode) as other:
            assert await found(other, "each return") == [("memory/parcel", "project")]
            await other.done("memory_edit", slug="parcel", append="Three times on Sundays.")
    async with working(house, repo, "--in-process", mode=mode) as alone:
        reading = await alone.done("memory_get", reference="parcel")
        assert "Sundays" in reading["content"]
    async with working(house, tmp_path, mode=mode) as outside:
        assert await found(outside, "each return") == []
        assert await found(outside, "valve") == [("memory/boiler", "global")]


async def test_a_client_without_projects_shares_the_engine_and_sees_no_project(
    house: House, tmp_path: Path
) -> None:
    repo = repository(tmp_path / "repo")
    async with working(house, repo) as talk:
        await talk.done("memory_write", slug="kiln", content="The kiln of the project.")
        async with house.client() as plain:
            await plain.done("memory_write", slug="kiln", content="A kiln for all.")
            hits = (await plain.done("memory_search", query="kiln"))["hits"]
            assert [hit["reference"] for hit in hits] == ["memory/kiln"]
        assert dict(await found(talk, "kiln")) == {
            "memory/kiln": "project",
            "global/kiln": "global",
        }
        assert "Both inboxes" in await talk.refused("memory_edit", slug="kiln", append="x")
        await talk.done("memory_edit", slug="global/kiln", append="Red bricks.")
    assert "Red bricks" in house.note("kiln").read_text(encoding="utf-8")


async def test_an_engine_that_dies_forgets_nothing_of_a_project(
    house: House, tmp_path: Path
) -> None:
    repo = repository(tmp_path / "repo")
    async with working(house, repo) as talk:
        await talk.done("memory_write", slug="kiln", content="The kiln of the project.")
        house.kill()
        await talk.done("memory_edit", slug="kiln", append="Fired at noon.")
        assert await found(talk, "noon") == [("memory/kiln", "project")]


async def test_trust_is_given_by_a_person_and_holds_for_the_next_client(
    house: House, tmp_path: Path
) -> None:
    repo = repository(tmp_path / "repo")
    (repo / "docs").mkdir()
    (repo / "docs" / "guide.md").write_text("The zither guide.\n", encoding="utf-8")
    (repo / NAME).write_text("sources: {docs: {path: docs}}\n", encoding="utf-8")
    async with working(house, repo) as talk:
        assert await found(talk, "zither") == []
    assert "memory-mcp trust" in house.log()
    assert "docs" in memory(house.home, "trust", str(repo))
    async with working(house, repo) as talk:
        assert await found(talk, "zither") == [("docs/guide", None)]
