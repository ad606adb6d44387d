"""Calls that are cancelled, at every moment, and calls that wait beside others that do not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.curate.write.place import inbox_of
from memory_mcp.notes.lock import locked
from memory_mcp.server.session import Connection
from tests.server.wires import ENVELOPE, HELLO, READY, RawClient, connected
from tests.server.worlds import MODES, World, world

pytestmark = pytest.mark.anyio


def request(mode: str, number: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call as a message."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if mode == "auto":
        params["_meta"] = ENVELOPE
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def cancel(number: Any) -> dict[str, Any]:
    params = {"requestId": number, "reason": "the user pressed escape"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


@contextmanager
def kept_waiting(place: World, slug: str) -> Iterator[None]:
    """Whoever changes this note waits: another process of the home has its lock."""
    inbox = inbox_of(place.app.sources)
    with locked(place.app.history.lock_of(inbox.root, slug), slug):
        yield


@asynccontextmanager
async def client_of(place: World) -> AsyncIterator[RawClient]:
    async with connected(place.server, Connection.of(place.app)) as client:
        yield client


async def begin(client: RawClient, mode: str) -> None:
    if mode == "legacy":
        await client.hello()


async def still_there(client: RawClient, mode: str, number: int = 900) -> dict[str, Any]:
    """A call that must be answered, and its result; whatever comes before is an error."""
    await client.send(request(mode, number, "memory_list"))
    answer = await client.next()
    while "method" in answer:
        answer = await client.next()
    assert answer["id"] == number, answer
    result: dict[str, Any] = answer["result"]
    return result


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_was_cancelled_before_it_came_is_done_and_answered(
    tmp_path: Path, mode: str
) -> None:
    async with world(tmp_path) as place, client_of(place) as client:
        await begin(client, mode)
        await client.send(cancel(5))
        await client.send(request(mode, 5, "memory_write", slug="a", content="A."))
        assert "result" in await client.answer(5)
        assert place.inbox("a").exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("times", [1, 2])
async def test_a_call_that_is_cancelled_in_the_middle_is_not_answered_and_nothing_is_half_done(
    tmp_path: Path, mode: str, times: int
) -> None:
    async with world(tmp_path, {"memory/a.md": "Before.\n"}) as place, client_of(place) as client:
        await begin(client, mode)
        with kept_waiting(place, "a"):
            await client.send(request(mode, 5, "memory_edit", slug="a", append="After."))
            await still_there(client, mode, 6)  # the edit waits, and this is answered
            for _ in range(times):
                await client.send(cancel(5))
            await still_there(client, mode, 7)
        await client.send(request(mode, 8, "memory_edit", slug="a", append="More."))
        answer = await client.next()
        while "method" in answer:
            answer = await client.next()
        assert answer["id"] == 8
        text = place.inbox("a").read_text(encoding="utf-8")
        assert text.startswith(("Before.\n", "---\n"))
        assert text.count("After.") <= 1
        assert text.count("More.") == (0 if answer["result"].get("isError") else 1)


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_is_cancelled_after_its_answer_was_done(
    tmp_path: Path, mode: str
) -> None:
    async with world(tmp_path) as place, client_of(place) as client:
        await begin(client, mode)
        await client.send(request(mode, 5, "memory_write", slug="a", content="A."))
        assert "result" in await client.answer(5)
        numbers: tuple[Any, ...] = (5, 5, 99, "5", None, [], 2**70)
        for number in numbers:
            await client.send(cancel(number))
        listed = await still_there(client, mode)
        assert [note["reference"] for note in listed["structuredContent"]["notes"]] == ["memory/a"]


async def test_the_handshake_cannot_be_cancelled(tmp_path: Path) -> None:
    async with world(tmp_path) as place, client_of(place) as client:
        await client.send(cancel(0))
        await client.send(HELLO)
        await client.send(cancel(0))
        assert "result" in await client.answer(0)
        await client.send(READY)
        await client.send(cancel(0))
        await still_there(client, "legacy")


@pytest.mark.parametrize("mode", MODES)
async def test_twenty_calls_do_not_wait_for_a_slow_one_in_front(tmp_path: Path, mode: str) -> None:
    async with (
        world(tmp_path, {"memory/slow.md": "Slow.\n", "memory/b.md": "Bread.\n"}) as place,
        client_of(place) as client,
    ):
        await begin(client, mode)
        with kept_waiting(place, "slow"):
            await client.send(request(mode, 1, "memory_edit", slug="slow", append="x"))
            calls = [
                ("memory_search", {"query": "bread"}),
                ("memory_get", {"reference": "memory/b"}),
                ("memory_list", {}),
                ("memory_jobs", {}),
            ]
            for number in range(2, 22):
                tool, arguments = calls[number % 4]
                if number % 5 == 0:
                    tool, arguments = (
                        "memory_write",
                        {"slug": f"w{number}", "content": "Quick."},
                    )
                await client.send(request(mode, number, tool, **arguments))
            answered: set[int] = set()
            with anyio.fail_after(5):
                while len(answered) < 20:
                    message = await client.next()
                    if "method" not in message:
                        assert not message["result"].get("isError"), message
                        answered.add(message["id"])
            assert answered == set(range(2, 22))
        assert not (await client.answer(1))["result"].get("isError")


@pytest.mark.parametrize("mode", MODES)
async def test_each_of_many_calls_under_one_id_is_answered(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path, {"memory/b.md": "Bread.\n"}) as place, client_of(place) as client:
        await begin(client, mode)
        for _ in range(3):
            await client.send(request(mode, 5, "memory_get", reference="memory/b"))
        for _ in range(3):
            assert "result" in await client.answer(5)
        await still_there(client, mode)
