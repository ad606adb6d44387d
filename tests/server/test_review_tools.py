"""Changing the wiki in a review, through real clients and over the death of engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.curate.review.findings import Finding
from memory_mcp.server.http.grants import Grant
from memory_mcp.server.session import Options
from tests.server import ports
from tests.server.attempts import POINTS, Caller, place, structured
from tests.server.worlds import MODES, World, talking, world

pytestmark = pytest.mark.anyio

TOOLS: Any = ("core", "curation")
PAGES = ("wiki_create", "wiki_edit", "wiki_move", "wiki_delete")
NOTES = {
    "wiki/people/alice.md": "# Alice\n\nLives in Graz.\n",
    "wiki/garden.md": "# Garden\n\nAsk [[people/alice]].\n",
    "memory/one.md": "See [[people/alice|her]].\n",
}


def page(there: World, path: str) -> Path:
    return there.home / "wiki" / f"{path}.md"


def text(there: World, path: str) -> str:
    return page(there, path).read_bytes().decode("utf-8")


def finding(there: World) -> str:
    found = Finding("f1", "dead_link", "none", "wiki/garden", "It leads nowhere.")
    dreams = there.app.curation.dreams
    return dreams.add("lucid", "2026-03-01T10:00:00+00:00", "the wiki", [found]).dream_id


async def test_they_are_offered_with_the_set_curation_and_never_to_readers(tmp_path: Path) -> None:
    async with world(tmp_path) as there, talking(there) as talk:
        names = {tool.name for tool in (await talk.client.list_tools()).tools}
        assert not names & {"dream_review", *PAGES}
    async with world(tmp_path, tools=TOOLS) as there, talking(there) as talk:
        tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
        assert {"dream_review", *PAGES} <= set(tools)
        for name in PAGES:
            marks = tools[name].annotations
            assert marks is not None and marks.read_only_hint is False
            assert marks.destructive_hint is (name != "wiki_create")
    async with (
        world(tmp_path, tools=TOOLS, writing={"read_only": True}) as there,
        talking(there) as talk,
    ):
        names = {tool.name for tool in (await talk.client.list_tools()).tools}
        assert not names & {"dream_review", *PAGES}
        assert "may only read" in await talk.refused("wiki_delete", path="garden")


@pytest.mark.parametrize("mode", MODES)
async def test_a_review_from_start_to_end_and_back(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path, NOTES, tools=TOOLS) as there, talking(there, mode) as talk:
        dream_id = finding(there)
        said = await talk.refused("wiki_create", path="tea", content="# Tea\n")
        assert "No review is open" in said and "dream_review" in said
        opened = await talk.done("dream_review", action="start", dream_id=dream_id)
        assert opened["active"] is True and opened["open"] == 1 and opened["expires"]
        run = opened["run"]
        made = await talk.done("wiki_create", path="tea", content="# Tea\n\nGreen, with zest.\n")
        assert made["reference"] == "wiki/tea" and made["created"] is True
        found = await talk.done("memory_search", query="zest")
        assert [hit["reference"] for hit in found["hits"]] == ["wiki/tea"]
        done = await talk.done("wiki_edit", path="wiki/tea.md", append="Every day.")
        assert done["replaced_revision"] == made["revision"]
        moved = await talk.done("wiki_move", path="people/alice", new_path="team/alice-moser")
        assert moved["reference"] == "wiki/team/alice-moser"
        assert moved["old_reference"] == "wiki/people/alice"
        assert moved["relinked"] == ["memory/one", "wiki/garden"]
        assert text(there, "garden") == "# Garden\n\nAsk [[team/alice-moser]].\n"
        assert there.inbox("one").read_bytes() == b"See [[team/alice-moser|her]].\n"
        gone = await talk.done("wiki_delete", path="garden")
        assert gone["deleted"] is True and gone["revision"]
        assert (await talk.done("wiki_delete", path="garden"))["deleted"] is False
        ended = await talk.done("dream_review", action="end", summary="Tidied.")
        assert ended == {
            "active": False,
            "dream_id": dream_id,
            "open": 1,
            "expires": None,
            "run": run,
            "left": 0,
        }
        (job,) = (await talk.done("memory_jobs"))["jobs"]
        assert (job["job_id"], job["kind"], job["status"]) == (run, "review", "done")
        assert job["outcome"] == "3 pages. Tidied." and "wiki/tea" in job["changed"]
        (log,) = (there.home / "wiki" / "logs").glob("*.md")
        assert "review: Tidied. (created [[tea]]; moved" in log.read_text(encoding="utf-8")
        assert "No review is open" in await talk.refused("wiki_edit", path="tea", append="x")
        await there.app.curation.runs.restore(run)
        left = {
            path.relative_to(there.home).as_posix() for path in there.home.glob("wiki/**/*.md")
        }
        assert left == {"wiki/people/alice.md", "wiki/garden.md"}
        for name, content in NOTES.items():
            at = there.inbox("one") if name.startswith("memory") else there.home / name
            assert at.read_bytes() == content.encode()


async def test_what_a_review_resolved_waits_again_when_it_is_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES, tools=TOOLS) as there, talking(there) as talk:
        dream_id = finding(there)
        run = (await talk.done("dream_review", action="start", dream_id=dream_id))["run"]
        await talk.done("wiki_edit", path="garden", append="Mended.")
        await talk.done("dream_apply", dream_id=dream_id, finding_id="f1", resolved_manually=True)
        assert (await talk.done("dream_review", action="end"))["open"] == 0
        approvals = there.app.curation.approvals
        assert (await approvals.take_back(run)).waiting == (f"{dream_id} f1",)
        (row,) = (await talk.done("dream_list"))["dreams"]
        assert (row["dream_id"], row["pending"]) == (dream_id, 1)
        assert (await approvals.take_back(f"undo-{run}")).applied == (f"{dream_id} f1",)
        assert (await talk.done("dream_list"))["dreams"] == []
        await approvals.take_back(run)
        done = await talk.done("dream_dismiss", dream_id=dream_id)
        assert done["status"] == "dismissed"
        assert (await approvals.take_back(f"undo-{run}")).applied == ()


@pytest.mark.parametrize("mode", MODES)
async def test_a_note_that_a_page_took_over_comes_back_with_the_review(
    tmp_path: Path, mode: str
) -> None:
    async with world(tmp_path, NOTES, tools=TOOLS) as there, talking(there, mode) as talk:
        run = (await talk.done("dream_review", action="start"))["run"]
        note = await talk.done("memory_get", reference="memory/one")
        await talk.done("wiki_edit", path="garden", append="See [[people/alice|her]].")
        there.inbox("one").write_bytes(b"Changed by hand.\n")
        assert "changed" in await talk.refused("memory_delete", slug="one")
        there.inbox("one").write_bytes(NOTES["memory/one.md"].encode())
        gone = await talk.done("memory_delete", slug="one", if_revision=note["revision"])
        assert gone["deleted"] is True and gone["revision"] == note["revision"]
        assert (await talk.done("memory_list", source="memory"))["notes"] == []
        assert (await talk.done("memory_delete", slug="one"))["deleted"] is False
        await talk.done("dream_review", action="end")
        await talk.done("memory_write", slug="two", content="Another.")
        await talk.done("memory_delete", slug="two")  # no review is open: it stays deleted
        await there.app.curation.runs.restore(run)
        assert there.inbox("one").read_bytes() == NOTES["memory/one.md"].encode()
        assert text(there, "garden") == NOTES["wiki/garden.md"]
        assert not there.inbox("two").exists()


async def test_a_review_is_the_session_s_own(tmp_path: Path) -> None:
    async with (
        world(tmp_path, NOTES, tools=TOOLS) as there,
        talking(there) as one,
        talking(there) as two,
    ):
        await one.done("dream_review", action="start")
        assert "No review" in await two.refused("wiki_edit", path="garden", append="x")
        await one.done("wiki_edit", path="garden", append="A zebra ate it.")
        found = await two.done("memory_search", query="zebra")
        assert [hit["reference"] for hit in found["hits"]] == ["wiki/garden"]
        await two.done("dream_review", action="start")
        await two.done("dream_review", action="end")
        await one.done("wiki_edit", path="garden", append="And left.")


async def test_a_page_that_changed_since_it_was_read_is_not_overwritten(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES, tools=TOOLS) as there, talking(there) as talk:
        await talk.done("dream_review", action="start")
        read = await talk.done("memory_get", reference="wiki/garden")
        page(there, "garden").write_bytes(b"# Garden\n\nSold in May.\n")
        for tool, arguments in (
            ("wiki_edit", {"append": "x"}),
            ("wiki_delete", {}),
            ("wiki_move", {"new_path": "yard"}),
            ("wiki_edit", {"append": "x", "if_revision": read["revision"]}),
        ):
            said = await talk.refused(tool, path="garden", **arguments)
            assert "changed since you read it" in said and "Sold in May" in said
        assert text(there, "garden") == "# Garden\n\nSold in May.\n"
        await talk.done("memory_get", reference="wiki/garden")
        await talk.done("wiki_edit", path="garden", old_text="May", new_text="June")
        await talk.done("wiki_move", path="garden", new_path="yard")
        await talk.done("wiki_edit", path="yard", append="x")


async def test_its_own_rewriting_of_links_is_no_conflict(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES, tools=TOOLS) as there, talking(there) as talk:
        await talk.done("memory_get", reference="wiki/garden")
        await talk.done("dream_review", action="start")
        await talk.done("wiki_move", path="people/alice", new_path="alice-moser")
        await talk.done("wiki_edit", path="garden", content="# Garden\n\nAsk [[alice-moser]]!\n")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("dream_review", {"action": "begin"}, "use start or end"),
        ("dream_review", {"action": "start", "dream_id": "lucid-none"}, "no dream"),
        ("wiki_create", {"path": "garden", "content": "x"}, "exists already"),
        ("wiki_create", {"path": "../x", "content": "x"}, "climbs out"),
        ("wiki_create", {"path": ".hidden/x", "content": "x"}, "would not be listed"),
        ("wiki_create", {"path": "con", "content": "x"}, "on every system"),
        ("wiki_edit", {"path": "none", "append": "x"}, "does not exist"),
        ("wiki_move", {"path": "garden", "new_path": "people/alice"}, "exists already"),
        ("wiki_move", {"path": "none", "new_path": "x"}, "does not exist"),
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(
    tmp_path: Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with world(tmp_path, NOTES, tools=TOOLS) as there, talking(there) as talk:
        await talk.done("dream_review", action="start")
        assert said in await talk.refused(tool, **arguments)
        for name, content in NOTES.items():
            at = there.inbox("one") if name.startswith("memory") else there.home / name
            assert at.read_bytes() == content.encode()


async def test_over_http_a_session_has_its_review_and_a_single_request_has_none(
    tmp_path: Path,
) -> None:
    grants = [Grant("open", None, Options(tools=TOOLS))]
    async with ports.place(tmp_path, NOTES, grants=grants) as there:
        async with there.talking("legacy") as one, there.talking("legacy") as two:
            await one.done("dream_review", action="start")
            await one.done("wiki_edit", path="garden", append="x")
            assert "No review" in await two.refused("wiki_edit", path="garden", append="y")
        async with there.talking("2026-07-28") as talk:
            said = await talk.refused("dream_review", action="start")
            assert "belongs to a session" in said and "dream_apply" in said
            assert "belongs to a session" in await talk.refused("wiki_delete", path="garden")


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("wiki_create", {"path": "tea", "content": "# Tea\n\nGreen.\n"}),
    ("wiki_edit", {"path": "garden", "append": "And beans."}),
    ("wiki_move", {"path": "people/alice", "new_path": "team/alice-moser"}),
    ("wiki_delete", {"path": "garden"}),
    ("memory_delete", {"slug": "one"}),
)


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_wherever_the_engine_dies_a_change_is_made_once_and_answered(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    options = Options(tools=TOOLS)
    answers = []
    for number, cut in enumerate(["", *POINTS]):
        home = tmp_path / str(number)
        for name, content in NOTES.items():
            at = home / ("agents/default" if name.startswith("memory") else "") / name
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(content.encode())
        async with place(home) as there:
            caller = Caller(there, options=options)
            structured(await caller.call("dream_review", action="start"))
            cuts = [cut] if cut else []
            answers.append(structured(await caller.call(tool, cuts=cuts, **arguments)))
            files = {
                path.relative_to(home).as_posix(): path.read_bytes()
                for path in [*home.glob("wiki/**/*.md"), *home.glob("agents/**/*.md")]
            }
            answers[-1]["files"] = files
            structured(await caller.call("dream_review", action="end"))
    assert all(answer == answers[0] for answer in answers)


async def test_two_changes_at_once_of_one_session_both_count(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES, tools=TOOLS) as there, talking(there) as talk:
        await talk.done("dream_review", action="start")
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(
                    lambda n: talk.done("wiki_create", path=f"p{n}", content=f"# {n}\n"), number
                )
        opened = await talk.done("dream_review", action="end")
        assert opened["run"]
        (log,) = (there.home / "wiki" / "logs").glob("*.md")
        assert all(f"[[p{number}]]" in log.read_text(encoding="utf-8") for number in range(4))
