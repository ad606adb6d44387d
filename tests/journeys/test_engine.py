"""One engine for many clients: real fronts, the real engine, real clients in both eras."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, MCPDeprecationWarning, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from memory_mcp.front import endpoint as places
from memory_mcp.front.ask import NoEngine, ask
from memory_mcp.front.home import ENGINE_LOCK, FILE, state_file
from memory_mcp.front.locks import lock
from tests.server.worlds import MODES, Talk, write_files

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(90)]

ROOT = Path(__file__).resolve().parents[2]
NOTES = {"memory/boiler": "The valve is V7.", "memory/garden": "Plant the beans in May."}


class House:
    """A home, and its engines as processes."""

    def __init__(self, home: Path, runtime: str) -> None:
        self.home = home
        self.tick = threading.Event()
        self.path = str(home)
        kept = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
        self.environ = {
            **kept,
            "MEMORY_MCP_HOME": self.path,
            "MEMORY_MCP_EMBEDDING__PROVIDER": "none",
            "PYTHONPATH": str(ROOT),
            "XDG_RUNTIME_DIR": runtime,
        }

    @asynccontextmanager
    async def client(self, mode: Any = "auto", **options: Any) -> AsyncIterator[Talk]:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "memory_mcp"], env=self.environ, cwd=self.home
        )
        with (self.home / "stderr.log").open("a", encoding="utf-8") as log:
            inner = Client(stdio_client(server, errlog=log), mode=mode, **options)
            async with inner:
                yield Talk(inner)

    def pid(self) -> int:
        pid = places.pid_of(self.path)
        assert pid is not None, self.log()
        return pid

    def kill(self) -> int:
        """Kill the engine, without a chance to tidy up."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        return pid

    def log(self) -> str:
        return (self.home / "stderr.log").read_text(encoding="utf-8")

    def stop(self) -> None:
        try:
            ask(self.path, self.environ, {}, "stop", {}, start=False, seconds=5.0)
        except NoEngine:
            return

    def look(self, reference: str) -> None:
        """Wait until the engine finds a note as it is on disk."""
        question = {"references": [reference]}
        ask(self.path, self.environ, {}, "look", question, start=True, seconds=20.0)

    def gone(self, seconds: float = 10.0) -> bool:
        """Whether no engine holds the home, if need be after some seconds."""
        path = Path(state_file(self.path, ENGINE_LOCK))
        for _ in range(int(seconds * 100)):
            if not path.is_file():
                return True
            with lock(str(path)) as free:
                if free:
                    return True
            self.tick.wait(0.01)
        return False

    def left(self) -> list[str]:
        """Endpoint files and sockets that are there."""
        places = (self.home / ".state", Path(self.environ["XDG_RUNTIME_DIR"]))
        names = [path.name for place in places for path in place.rglob("*")]
        return [name for name in names if name == FILE or name.endswith(".sock")]

    def note(self, slug: str) -> Path:
        return self.home / "agents" / "default" / "memory" / f"{slug}.md"

    def forbid_lock(self) -> None:
        """Nobody can lock a folder."""
        Path(state_file(self.path, ENGINE_LOCK)).mkdir(parents=True)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    home = tmp_path / "home"
    home.mkdir()
    write_files(home, {f"{name}.md": text for name, text in NOTES.items()})
    with tempfile.TemporaryDirectory() as runtime:  # short enough for a socket
        house = House(home, runtime)
        yield house
        pid = places.pid_of(house.path)
        house.stop()
        if pid is not None and not house.gone():
            os.kill(pid, signal.SIGKILL)


async def found(talk: Talk, query: str) -> list[str]:
    return [hit["reference"] for hit in (await talk.done("memory_search", query=query))["hits"]]


async def until_found(house: House, talk: Talk, query: str, reference: str) -> None:
    await anyio.to_thread.run_sync(house.look, reference)
    assert reference in await found(talk, query), house.log()


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_does_not_notice_that_the_engine_was_killed_between_calls(
    house: House, mode: str
) -> None:
    async with house.client(mode) as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        written = await talk.done("memory_write", slug="tea", content="Green, two minutes.")
        first = house.kill()
        assert (await talk.done("memory_get", reference="memory/tea"))["content"]
        assert house.pid() != first
        await talk.done("memory_edit", slug="tea", append="No milk.")
        assert written["revision"]
    assert "no shared engine" not in house.log()


@pytest.mark.parametrize("mode", MODES)
async def test_calls_that_are_open_when_the_engine_is_killed_are_done_once(
    house: House, mode: str
) -> None:
    async with house.client(mode) as talk:
        slugs = [f"list-{number}" for number in range(20)]
        for slug in slugs:
            await talk.done("memory_write", slug=slug, content="start")
        killed: list[int] = []

        async def append(slug: str) -> None:
            await talk.done("memory_edit", slug=slug, append="once")
            if slug in (slugs[2], slugs[9]):  # others are under way now
                killed.append(house.kill())

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for slug in slugs:
                    tasks.start_soon(append, slug)
        assert len(killed) == 2
        for slug in slugs:
            assert house.note(slug).read_text(encoding="utf-8").count("once") == 1


