"""One engine, clients in the folders of different projects: every door, and nothing through it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.settings.project_file import NAME
from memory_mcp.settings.repository import repository_of
from memory_mcp.settings.trust import Trust
from tests.repositories import git, repository
from tests.server.engines import Guest, Place, engine

pytestmark = pytest.mark.anyio

AUTO = "projects: auto\nembedding: {provider: none}\n"
SECRET = "The zeppelin secret is 4711."
"""The text of a note of project A, of which no other client may hear a word."""


@asynccontextmanager
async def two(tmp_path: Path, settings: str = AUTO) -> AsyncIterator[tuple[Place, Path, Path]]:
    """An engine, and two repositories beside its home."""
    one, other = repository(tmp_path / "alpha"), repository(tmp_path / "beta")
    async with engine(tmp_path / "home", settings) as place:
        yield place, one, other


def in_folder(place: Place, folder: Path, **more: Any) -> Any:
    return place.guest(cwd=str(folder), **more)


async def test_clients_in_work_trees_and_sub_folders_see_the_same_notes(tmp_path: Path) -> None:
    async with two(tmp_path) as (place, repo, _):
        git(repo, "worktree", "add", "-q", "../wt")
        (repo / "sub").mkdir()
        async with in_folder(place, repo) as first:
            wrote = await first.tool("memory_write", slug="parcel", content="Twice each return.")
            assert wrote["reference"] == "memory/parcel"
        for folder in (repo / "sub", tmp_path / "wt", repo):
            async with in_folder(place, folder) as guest:
                assert await guest.found("each return") == ["memory/parcel"]
                rows = (await guest.tool("memory_list"))["notes"]
                assert [(row["reference"], row["scope"]) for row in rows] == [
                    ("memory/parcel", "project")
                ]
                await guest.tool("memory_edit", slug="parcel", append="And again.")


async def test_no_tool_and_no_resource_tells_another_project(tmp_path: Path) -> None:
    async with two(tmp_path) as (place, alpha, beta), in_folder(place, alpha) as own:
        await own.tool("memory_write", slug="secret", content=f"{SECRET} See [[page]].")
        await own.tool("memory_edit", slug="secret", append="Once more.")
        job = (await own.tool("memory_save", content=f"{SECRET} It is saved."))["job_id"]
        assert await own.found("zeppelin")
        for guest_of in (
            in_folder(place, beta),
            in_folder(place, tmp_path),
            place.guest(cwd=""),
            in_folder(place, alpha, env={"MEMORY_MCP_PROJECTS": "off"}),
        ):
            async with guest_of as guest:
                await nothing_is_told(guest, job)
        mine = await own.tool("memory_get", reference="memory/secret")
        assert SECRET in mine["content"]
        assert mine["backlinks"] == []


async def nothing_is_told(guest: Guest, job: str) -> None:
    answers: list[Any] = []
    tries: list[tuple[str, dict[str, Any]]] = [
        ("memory_search", {"query": "zeppelin"}),
        ("memory_search", {"query": "zeppelin secret 4711", "source": "memory", "limit": 50}),
        ("memory_search", {"query": "secret", "path_prefix": "memory/secret"}),
        ("memory_recall", {"message": "What is the zeppelin secret?"}),
        ("memory_recall", {"message": "secret", "history": ["Tell me of the zeppelin secret."]}),
        ("memory_list", {"source": "all"}),
        ("memory_list", {"source": "memory", "path_prefix": "secret"}),
        ("memory_get", {"reference": "secret"}),
        ("memory_get", {"reference": "memory/secret"}),
        ("memory_get", {"reference": "project/secret"}),
        ("memory_get", {"reference": "global/secret"}),
        ("memory_get", {"reference": "memory@alpha/secret"}),
        ("memory_get", {"reference": "projects/alpha/memory/secret"}),
        ("memory_edit", {"slug": "secret", "append": "x"}),
        ("memory_edit", {"slug": "project/secret", "append": "x"}),
        ("memory_delete", {"slug": "secret"}),
        ("memory_link", {"source": "secret", "target": "wiki/page"}),
        ("memory_jobs", {}),
        ("memory_jobs", {"job_id": job}),
        ("memory_write", {"slug": "mine", "content": "A zeppelin of our own, secretly."}),
        ("memory_link", {"source": "mine", "target": "memory/secret"}),
        ("memory_get", {"reference": "mine"}),
        ("memory_delete", {"slug": "mine"}),
    ]
    for name, arguments in tries:
        answers.append(await guest.call("tools/call", name=name, arguments=arguments))
    for method, params in (
        ("resources/list", {}),
        ("resources/read", {"uri": "memories://index"}),
        ("resources/read", {"uri": "memories://note/memory/secret"}),
        ("resources/read", {"uri": "memories://note/project/secret"}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "memories://note/{+reference}"},
                "argument": {"name": "reference", "value": "secr"},
            },
        ),
    ):
        answers.append(await guest.answer(await guest.request(method, **params)))
    said = json.dumps(answers)
    assert "4711" not in said
    assert "alpha-" not in said
    for shown in ("title", "source", "uri"):  # of a note that was asked for by name, no more
        assert f'"reference": "memory/secret", "{shown}"' not in said
    assert not [event for event in guest.heard if "secret" in json.dumps(event)]


async def test_a_change_in_a_project_is_told_to_its_clients_alone(tmp_path: Path) -> None:
    uri = "memories://note/memory/note"
    async with (
        two(tmp_path) as (place, alpha, beta),
        in_folder(place, alpha) as own,
        in_folder(place, beta) as other,
    ):
        for guest in (own, other):
            await guest.call("resources/subscribe", uri=uri)
            await guest.tool("memory_write", slug="note", content="One.")
            await guest.until(lambda guest=guest: told_all(guest, uri, 1))
        told, others = len(updates(own, uri)), len(updates(other, uri))
        await own.tool("memory_edit", slug="note", append="Two.")
        await own.until(lambda: told_all(own, uri, told + 1))
        assert len(updates(other, uri)) == others


def told_all(guest: Guest, uri: str, times: int) -> bool:
    """Whether a round of notices has ended, of which the list of notes is the last."""
    last = guest.heard[-1]["method"] if guest.heard else ""
    return len(updates(guest, uri)) >= times and last == "notifications/resources/list_changed"


def updates(guest: Guest, uri: str) -> list[Any]:
    return [
        event
        for event in guest.heard
        if event["method"] == "notifications/resources/updated" and event["params"]["uri"] == uri
    ]


async def test_tools_show_the_scope_and_take_it(tmp_path: Path) -> None:
    async with two(tmp_path) as (place, alpha, beta):
        async with in_folder(place, alpha) as guest:
            await guest.tool("memory_write", slug="tea", content="Green tea.", scope="global")
            await guest.tool("memory_write", slug="kiln", content="Green kiln.")
            hits = (await guest.tool("memory_search", query="green"))["hits"]
            assert {hit["reference"]: hit["scope"] for hit in hits} == {
                "memory/tea": "global",
                "memory/kiln": "project",
            }
            refused = await guest.refused("memory_write", slug="tea", content="x")
            assert "scope global" in refused
        async with in_folder(place, beta) as guest:
            assert await guest.found("green") == ["memory/tea"]
            await guest.tool("memory_edit", slug="tea", append="With milk.")
        async with place.guest(cwd=str(tmp_path)) as guest:
            refused = await guest.refused("memory_write", slug="x", content="y", scope="project")
            assert "git work tree" in refused


async def test_off_is_off_whatever_the_folder_says(tmp_path: Path) -> None:
    async with two(tmp_path, "embedding: {provider: none}\n") as (place, alpha, _):
        (alpha / NAME).write_text("agent: rook\n", encoding="utf-8")
        Trust(place.home).add(alpha / NAME, b"agent: rook\n")
        async with in_folder(place, alpha) as guest:
            assert not guest.welcome["warnings"]
            await guest.tool("memory_write", slug="tea", content="Green tea.")
        assert (place.home / "agents/default/memory/tea.md").is_file()
        assert not (place.home / "projects").exists()


async def test_a_question_counts_in_the_folder_that_its_client_names(tmp_path: Path) -> None:
    async with two(tmp_path) as (place, alpha, beta):
        async with in_folder(place, alpha) as guest:
            await guest.tool("memory_write", slug="kiln", content="Green kiln.")
        for folder, hits in ((alpha, ["memory/kiln"]), (beta, [])):
            told: dict[str, Any] = {"tool": "memory_search", "arguments": {"query": "kiln"}}
            for more in ({"cwd": str(folder)}, {"payload": {"cwd": str(folder)}}):
                answer = (await place.ask("tool", **told, **more))["result"]
                found = [hit["reference"] for hit in answer["structured"]["hits"]]
                assert found == hits


async def test_a_file_of_the_project_counts_once_it_is_trusted_as_it_is(tmp_path: Path) -> None:
    async with two(tmp_path) as (place, alpha, _):
        (alpha / "docs").mkdir()
        (alpha / "docs" / "guide.md").write_text("The zither guide.\n", encoding="utf-8")
        path, data = alpha / NAME, b"agent: rook\nread_only: true\nsources: {docs: {path: docs}}\n"
        path.write_bytes(data)
        async with in_folder(place, alpha) as guest:
            (warning,) = guest.welcome["warnings"]
            assert f"memory-mcp trust {alpha}" in warning
            await guest.tool("memory_write", slug="kiln", content="Green kiln.")
            assert await guest.found("zither") == []
        status = (await place.ask("status", cwd=str(alpha)))["result"]
        assert status["warnings"][0]["reference"] == NAME
        assert status["project"]["trusted"] is False
        Trust(place.home).add(path, data)
        async with in_folder(place, alpha, flags={}) as guest:
            assert not guest.welcome["warnings"]
            assert await guest.found("zither") == ["docs/guide"]
            tools = {tool["name"] for tool in (await guest.call("tools/list"))["tools"]}
            assert "memory_write" not in tools
        path.write_bytes(data + b"# changed\n")
        async with in_folder(place, alpha) as guest:
            assert len(guest.welcome["warnings"]) == 1
            assert await guest.found("zither") == []


async def test_memories_of_projects_that_nobody_uses_are_given_up(tmp_path: Path) -> None:
    async with engine(tmp_path / "home", AUTO) as place:
        folders = [tmp_path / f"p{number}" for number in range(12)]
        for folder in folders:
            for part in (".git/objects", ".git/refs"):
                (folder / part).mkdir(parents=True)
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
            async with in_folder(place, folder) as guest:
                await guest.tool("memory_write", slug="note", content=f"Of {folder.name}.")
        async with in_folder(place, folders[0]) as guest:
            reading = await guest.tool("memory_get", reference="note")
            assert "Of p0." in reading["content"]
        await place.ask("status", cwd=str(tmp_path))
        home = place.engine._faces.home
        assert home is not None
        projects = [key for key in home._apps if key[1] is not None]
        assert len(projects) <= 8
        assert {repository_of(folders[0]).id} <= {key[1].id for key in projects}  # type: ignore[union-attr]
