"""How an engine goes: replaced, stopped or idle, and what its clients see of it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from memory_mcp.front import endpoint as places
from tests.server.engines import WORDS_ONLY, engine
from tests.server.wires import ENVELOPE
from tests.server.worlds import write_files

pytestmark = pytest.mark.anyio

IDLE = "embedding: {provider: none}\nengine: {idle_minutes: 0.005}\n"


async def test_a_newer_client_replaces_the_engine_and_the_others_are_told(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as other:
        newer = await place.knock(place.hello(version="99.0.0"))
        assert newer.welcome["error"] == "leaving"
        assert "99.0.0" in newer.welcome["messages"][0]
        await other.until(lambda: other.events == ["drain"])
        await other.until(lambda: other.ended)
        await place.end()
        assert places.read(str(tmp_path / "home")) is None
        assert not await anyio.Path(place.endpoint.address["unix"]).exists()


@pytest.mark.parametrize("version", ["0.0.1", "0.1.0", "", "next", "0.1"])
async def test_an_older_or_odd_version_is_served(tmp_path: Path, version: str) -> None:
    async with engine(tmp_path / "home") as place:
        guest = await place.knock(place.hello(version=version))
        assert guest.welcome["ok"]


async def test_a_changed_config_file_replaces_the_engine(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as other:
        changed = f"{WORDS_ONLY}search: {{page_support: 0.1}}\n"
        write_files(tmp_path / "home", {"config.yml": changed})
        guest = await place.knock(place.hello())
        assert guest.welcome == {
            "memory_mcp": 1,
            "ok": False,
            "error": "leaving",
            "messages": ["config.yml changed"],
        }
        await other.until(lambda: other.ended)
        await place.end()


async def test_a_changed_config_file_replaces_the_engine_though_nobody_comes(
    tmp_path: Path,
) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as guest:
        write_files(
            tmp_path / "home", {"config.yml": f"{WORDS_ONLY}search: {{page_support: 0.1}}\n"}
        )
        await guest.until(lambda: guest.events == ["drain"])
        await place.end()


async def test_a_config_file_that_is_wrong_now_replaces_nothing(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as other:
        write_files(tmp_path / "home", {"config.yml": "serach: {}\n"})
        guest = await place.knock(place.hello())
        assert guest.welcome["error"] == "config"
        assert "serach" in guest.welcome["messages"][0]
        await other.tool("memory_write", slug="tea", content="Green.")
        write_files(tmp_path / "home", {"config.yml": WORDS_ONLY})
        async with place.guest() as late:
            assert await late.found("green") == ["memory/tea"]


async def test_questions_about_the_engine_do_not_replace_it(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as guest:
        asked = place.hello("ask", version="99.0.0", ask={"name": "status"})
        assert (await place.knock(asked)).welcome["result"]["engine"]["clients"] == 1
        asked = place.hello("ask", version="99.0.0", ask={"name": "look", "references": []})
        assert (await place.knock(asked)).welcome["result"] == {"looked": 0}
        await guest.tool("memory_write", slug="tea", content="Green.")
        assert guest.events == []


async def test_an_engine_can_be_stopped_whatever_the_settings_of_who_says_so(
    tmp_path: Path,
) -> None:
    async with engine(tmp_path / "home") as place:
        wrong = {"MEMORY_MCP_AGNET": "x"}
        guest = await place.knock(place.hello("ask", env=wrong, ask={"name": "stop"}))
        assert guest.welcome["result"] == {"stopping": True}
        await place.end()
        assert place.seconds[0] <= 4.0


async def test_calls_that_are_open_when_the_engine_goes_are_answered(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as guest:
        await guest.found("anything")
        numbers = [
            await guest.request(
                "tools/call",
                name="memory_write",
                arguments={"slug": f"n-{number}", "content": f"Note {number}."},
            )
            for number in range(8)
        ]
        shown = (await place.ask("status"))["result"]["engine"]["client_list"]
        assert shown[0]["kind"] == "mcp"
        newer = await place.knock(place.hello(version="99.0.0"))
        assert newer.welcome["error"] == "leaving"
        await guest.until(lambda: guest.ended)
        assert all(guest.has(number) for number in numbers)


async def test_what_comes_after_the_farewell_is_left_to_the_next_engine(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as guest:
        await guest.found("anything")
        place.engine.stop()
        late = await guest.request(
            "tools/call", name="memory_write", arguments={"slug": "late", "content": "Too late."}
        )
        await guest.until(lambda: guest.ended)
        assert not guest.has(late)
        late_note = tmp_path / "home" / "agents" / "default" / "memory" / "late.md"
        assert not await anyio.Path(late_note).exists()


async def test_a_listener_gets_no_error_when_the_engine_goes(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place:
        guest = await place.knock(place.hello())
        number = await guest.request(
            "subscriptions/listen", notifications={"resourcesListChanged": True}, _meta=ENVELOPE
        )
        await guest.until(lambda: guest.heard)
        place.engine.stop()
        await guest.until(lambda: guest.ended)
        assert guest.events == ["stop"]
        assert not guest.has(number)


async def test_an_engine_with_nothing_to_do_says_so_and_goes(tmp_path: Path) -> None:
    async with engine(tmp_path / "home", IDLE) as place, place.guest() as guest:
        await guest.tool("memory_write", slug="tea", content="Green.")
        await guest.until(lambda: guest.ended)
        assert guest.events == ["idle"]
        await place.end()
        assert places.read(str(tmp_path / "home")) is None


async def test_an_engine_that_may_be_idle_for_ever_stays(tmp_path: Path) -> None:
    never = IDLE.replace("0.005", "0")
    async with engine(tmp_path / "home", never) as place, place.guest() as guest:
        await guest.found("anything")
        with anyio.move_on_after(2.5):
            await guest.until(lambda: guest.ended)
        assert not guest.ended


async def test_a_port_that_is_held_keeps_the_engine(tmp_path: Path) -> None:
    asked = {
        "transport": "streamable-http",
        "host": "127.0.0.1",
        "port": 0,
        "tokens": [
            {
                "name": "x",
                "token": None,
                "agent": "default",
                "read_only": False,
                "tools": ["core"],
            }
        ],
    }
    async with engine(tmp_path / "home", IDLE) as place:
        guest = await place.knock(place.hello("serve", serve=asked))
        port = guest.welcome["result"]["port"]
        with anyio.move_on_after(2.5):
            await place.gone.wait()
        assert not place.gone.is_set()
        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
        await guest.close()
        await place.end()
        with pytest.raises(OSError, match="failed"):
            await anyio.connect_tcp("127.0.0.1", port)
