"""One client on byte streams, against a small server: what happens on the wire."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp.server import MCPServer

from memory_mcp.server import connection
from memory_mcp.server.connection import serve
from memory_mcp.server.session import Connection
from tests.server.wires import ENVELOPE, Bytes, RawClient, connected
from tests.server.worlds import world

pytestmark = pytest.mark.anyio


class Slow:
    """A tool that waits until it is told to go on."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.go = anyio.Event()


@asynccontextmanager
async def small(
    slow: Slow | None = None, ready: Callable[[], Awaitable[None]] | None = None
) -> AsyncIterator[RawClient]:
    waits = slow or Slow()
    server = MCPServer[Any]("small", version="1", log_level="WARNING")

    @server.tool(structured_output=False)
    async def echo(text: str) -> str:
        return text

    @server.tool(structured_output=False)
    async def wait() -> str:
        waits.begun.set()
        await waits.go.wait()
        return "done"

    state = cast(Connection, object())
    async with connected(cast("MCPServer[Connection]", server), state, ready) as client:
        yield client


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"])


async def echoed(client: RawClient, number: int, text: str) -> str:
    answer = await client.call(number, "tools/call", name="echo", arguments={"text": text})
    return text_of(answer)


async def test_the_older_era_is_served() -> None:
    async with small() as client:
        answer = await client.hello()
        assert answer["result"]["serverInfo"]["name"] == "small"
        assert await echoed(client, 1, "naïve 日本 🎉\u2028") == "naïve 日本 🎉\u2028"


async def test_the_newer_era_is_served() -> None:
    async with small() as client:
        answer = await client.call(1, "server/discover", _meta=ENVELOPE)
        assert "2026-07-28" in answer["result"]["supportedVersions"]
        answer = await client.call(
            2, "tools/call", name="echo", arguments={"text": "hi"}, _meta=ENVELOPE
        )
        assert text_of(answer) == "hi"


async def test_the_first_answer_is_reported_once_and_after_it_was_written() -> None:
    async with small() as client:
        assert client.first_answers == 0
        await client.hello()
        await echoed(client, 1, "a")
        assert client.first_answers == 1


@pytest.mark.parametrize(
    "line",
    [
        b"this is not json\n",
        b"[]\n",
        b"\n\n  \r\n",
        b'{"jsonrpc":"2.0","result":{}}\n',
        b"\xff\xfe\x00\n",
        b"[" * 10_000 + b"\n",
        b'"text"\n',
        b'{"jsonrpc":"2.0","method":"no/such/notification"}\n',
        b'{"jsonrpc":"2.0","id":99,"result":{}}\n',
    ],
)
async def test_a_bad_line_without_an_id_is_dropped_and_the_next_call_is_answered(
    line: bytes,
) -> None:
    async with small() as client:
        await client.hello()
        await client.send(line)
        assert await echoed(client, 1, "still here") == "still here"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc":"2.0","id":7,\n', -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"x\xff"}\n', -32700),
        (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]\n', -32600),
        (b'{"jsonrpc":"2.0","id":7}\n', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"no/such/method"}\n', -32601),
    ],
)
async def test_a_bad_line_with_an_id_is_answered_with_an_error(line: bytes, code: int) -> None:
    async with small() as client:
        await client.hello()
        await client.send(line)
        answer = await client.answer(7)
        assert answer["error"]["code"] == code
        assert await echoed(client, 1, "still here") == "still here"


async def test_a_dropped_line_is_one_line_in_the_log_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with small() as client:
        await client.hello()
        with caplog.at_level(logging.WARNING):
            await client.send(b"secret words\n")
            await echoed(client, 1, "x")
    assert len(caplog.messages) == 1
    assert "secret" not in caplog.text


async def test_half_a_letter_in_a_call_is_answered_with_a_replacement_mark() -> None:
    async with small() as client:
        await client.hello()
        await client.send(
            rb'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo",'
            rb'"arguments":{"text":"cut \ud83d here"}}}' + b"\n"
        )
        assert text_of(await client.answer(5)) == "cut \ufffd here"


async def test_a_call_before_the_handshake_is_an_error_and_the_handshake_still_works() -> None:
    async with small() as client:
        answer = await client.call(3, "tools/call", name="echo", arguments={"text": "a"})
        assert "error" in answer
        await client.hello()
        assert await echoed(client, 4, "a") == "a"


