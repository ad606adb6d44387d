"""How a port closes, and what slow and broken clients can do to it."""

from __future__ import annotations

import json
import logging
import socket
from pathlib import Path

import anyio
import pytest
import uvicorn
from filelock import FileLock
from starlette.responses import PlainTextResponse
from starlette.types import Message

from memory_mcp.app import Home
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.server.http.binding import addresses_of, check_grants, listen
from memory_mcp.server.http.grants import PortRequest
from memory_mcp.server.http.guard import Guard
from memory_mcp.server.http.hosts import hosts_for
from memory_mcp.server.http.server import CLOSE_SECONDS, FINISH_SECONDS, open_port
from memory_mcp.server.http.wire import Wire
from tests.server.ports import (
    HEADERS,
    OPEN,
    TOKEN,
    Place,
    grant,
    initialize,
    memory,
    opened_already,
    place,
)
from tests.server.worlds import SECONDS

pytestmark = pytest.mark.anyio

NOTES = {"memory/leeks.md": "# Leeks\n\nSown in March.\n"}
LISTEN = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "subscriptions/listen",
    "params": {
        "notifications": {"resourcesListChanged": True},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        },
    },
}
MODERN = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}


def append(text: str) -> dict[str, object]:
    """A call that changes a note."""
    params = {"name": "memory_edit", "arguments": {"slug": "leeks", "append": text}}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}


def hold(there: Place) -> FileLock:
    """Hold the lock of the note, so that a call that changes it takes as long as we like."""
    app = there.home.app("default")
    inbox = next(source for source in app.sources if source.name == "memory")
    path = app.history.lock_of(inbox.root, "leeks")
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    lock.acquire()
    return lock


async def thin(there: Place, begun: anyio.Event) -> list[str]:
    """Change the note; the lines of the answer, or as much of it as came."""
    async with there.asking() as http:
        session = (await initialize(http)).headers["mcp-session-id"]
        known = HEADERS | {"mcp-session-id": session}
        async with http.stream("POST", "/mcp", headers=known, json=append("Thinned.")) as stream:
            begun.set()
            return [line async for line in stream.aiter_lines()]


async def until_closed(port: int) -> None:
    """Wait until the port takes no connections any more."""
    with anyio.fail_after(SECONDS):
        while True:
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            except OSError:
                return
            await anyio.sleep(0.01)


async def test_an_open_stream_of_news_ends_in_order_and_at_once(tmp_path: Path) -> None:
    ended: list[str] = []
    open_: list[str] = []
    async with anyio.create_task_group() as tasks, place(tmp_path, NOTES) as there:
        listening = anyio.Event()

        async def read(url: str, method: str, **request: object) -> None:
            async with (
                there.asking() as http,
                http.stream(method, url, **request) as stream,  # type: ignore[arg-type]
            ):
                assert stream.status_code == 200
                open_.append(method)
                if len(open_) == 2:
                    listening.set()
                async for _ in stream.aiter_bytes():
                    pass
                ended.append(method)

        async with there.asking() as http:
            session = (await initialize(http)).headers["mcp-session-id"]
        known = HEADERS | {"mcp-session-id": session}
        tasks.start_soon(lambda: read("/mcp", "GET", headers=known))
        tasks.start_soon(lambda: read("/mcp", "POST", headers=HEADERS | MODERN, json=LISTEN))
        with anyio.fail_after(SECONDS):
            await listening.wait()
        began = anyio.current_time()
    assert anyio.current_time() - began < FINISH_SECONDS + CLOSE_SECONDS
    assert sorted(ended) == ["GET", "POST"]


async def test_a_write_that_is_under_way_is_answered_before_the_port_closes(
    tmp_path: Path,
) -> None:
    answers: list[str] = []
    async with anyio.create_task_group() as tasks, place(tmp_path, NOTES) as there:
        lock = hold(there)
        begun = anyio.Event()

        async def write() -> None:
            answers.extend(await thin(there, begun))

        async def release() -> None:
            await until_closed(there.port)
            lock.release()

        tasks.start_soon(write)
        await begun.wait()
        tasks.start_soon(release)
    assert "Thinned." in there.inbox("leeks").read_text(encoding="utf-8")
    assert any('"isError":false' in line or '"replaced_revision"' in line for line in answers)


async def test_a_write_on_the_older_transport_is_answered_before_the_port_closes(
    tmp_path: Path,
) -> None:
    answers: list[str] = []
    async with (
        anyio.create_task_group() as tasks,
        place(tmp_path, NOTES, transport="sse") as there,
    ):
        lock = hold(there)
        begun = anyio.Event()

        async def write() -> None:
            async with there.asking() as http, http.stream("GET", "/sse") as stream:
                lines = stream.aiter_lines()
                while not (line := await anext(lines)).startswith("data:"):
                    pass
                door = line.removeprefix("data:").strip()
                hello = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                }
                opening = {"id": 1, "method": "initialize", "params": hello}
                await http.post(door, json={"jsonrpc": "2.0", **opening})
                while "serverInfo" not in await anext(lines):
                    pass
                ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                await http.post(door, json=ready)
                assert (await http.post(door, json=append("Thinned."))).status_code == 202
                begun.set()
                answers.extend([line async for line in lines])

        async def release() -> None:
            await until_closed(there.port)
            lock.release()

        tasks.start_soon(write)
        await begun.wait()
        tasks.start_soon(release)
    assert any('"replaced_revision"' in line for line in answers)