async def test_ten_clients_at_once_share_one_engine(house: House) -> None:
    pids: list[int] = []

    async def run(mode: str) -> None:
        async with house.client(mode) as talk:
            await until_found(house, talk, "which valve", "memory/boiler")
            pids.append(house.pid())

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(run, MODES[number % 2])
    assert len(pids) == 10
    assert len(set(pids)) == 1
    assert "no shared engine" not in house.log()


async def test_what_one_client_writes_another_finds_at_once(house: House) -> None:
    async with house.client("auto") as one, house.client("legacy") as other:
        await until_found(house, other, "which valve", "memory/boiler")
        await one.done("memory_write", slug="bees", content="The hive stands by the lime tree.")
        assert "memory/bees" in await found(other, "hive lime tree"), house.log()
    assert "no shared engine" not in house.log()


async def test_wreckage_of_a_killed_engine_is_no_hindrance(house: House) -> None:
    async with house.client() as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        stale = places.read(house.path)
    assert stale is not None
    house.kill()
    assert await anyio.to_thread.run_sync(house.gone)
    assert FILE in house.left()
    async with house.client() as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        fresh = places.read(house.path)
    assert fresh is not None
    assert fresh.engine != stale.engine
    assert "no shared engine" not in house.log()


async def test_an_engine_that_cannot_start_leaves_each_client_a_server_of_its_own(
    house: House,
) -> None:
    house.forbid_lock()
    async with house.client() as talk:
        await talk.done("memory_write", slug="tea", content="Green, two minutes.")
        assert await found(talk, "green") == ["memory/tea"]
    assert house.log().count("no shared engine") == 1
    assert places.read(house.path) is None


async def test_a_stopped_engine_leaves_nothing_and_its_clients_get_another(house: House) -> None:
    async with house.client() as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        first = house.pid()
        await anyio.to_thread.run_sync(house.stop)
        await until_found(house, talk, "beans in May", "memory/garden")
        assert house.pid() != first
    await anyio.to_thread.run_sync(house.stop)
    assert await anyio.to_thread.run_sync(house.gone)
    assert house.left() == []


async def test_a_listening_client_hears_of_changes_after_the_engine_was_killed(
    house: House,
) -> None:
    uri = "memories://note/memory/boiler"
    async with house.client("auto") as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        listen = talk.client.listen(resources_list_changed=True, resource_subscriptions=[uri])
        async with listen as stream:
            house.kill()
            house.note("boiler").write_text("The valve is V8.", encoding="utf-8")
            seen: list[Any] = []
            with anyio.fail_after(20):
                async for event in stream:
                    seen.append(event)
                    if {type(item) for item in seen} == {ResourcesListChanged, ResourceUpdated}:
                        break
            assert {type(item) for item in seen} == {ResourcesListChanged, ResourceUpdated}
            await until_found(house, talk, "V8", "memory/boiler")


async def test_a_subscribed_client_hears_of_changes_after_the_engine_was_killed(
    house: House,
) -> None:
    uri = "memories://note/memory/boiler"
    heard = anyio.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            heard.set()

    async with house.client("legacy", message_handler=hear) as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        with pytest.warns(MCPDeprecationWarning):  # for the newer era, in this older one
            await talk.client.subscribe_resource(uri)
        house.kill()
        with anyio.fail_after(20):
            await heard.wait()
        heard = anyio.Event()
        await talk.done("memory_write", slug="boiler", content="The valve is V9.")
        with anyio.fail_after(20):
            await heard.wait()


async def test_a_client_hears_that_its_tools_changed_with_the_settings(house: House) -> None:
    heard = anyio.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            heard.set()

    async with house.client("legacy", message_handler=hear) as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        assert "memory_write" in {tool.name for tool in (await talk.client.list_tools()).tools}
        text = "writing: {read_only: true}\n"
        (house.home / "config.yml").write_text(text, encoding="utf-8")
        async with house.client() as other:  # the engine sees at its hello that it has to go
            await until_found(house, other, "which valve", "memory/boiler")
            await until_found(house, talk, "beans in May", "memory/garden")
            with anyio.fail_after(20):
                await heard.wait()
        assert "memory_write" not in {tool.name for tool in (await talk.client.list_tools()).tools}


async def test_a_changed_config_file_brings_a_new_engine_for_everybody(house: House) -> None:
    async with house.client() as talk:
        await until_found(house, talk, "which valve", "memory/boiler")
        first = house.pid()
        (house.home / "config.yml").write_text("search: {page_support: 0.1}\n", encoding="utf-8")
        async with house.client("legacy") as other:
            await until_found(house, other, "which valve", "memory/boiler")
            await until_found(house, talk, "beans in May", "memory/garden")
            assert house.pid() != first
    assert "no shared engine" not in house.log()
