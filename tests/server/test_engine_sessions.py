"""Clients that lose their connection and come back to an engine by their name."""

from __future__ import annotations

import secrets
from pathlib import Path

import anyio
import pytest
from filelock import FileLock

from memory_mcp.notes.history import History
from tests.server.engines import SECONDS, Guest, Place, engine
from tests.server.wires import HELLO, READY

pytestmark = pytest.mark.anyio


def kept(place: Place) -> list[str]:
    folder = place.home / ".state" / "sessions"
    return sorted(path.stem for path in folder.glob("*.jsonl"))


def outside(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def edit(number: int, append: str) -> dict[str, object]:
    arguments = {"slug": "list", "append": append}
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": "memory_edit", "arguments": arguments},
    }


async def once(guest: Guest, number: int, append: str) -> dict[str, object]:
    await guest.send(edit(number, append))
    answer = await guest.answer(number)
    result: dict[str, object] = answer["result"]
    return result


def note(place: Place) -> Path:
    return place.home / "agents" / "default" / "memory" / "list.md"


def text(place: Place) -> str:
    return note(place).read_text(encoding="utf-8")


async def busy(place: Place) -> None:
    """Wait until a call is open."""
    with anyio.fail_after(SECONDS):
        while not any(client.calls for client in place.engine._clients if client.kind == "mcp"):
            await place.ask("status")


async def test_what_a_client_has_read_is_gone_with_it(tmp_path: Path) -> None:
    session = secrets.token_hex(16)
    async with engine(tmp_path / "home") as place:
        async with place.guest(session=session) as guest:
            await guest.tool("memory_write", slug="list", content="# List")
            assert kept(place) == [session]
        with anyio.fail_after(SECONDS):
            while kept(place):
                await place.ask("status")


async def test_a_client_whose_connection_is_used_twice_continues_on_the_newer_one(
    tmp_path: Path,
) -> None:
    session = secrets.token_hex(16)
    async with engine(tmp_path / "home") as place, place.guest(session=session) as broken:
        await broken.tool("memory_write", slug="list", content="# List")
        first = await once(broken, 50, "- one")
        async with place.guest(session=session, resumed=True, repeated=[50]) as guest:
            await broken.until(lambda: broken.ended)
            assert await once(guest, 50, "- one") == first
            assert text(place).count("- one") == 1
            await once(guest, 51, "- two")
            assert text(place).count("- two") == 1
            assert kept(place) == [session]


async def test_a_call_that_is_under_way_on_a_broken_connection_is_not_done_twice(
    tmp_path: Path,
) -> None:
    session = secrets.token_hex(16)
    async with engine(tmp_path / "home") as place, place.guest(session=session) as broken:
        await broken.tool("memory_write", slug="list", content="# List")
        history = History(place.home / ".history")
        async with anyio.create_task_group() as tasks:
            with FileLock(history.lock_of(note(place).parent, "list")):
                await broken.send(edit(50, "- one"))
                await busy(place)
                again = await place.knock(
                    place.hello(session=session, resumed=True, repeated=[50])
                )
                await again.send(HELLO, READY, edit(50, "- one"))
                tasks.start_soon(again.answer, 0)
                await broken.close()
                await busy(place)
            result = (await again.answer(50))["result"]
            assert not result.get("isError"), result
        assert text(place).count("- one") == 1


async def test_a_client_that_is_sent_to_another_engine_keeps_its_reading(tmp_path: Path) -> None:
    session = secrets.token_hex(16)
    async with engine(tmp_path / "home") as place, place.guest(session=session) as guest:
        await guest.tool("memory_write", slug="list", content="# List")
        place.engine.stop()
        await place.end()
        assert kept(place) == [session]
    async with engine(tmp_path / "home") as place:
        note(place).write_text(f"{text(place)}- by hand\n", encoding="utf-8")
        async with place.guest(session=session, resumed=True) as guest:
            said = await guest.refused("memory_edit", slug="list", append="- one")
            assert "by hand" in said


@pytest.mark.parametrize("session", ["../../x", "short", "A" * 32])
async def test_a_client_with_a_name_that_nobody_has_is_sent_away(
    tmp_path: Path, session: str
) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as other:
        guest = await place.knock(place.hello(session=session))
        await guest.until(lambda: guest.ended)
        await other.tool("memory_write", slug="list", content="# List")
        assert kept(place) == []
        assert outside(tmp_path) == ["home"]