async def test_a_line_of_twenty_megabytes_is_answered() -> None:
    async with small() as client:
        await client.hello()
        text = "y" * 20_000_000
        line = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 3,
                "method": "tools/call",
                "params": {"name": "echo", "arguments": {"text": text}},
            }
        ).encode()
        for at in range(0, len(line), 1 << 20):
            await client.send(line[at : at + (1 << 20)])
        await client.send(b"\n")
        assert len(text_of(await client.answer(3))) == len(text)


async def test_a_half_line_with_the_id_of_an_open_call_does_not_answer_it() -> None:
    slow = Slow()
    async with small(slow) as client:
        await client.hello()
        await client.send(
            {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "wait"}}
        )
        await slow.begun.wait()
        await client.send(b'{"jsonrpc":"2.0","id":8,\n')
        await echoed(client, 9, "a")
        slow.go.set()
        assert text_of(await client.answer(8)) == "done"


async def test_a_call_under_way_is_answered_when_the_input_ends() -> None:
    slow = Slow()
    async with small(slow) as client:
        await client.hello()
        await client.send(
            {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "wait"}}
        )
        await slow.begun.wait()
        client.to_server.close()
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
        assert text_of(await client.answer(8)) == "done"
        await client.gone()


async def test_a_call_that_hangs_does_not_keep_the_connection() -> None:
    slow = Slow()
    async with small(slow) as client:
        await client.hello()
        await client.send(
            {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "wait"}}
        )
        await slow.begun.wait()
        begin = anyio.current_time()
        client.to_server.close()
        await client.gone()
        assert anyio.current_time() - begin < connection.GRACE_SECONDS + 1


async def test_a_cancelled_call_does_not_keep_the_connection() -> None:
    slow = Slow()
    async with small(slow) as client:
        await client.hello()
        await client.send(
            {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "wait"}}
        )
        await slow.begun.wait()
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 8}}
        await client.send({"jsonrpc": "2.0", **cancelled})
        begin = anyio.current_time()
        client.to_server.close()
        await client.gone()
        assert anyio.current_time() - begin < 1


@pytest.mark.parametrize(
    "line",
    [b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n', b'{"jsonrpc":"2.0","id":1,\n'],
)
async def test_the_connection_ends_when_nobody_takes_the_answers(line: bytes) -> None:
    async with small() as client:
        await client.hello()
        client.from_server.refuse()
        await client.send(line)
        await client.send(line)
        client.to_server.close()
        await client.gone()


async def test_only_the_handshake_is_answered_before_the_memory_is_ready() -> None:
    opened = anyio.Event()
    asked = anyio.Event()

    async def ready() -> None:
        asked.set()
        await opened.wait()

    async with small(ready=ready) as client:
        await client.hello()
        assert "result" in await client.call(1, "ping")
        assert not asked.is_set()
        await client.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
        with anyio.fail_after(5):
            await asked.wait()
        await anyio.wait_all_tasks_blocked()
        opened.set()
        assert len((await client.answer(2))["result"]["tools"]) == 2
        assert await echoed(client, 3, "a") == "a"


async def test_the_end_of_input_before_any_request_ends_the_connection() -> None:
    async with small() as client:
        client.to_server.close()
        await client.gone()
        assert client.first_answers == 0


async def test_the_background_work_begins_with_the_first_answer(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/a.md": "Leeks in the bed.\n"}, start=False) as place:
        to_server, from_server = Bytes(), Bytes()
        client = RawClient(to_server, from_server)
        async with anyio.create_task_group() as tasks:
            state = Connection.of(place.app)
            tasks.start_soon(serve, to_server, from_server, place.server, state)
            await anyio.wait_all_tasks_blocked()
            assert place.app.index.state().sources["memory"].state == "scanning"
            await client.hello()
            arguments = {"query": "leeks"}
            answer = await client.call(1, "tools/call", name="memory_search", arguments=arguments)
            hits = answer["result"]["structuredContent"]["hits"]
            assert hits[0]["reference"] == "memory/a"
            to_server.close()
        to_server.close_all()
        from_server.close_all()