async def test_a_call_that_hangs_does_not_keep_the_port_from_closing(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks, place(tmp_path, NOTES) as there:
        lock = hold(there)
        begun = anyio.Event()

        async def write() -> None:
            await thin(there, begun)
            assert FINISH_SECONDS <= anyio.current_time() - began < 4
            await until_closed(there.port)
            lock.release()  # only now: what works on a file is not left alone with it

        tasks.start_soon(write)
        await begun.wait()
        began = anyio.current_time()


async def test_a_port_can_be_opened_again_as_soon_as_it_is_closed(tmp_path: Path) -> None:
    async with memory(tmp_path, NOTES) as (home, faces):
        port = 0
        for _ in range(3):
            request = PortRequest("streamable-http", "127.0.0.1", port, (OPEN,))
            async with open_port(opened_already(home), faces, request) as opened:
                there = Place(
                    tmp_path, home, "streamable-http", "127.0.0.1", opened.port, opened.url
                )
                async with there.talking() as talk:
                    await talk.done("memory_search", query="leeks")
            assert port in (0, opened.port)
            port = opened.port


async def test_a_port_that_is_taken_is_one_clear_error(tmp_path: Path) -> None:
    async with place(tmp_path) as there:
        with pytest.raises(RefusedError, match=f"port {there.port} on 127.0.0.1 is taken"):
            listen("127.0.0.1", addresses_of("127.0.0.1"), there.port)


async def test_a_public_port_without_a_token_is_not_opened(tmp_path: Path) -> None:
    async with memory(tmp_path) as (home, faces):
        for host in ("0.0.0.0", "::", "192.0.2.7"):
            request = PortRequest("streamable-http", host, 0, (grant(), OPEN))
            with pytest.raises(RefusedError, match="MEMORY_MCP_TOKEN"):
                async with open_port(opened_already(home), faces, request):
                    raise AssertionError("it is open")


async def test_an_agent_that_cannot_be_gets_the_reason(tmp_path: Path) -> None:
    async with (
        place(tmp_path, grants=[grant(agent="../other")]) as there,
        there.asking(TOKEN) as http,
    ):
        for reply in (await http.get("/api/notes"), await http.post("/mcp", headers=HEADERS)):
            assert reply.status_code == 500
            assert "name of an agent" in reply.json()["error"]
    assert not (tmp_path / "agents" / "other").exists()


async def test_a_port_is_there_before_the_memory_and_requests_wait_for_it(tmp_path: Path) -> None:
    ready = anyio.Event()
    async with memory(tmp_path, NOTES) as (home, faces):

        async def opened() -> Home:
            await ready.wait()
            return home

        request = PortRequest("streamable-http", "127.0.0.1", 0, (OPEN,))
        async with open_port(opened, faces, request) as port:
            there = Place(tmp_path, home, "streamable-http", "127.0.0.1", port.port, port.url)
            found: list[str] = []

            async def search() -> None:
                async with there.talking() as talk:
                    hits = (await talk.done("memory_search", query="leeks"))["hits"]
                    found.extend(hit["reference"] for hit in hits)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(search)
                async with there.asking() as http:
                    assert (await http.get("/health")).json()["status"] == "opening"
                assert found == []
                ready.set()
            async with there.asking() as http:
                assert (await http.get("/health")).json()["status"] == "ok"
        assert found == ["memory/leeks"]


async def test_a_public_port_with_a_token_answers_to_this_machine_by_all_its_names(
    tmp_path: Path,
) -> None:
    async with place(tmp_path, host="0.0.0.0", grants=[grant()]) as there:
        assert there.url == f"http://127.0.0.1:{there.port}/mcp"
        async with there.asking(TOKEN) as http:
            for host in ("127.0.0.1", "localhost", "10.11.12.13", socket.gethostname()):
                reply = await http.get("/api/notes", headers={"host": f"{host}:{there.port}"})
                assert reply.status_code == 200, host
            reply = await http.get("/api/notes", headers={"host": "evil.example"})
            assert reply.status_code == 421


async def test_a_name_of_both_families_listens_on_both_at_one_port() -> None:
    found = [item[4][0] for item in socket.getaddrinfo("localhost", None)]
    sockets = listen("localhost", addresses_of("localhost"), 0)
    try:
        assert len({one.getsockname()[1] for one in sockets}) == 1
        assert len(sockets) <= len(set(found))
    finally:
        for one in sockets:
            one.close()


@pytest.mark.parametrize("host", ["", " ", "*", "no such host", "nowhere.invalid", "127.0.0.1:80"])
async def test_a_host_that_is_none_is_one_clear_error(host: str) -> None:
    with pytest.raises(InputError, match=r"127\.0\.0\.1"):
        addresses_of(host)


async def test_loopback_needs_no_token_in_any_spelling() -> None:
    for host in ("127.0.0.1", "127.3.2.1", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"):
        check_grants(host, addresses_of(host), [OPEN])


async def test_a_body_that_never_comes_is_not_waited_for_for_ever() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    app = PlainTextResponse("never")
    hosts = hosts_for("127.0.0.1", addresses_of("127.0.0.1"), 8077)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(b"host", b"localhost")],
    }
    await Guard(app, hosts, [OPEN], body_seconds=0.05)(scope, receive, send)
    assert sent[0]["status"] == 408


