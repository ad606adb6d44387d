"""MCP over real ports, through clients of the SDK, in both transports and both eras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.subscriptions import ResourcesListChanged

from memory_mcp.server.first_look import WAIT_SECONDS
from memory_mcp.server.http.grants import Transport
from tests.server.ports import HEADERS, PING, TOKEN, TRANSPORTS, grant, initialize, place
from tests.server.worlds import MODES, SECONDS

pytestmark = pytest.mark.anyio

NOTES = {"memory/leeks.md": "# Leeks\n\nSown in March.\n"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_client_finds_reads_writes_and_deletes(
    tmp_path: Path, transport: Transport, mode: str
) -> None:
    async with (
        place(tmp_path, NOTES, transport=transport) as there,
        there.talking(mode) as talk,
    ):
        found = await talk.done("memory_search", query="leeks sown")
        assert found["hits"][0]["reference"] == "memory/leeks"
        read = await talk.done("memory_get", reference="memory/leeks")
        assert "Sown in March" in read["content"]
        written = await talk.done("memory_write", slug="kale", content="# Kale\n\nHardy.\n")
        assert written["created"] is True
        assert there.inbox("kale").is_file()
        await talk.done("memory_edit", slug="kale", append="Sweet after frost.")
        assert "frost" in there.inbox("kale").read_text(encoding="utf-8")
        assert (await talk.done("memory_delete", slug="kale"))["deleted"] is True


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_what_one_client_wrote_the_next_search_of_another_finds(
    tmp_path: Path, transport: Transport, mode: str
) -> None:
    async with (
        place(tmp_path, NOTES, transport=transport) as there,
        there.talking(mode) as one,
        there.talking(mode) as other,
    ):
        await one.done("memory_write", slug="kale", content="# Kale\n\nA zebra ate it.\n")
        found = await other.done("memory_search", query="zebra")
        assert [hit["reference"] for hit in found["hits"]] == ["memory/kale"]


@pytest.mark.parametrize(
    ("transport", "mode"),
    [("streamable-http", "legacy"), ("sse", "legacy"), ("sse", "2026-07-28")],
)
async def test_each_session_remembers_what_it_read_itself(
    tmp_path: Path, transport: Transport, mode: str
) -> None:
    async with (
        place(tmp_path, NOTES, transport=transport) as there,
        there.talking(mode) as one,
        there.talking(mode) as other,
    ):
        await one.done("memory_get", reference="memory/leeks")
        await other.done("memory_get", reference="memory/leeks")
        await other.done("memory_edit", slug="leeks", append="Thinned in May.")
        refused = await one.refused("memory_edit", slug="leeks", append="Dug in October.")
        assert "Thinned in May." in refused
        assert "Dug" not in there.inbox("leeks").read_text(encoding="utf-8")
        await other.done("memory_edit", slug="leeks", append="Watered in June.")
        await one.done("memory_get", reference="memory/leeks")
        await one.done("memory_edit", slug="leeks", append="Dug in October.")


async def test_without_sessions_a_request_has_read_nothing_and_a_revision_protects(
    tmp_path: Path,
) -> None:
    async with place(tmp_path, NOTES) as there, there.talking("2026-07-28") as talk:
        read = await talk.done("memory_get", reference="memory/leeks")
        await talk.done("memory_edit", slug="leeks", append="Thinned in May.")
        await talk.done("memory_edit", slug="leeks", append="Watered in June.")
        stale = {"slug": "leeks", "append": "Dug.", "if_revision": read["revision"]}
        assert "Thinned in May." in await talk.refused("memory_edit", **stale)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_token_decides_whose_memory_it_is_and_whether_it_may_be_changed(
    tmp_path: Path, transport: Transport, mode: str
) -> None:
    grants = [
        grant(),
        grant("ben", "tok-of-ben-0000", "ben"),
        grant("guest", "tok-of-guest-00", read_only=True),
    ]
    async with (
        place(tmp_path, NOTES, transport=transport, grants=grants) as there,
        there.talking(mode, TOKEN) as own,
        there.talking(mode, "tok-of-ben-0000") as ben,
        there.talking(mode, "tok-of-guest-00") as guest,
    ):
        await ben.done("memory_write", slug="rye", content="# Rye\n\nBen's rye.\n")
        assert there.inbox("rye", "ben").is_file()
        assert [row["reference"] for row in (await ben.done("memory_list"))["notes"]] == [
            "memory/rye"
        ]
        assert (await own.done("memory_search", query="rye"))["hits"] == []
        assert (await ben.done("memory_search", query="leeks"))["hits"] == []
        assert (await guest.done("memory_list"))["total"] == 1
        tools = {tool.name for tool in (await guest.client.list_tools()).tools}
        assert "memory_search" in tools
        assert "memory_write" not in tools
        assert "read-only" in await guest.refused("memory_write", slug="x", content="y")
        assert "memory_write" in {tool.name for tool in (await own.client.list_tools()).tools}


async def test_the_session_of_one_token_is_not_there_for_another(tmp_path: Path) -> None:
    grants = [grant(), grant("ben", "tok-of-ben-0000", "ben")]
    async with place(tmp_path, NOTES, grants=grants) as there:
        async with there.asking(TOKEN) as own:
            session = (await initialize(own)).headers["mcp-session-id"]
        async with there.asking("tok-of-ben-0000") as ben:
            for method in ("POST", "GET", "DELETE"):
                reply = await ben.request(
                    method, "/mcp", headers=HEADERS | {"mcp-session-id": session}, content=PING
                )
                assert reply.status_code == 404, method
        async with there.asking(TOKEN) as own:
            reply = await own.post(
                "/mcp", headers=HEADERS | {"mcp-session-id": session}, content=PING
            )
            assert reply.status_code == 200


async def test_the_stream_of_one_token_takes_no_messages_of_another(tmp_path: Path) -> None:
    grants = [grant(), grant("ben", "tok-of-ben-0000", "ben")]
    async with (
        place(tmp_path, NOTES, transport="sse", grants=grants) as there,
        there.asking(TOKEN) as own,
        there.asking("tok-of-ben-0000") as ben,
        own.stream("GET", "/sse") as stream,
    ):
        lines = stream.aiter_lines()
        while not (line := await anext(lines)).startswith("data:"):
            pass
        door = line.removeprefix("data:").strip()
        assert (await ben.post(door, headers=HEADERS, content=PING)).status_code == 404
        assert (await own.post(door, headers=HEADERS, content=PING)).status_code == 202


async def test_a_session_ends_when_it_is_deleted(tmp_path: Path) -> None:
    async with place(tmp_path, NOTES) as there, there.asking() as http:
        session = (await initialize(http)).headers["mcp-session-id"]
        known = HEADERS | {"mcp-session-id": session}
        assert (await http.post("/mcp", headers=known, content=PING)).status_code == 200
        assert (await http.delete("/mcp", headers=known)).status_code == 200
        assert (await http.post("/mcp", headers=known, content=PING)).status_code == 404
        unknown = HEADERS | {"mcp-session-id": "0" * 32}
        assert (await http.post("/mcp", headers=unknown, content=PING)).status_code == 404
        assert (await http.get("/mcp", headers=HEADERS)).status_code == 400


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_change_is_announced_to_a_client_that_subscribed(
    tmp_path: Path, transport: Transport
) -> None:
    heard = anyio.Event()

    async def handler(message: Any) -> None:
        if "resources/updated" in str(getattr(message, "method", "")):
            heard.set()

    async with (
        place(tmp_path, NOTES, transport=transport) as there,
        there.talking("legacy", message_handler=handler) as one,
        there.talking("legacy") as other,
    ):
        await one.client.subscribe_resource("memories://note/memory/leeks")
        await other.done("memory_edit", slug="leeks", append="Thinned in May.")
        with anyio.fail_after(SECONDS):
            await heard.wait()


async def test_news_reach_a_listener_of_the_newer_era(tmp_path: Path) -> None:
    heard: list[Any] = []
    async with place(tmp_path, NOTES) as there, there.talking("2026-07-28") as talk:
        with anyio.fail_after(SECONDS):
            async with talk.client.listen(resources_list_changed=True) as news:
                await talk.done("memory_write", slug="kale", content="# Kale\n\nHardy.\n")
                async for event in news:
                    heard.append(event)
                    break
    assert heard == [ResourcesListChanged()]


async def test_two_hundred_requests_at_once_are_all_answered(tmp_path: Path) -> None:
    answered: list[int] = []

    async with place(tmp_path, NOTES) as there, there.asking() as http:

        async def ask(number: int) -> None:
            path = "/health" if number % 4 == 0 else "/api/search?q=leeks"
            answered.append((await http.get(path)).status_code)

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(ask, number)
    assert answered == [200] * 200


async def test_forty_clients_of_mcp_at_once_lose_no_write(tmp_path: Path) -> None:
    async with place(tmp_path) as there:

        async def write(number: int) -> None:
            async with there.talking(MODES[number % 2]) as talk:
                await talk.done("memory_write", slug=f"n{number}", content=f"Number {number}.\n")

        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(write, number)
        async with there.talking() as talk:
            assert (await talk.done("memory_list"))["total"] == 40


async def test_in_the_newer_era_only_the_first_search_of_all_waits_for_the_index(
    tmp_path: Path,
) -> None:
    # Nothing is indexed in a home that is not at work: a search that waits, waits in full.
    async with place(tmp_path, NOTES, work=False) as there, there.talking("2026-07-28") as talk:
        took = []
        for _ in range(3):
            began = anyio.current_time()
            await talk.done("memory_search", query="leeks")
            took.append(anyio.current_time() - began)
        assert took[0] >= WAIT_SECONDS
        assert max(took[1:]) < WAIT_SECONDS


async def test_the_older_transport_has_no_newer_endpoint_and_the_other_way_round(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as there, there.asking() as http:
        assert (await http.get("/sse")).status_code == 404
    async with place(tmp_path, transport="sse") as there, there.asking() as http:
        assert (await http.post("/mcp", headers=HEADERS, content=PING)).status_code == 404
        assert (await http.get("/messages/")).status_code == 405
        assert (await http.post("/messages/", content=b"{}")).status_code == 400


async def test_the_search_for_people_tells_what_the_tool_tells_and_why(tmp_path: Path) -> None:
    async with place(tmp_path, NOTES) as there, there.asking() as http, there.talking() as talk:
        told = await talk.done("memory_search", query="leeks sown", limit=1)
        asked = (await http.get("/api/search?q=leeks+sown&limit=1")).json()
        assert asked == told
        explained = (await http.get("/api/search?q=leeks+sown&explain=true")).json()
        (hit,) = explained["hits"]
        steps = [step["points"] for step in hit["trace"]["steps"]]
        assert sum(steps) == pytest.approx(hit["trace"]["rank"])
        assert (await http.get("/api/search?q=leeks&min_score=1")).json()["hits"] == []
        assert (await http.get("/api/search?q=leeks&source=wiki")).json()["hits"] == []
        listed = (await http.get("/api/notes?source=all&limit=1")).json()
        assert listed == await talk.done("memory_list", source="all", limit=1)


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/api/search", 400, "q: Field required"),
        ("/api/search?q=", 400, "q: Field required"),
        ("/api/search?query=leeks", 400, "there is no 'query'"),
        ("/api/search?q=x&min_scor=1", 400, "did you mean min_score"),
        ("/api/search?q=x&limit=99", 400, "limit"),
        ("/api/search?q=x&min_score=nan", 400, "min_score"),
        ("/api/search?q=x&source=nowhere", 400, "nowhere"),
        ("/api/notes?cursor=nonsense", 400, "nonsense"),
        ("/api/recall-preview", 405, "POST"),
        ("/nowhere", 404, "/mcp"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(
    tmp_path: Path, path: str, status: int, says: str
) -> None:
    async with place(tmp_path, NOTES) as there, there.asking() as http:
        reply = await http.get(path)
    assert reply.status_code == status, reply.text
    assert says in reply.json()["error"]
