"""Several clients and an editor on one home: nobody's text is lost, nobody reads half a note."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.app import Home, open_home
from memory_mcp.core.config import Config
from memory_mcp.server.build import build
from memory_mcp.server.session import Connection, Options
from tests.fakes import HashEmbedder
from tests.server.attempts import refusal, structured
from tests.server.wires import RawClient, connected
from tests.server.worlds import SECONDS

pytestmark = pytest.mark.anyio

QUIET = {"watch": False, "sweep_seconds": 0, "rescan_minutes": 0}
"""Nothing but the calls themselves tells the index of a change."""

ROUNDS = 200
LINES = 60


@dataclass(frozen=True, slots=True)
class Peer:
    """One client with a connection of its own. One call after the other, or many at once."""

    client: RawClient
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call."""
        return (await self.at_once([(tool, arguments)]))[0]

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that must succeed."""
        return structured(await self.call(tool, **arguments))

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must fail."""
        return refusal(await self.call(tool, **arguments))

    async def at_once(self, calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        """The results of calls that are all sent before the first is answered."""
        numbers = [await self._send(tool, arguments) for tool, arguments in calls]
        results: dict[int, dict[str, Any]] = {}
        while len(results) < len(numbers):
            message = await self.client.next()
            if message.get("id") in numbers and "method" not in message:
                results[message["id"]] = message["result"]
        return [results[number] for number in numbers]

    async def resource(self, reference: str) -> str:
        """A note as a resource."""
        number = next(self._numbers)
        uri = f"memories://note/{reference}"
        answer = await self.client.call(number, "resources/read", uri=uri)
        text: str = answer["result"]["contents"][0]["text"]
        return text

    async def _send(self, tool: str, arguments: dict[str, Any]) -> int:
        number = next(self._numbers)
        params = {"name": tool, "arguments": arguments}
        await self.client.send(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        )
        return number


@asynccontextmanager
async def home_at(folder: Path) -> AsyncIterator[Home]:
    """An open home, its index at work."""
    config = Config.model_validate({"home": str(folder), "index": QUIET})
    async with open_home(config, embedder=HashEmbedder) as home:
        home.start()
        assert await home.settled(SECONDS)
        yield home


@asynccontextmanager
async def peers(home: Home, count: int) -> AsyncIterator[list[Peer]]:
    """So many clients, each through its own connection to one server."""
    app = home.app("default")
    server = build(app)
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(count):
            state = Connection(app, Options())
            client = await stack.enter_async_context(connected(server, state))
            await client.hello()
            found.append(Peer(client))
        yield found


def inbox(folder: Path, slug: str) -> Path:
    return folder / "agents" / "default" / "memory" / f"{slug}.md"


async def test_of_two_clients_on_one_note_the_second_is_shown_what_the_first_changed(
    tmp_path: Path,
) -> None:
    async with home_at(tmp_path) as home, peers(home, 2) as (one, other):
        await one.done("memory_write", slug="tea", content="Green, two minutes.")
        for each in (one, other):
            await each.done("memory_get", reference="memory/tea")
        await one.done("memory_edit", slug="tea", old_text="two", new_text="three")
        said = await other.refused("memory_edit", slug="tea", old_text="Green", new_text="Black")
        assert "-Green, two minutes." in said
        assert "+Green, three minutes." in said
        assert "memory_get" in said
        await other.done("memory_get", reference="memory/tea")
        await other.done("memory_edit", slug="tea", old_text="Green", new_text="Black")
        assert "Black, three minutes." in inbox(tmp_path, "tea").read_text(encoding="utf-8")


async def test_of_two_edits_at_once_of_what_both_have_read_one_is_done_and_one_is_refused(
    tmp_path: Path,
) -> None:
    async with home_at(tmp_path) as home, peers(home, 2) as both:
        for number in range(10):
            await both[0].done("memory_write", slug=f"tea-{number}", content="Green.")
            results: list[dict[str, Any]] = [{}, {}]
            for each in both:
                await each.done("memory_get", reference=f"memory/tea-{number}")

            async def edit(index: int, slug: str, results: list[dict[str, Any]]) -> None:
                call = {"slug": slug, "append": f"- client {index}"}
                results[index] = await both[index].call("memory_edit", **call)

            async with anyio.create_task_group() as tasks:
                for index in range(2):
                    tasks.start_soon(edit, index, f"tea-{number}", results)
            failed = [bool(result.get("isError")) for result in results]
            assert sorted(failed) == [False, True]
            winner = failed.index(False)
            assert f"+- client {winner}" in refusal(results[1 - winner])
            text = inbox(tmp_path, f"tea-{number}").read_text(encoding="utf-8")
            assert re.findall(r"- client (\d)", text) == [str(winner)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_write", {"slug": "tea", "content": "White."}),
        ("memory_edit", {"slug": "tea", "append": "White."}),
        ("memory_edit", {"slug": "tea", "content": "White."}),
        ("memory_delete", {"slug": "tea"}),
        ("memory_link", {"source": "tea", "target": "memory/pot"}),
    ],
)
async def test_what_an_editor_saved_in_between_is_not_written_over(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    async with home_at(tmp_path) as home, peers(home, 1) as (one,):
        await one.done("memory_write", slug="pot", content="Clay.")
        await one.done("memory_write", slug="tea", content="Green.")
        path = inbox(tmp_path, "tea")
        edited = path.read_text(encoding="utf-8").replace("Green.", "Green, by hand.")
        path.write_text(edited, encoding="utf-8")
        said = await one.refused(tool, **arguments)
        assert "+Green, by hand." in said
        assert path.read_text(encoding="utf-8") == edited
        await one.done("memory_get", reference="memory/tea")
        await one.done(tool, **arguments)


async def test_forty_writes_at_once_are_all_there_and_found(tmp_path: Path) -> None:
    async with home_at(tmp_path) as home, peers(home, 4) as clients:
        results: list[dict[str, Any]] = []

        async def write(peer: Peer, first: int) -> None:
            calls = [
                ("memory_write", {"slug": f"n-{number}", "content": f"The word is zq{number}xw."})
                for number in range(first, first + 10)
            ]
            results.extend(await peer.at_once(calls))

        async with anyio.create_task_group() as tasks:
            for place, peer in enumerate(clients):
                tasks.start_soon(write, peer, 10 * place)
        assert [structured(result)["created"] for result in results] == [True] * 40
        listed = await clients[0].done("memory_list", source="memory")
        assert listed["total"] == 40
        for number in range(40):
            text = inbox(tmp_path, f"n-{number}").read_text(encoding="utf-8")
            assert f"zq{number}xw" in text
            found = await clients[number % 4].done("memory_search", query=f"zq{number}xw")
            assert found["hits"][0]["reference"] == f"memory/n-{number}"


async def test_what_many_clients_append_to_one_note_at_once_is_all_in_it(tmp_path: Path) -> None:
    async with home_at(tmp_path) as home, peers(home, 21) as (owner, *others):
        await owner.done("memory_write", slug="log", content="# Log\n")

        async def append(peer: Peer, number: int) -> None:
            await peer.done("memory_edit", slug="log", append=f"- entry {number}.")

        async with anyio.create_task_group() as tasks:
            for number, peer in enumerate(others):
                tasks.start_soon(append, peer, number)
        text = inbox(tmp_path, "log").read_text(encoding="utf-8")
        numbers = [int(number) for number in re.findall(r"- entry (\d+)\.", text)]
        assert sorted(numbers) == list(range(20))


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_who_reads_while_a_note_is_rewritten_never_sees_half_of_it(tmp_path: Path) -> None:
    async with home_at(tmp_path) as home, peers(home, 3) as (writer, reader, other):
        texts: list[str] = []

        async def read() -> None:
            results = await reader.at_once([("memory_get", {"reference": "memory/log"})] * 2)
            texts.extend(structured(result)["content"] for result in results)

        async def read_resource() -> None:
            texts.append(await other.resource("memory/log"))

        await writer.done("memory_write", slug="log", content=_round(ROUNDS))
        for number in range(ROUNDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                tasks.start_soon(read_resource)
                await writer.done("memory_write", slug="log", content=_round(number))
        assert len(texts) == 3 * ROUNDS
        for text in texts:
            found = re.findall(r"^round (\d+) line (\d+)$", text, re.MULTILINE)
            assert len({number for number, _ in found}) == 1, text[:500]
            assert [int(line) for _, line in found] == list(range(LINES))


def _round(number: int) -> str:
    return "".join(f"round {number} line {line}\n" for line in range(LINES))


async def test_a_write_does_not_wait_for_the_jobs_of_another_client(tmp_path: Path) -> None:
    async with home_at(tmp_path) as home, peers(home, 2) as (one, other):
        app = home.app("default")
        calls = [
            ("memory_save", {"content": f"The valve number {number} is in cellar {number}."})
            for number in range(40)
        ]
        ids = [structured(result)["job_id"] for result in await one.at_once(calls)]
        await other.done("memory_write", slug="tea", content="Green.")
        assert app.jobs.waiting > 0, "the write was answered before the jobs were done"
        with anyio.fail_after(SECONDS):
            for job_id in ids:
                assert (await app.jobs.finished(job_id)).status == "done"
        assert len(set(ids)) == 40
        texts = [
            path.read_text(encoding="utf-8") for path in inbox(tmp_path, "x").parent.iterdir()
        ]
        for number in range(40):
            assert sum(f"valve number {number} is" in text for text in texts) == 1


async def test_what_one_client_wrote_another_finds_at_once(tmp_path: Path) -> None:
    async with home_at(tmp_path) as home, peers(home, 2) as (one, other):
        for number in range(10):
            reference, word = f"memory/n-{number}", f"zq{number}xw"
            await one.done("memory_write", slug=f"n-{number}", content=f"It is {word}.")
            assert reference in await _found(other, word)
            assert reference in await _listed(other)
            await one.done("memory_edit", slug=f"n-{number}", old_text=word, new_text=word[::-1])
            assert reference in await _found(other, word[::-1])
            assert reference not in await _found(other, word)
        for number in range(10):
            await one.done("memory_delete", slug=f"n-{number}")
            assert f"memory/n-{number}" not in await _found(other, f"wx{number}qz")
            assert f"memory/n-{number}" not in await _listed(other)


async def _found(peer: Peer, word: str) -> list[str]:
    """Where the word itself stands."""
    found = await peer.done("memory_search", query=word)
    return [hit["reference"] for hit in found["hits"] if word in json.dumps(hit["passages"])]


async def _listed(peer: Peer) -> list[str]:
    return [row["reference"] for row in (await peer.done("memory_list"))["notes"]]