async def test_a_connection_that_says_nothing_is_closed() -> None:
    class Hasty(Wire):
        head_seconds = 0.2
        connections_most = 3

    server = uvicorn.Server(
        uvicorn.Config(
            PlainTextResponse("here"), http=Hasty, ws="none", lifespan="off", log_config=None
        )
    )
    one = listen("127.0.0.1", addresses_of("127.0.0.1"), 0)
    port = one[0].getsockname()[1]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server._serve, one)
        with anyio.fail_after(SECONDS):
            for said in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "):
                async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                    if said:
                        await stream.send(said)
                    with pytest.raises(anyio.EndOfStream):
                        await stream.receive()
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                await stream.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                assert (await stream.receive()).startswith(b"HTTP/1.1 200")
                await stream.send(b"GET / HT")
                with pytest.raises(anyio.EndOfStream):
                    while True:
                        await stream.receive()
            open_ = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(4)]
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await open_[-1].receive()
            for stream in open_:
                await stream.aclose()
        server.should_exit = True


async def test_neither_tokens_nor_notes_get_into_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "the-cat-is-called-Mephisto"
    with caplog.at_level(logging.DEBUG):
        async with place(tmp_path, NOTES, grants=[grant()]) as there:
            async with there.talking("legacy", TOKEN) as talk:
                await talk.done("memory_write", slug="cat", content=f"{secret}\n")
                await talk.done("memory_search", query=secret)
            async with there.asking(TOKEN) as http:
                await http.get("/api/search", params={"q": secret})
                await http.post("/mcp", headers=HEADERS, content=secret.encode())
        async with place(tmp_path, transport="sse", grants=[grant()]) as there:
            async with (
                there.asking(TOKEN) as http,
                http.stream("GET", "/sse") as stream,
            ):
                lines = stream.aiter_lines()
                while not (line := await anext(lines)).startswith("data:"):
                    pass
                door = line.removeprefix("data:").strip()
                broken = json.dumps({"jsonrpc": "2.0", "method": [secret]})
                await http.post(door, headers=HEADERS, content=broken)
            async with there.asking("wrong-token-here") as http:
                await http.get("/api/notes")
    ours = [
        record.getMessage() + (record.exc_text or "")
        for record in caplog.records
        if not record.name.startswith(("mcp.client", "httpx", "httpcore"))
    ]
    assert not [text for text in ours if secret in text]
    everything = "".join(ours)
    assert TOKEN not in everything
    assert "wrong-token-here" not in everything


async def test_who_is_cancelled_while_a_port_is_open_still_closes_it_in_order(
    tmp_path: Path,
) -> None:
    answers: list[str] = []
    async with memory(tmp_path, NOTES) as (home, faces), anyio.create_task_group() as tasks:
        begun, opened = anyio.Event(), anyio.Event()
        doomed = anyio.CancelScope()
        there: list[Place] = []

        async def keep() -> None:
            request = PortRequest("streamable-http", "127.0.0.1", 0, (OPEN,))
            with doomed:
                async with open_port(opened_already(home), faces, request) as port:
                    there.append(
                        Place(tmp_path, home, "streamable-http", port.host, port.port, port.url)
                    )
                    opened.set()
                    await anyio.sleep_forever()

        async def write() -> None:
            async with there[0].asking() as http:
                session = (await initialize(http)).headers["mcp-session-id"]
                known = HEADERS | {"mcp-session-id": session}
                async with http.stream(
                    "POST", "/mcp", headers=known, json=append("Thinned.")
                ) as stream:
                    begun.set()
                    answers.extend([line async for line in stream.aiter_lines()])

        tasks.start_soon(keep)
        await opened.wait()
        lock = hold(there[0])
        tasks.start_soon(write)
        await begun.wait()
        doomed.cancel()
        await until_closed(there[0].port)
        lock.release()
    assert any('"replaced_revision"' in line for line in answers)
