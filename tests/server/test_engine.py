"""The engine on a real socket: who may come in, and that clients share one memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.front import endpoint as places
from tests.index.qdrant_double import KEY, qdrant
from tests.server.engines import SECONDS, Guest, Place, engine
from tests.server.wires import HELLO
from tests.server.worlds import write_files

pytestmark = pytest.mark.anyio


async def test_a_client_shakes_hands_and_is_served(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as guest:
        assert guest.welcome["engine"] == place.endpoint.engine
        assert guest.welcome["warnings"] == []
        done = await guest.tool("memory_write", slug="tea", content="Green, two minutes.")
        assert done["created"]
        assert await guest.found("green") == ["memory/tea"]


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\n",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        b"[1, 2]\n",
        b'{"memory_mcp":1,"kind":"mcp","token":"guessed"}\n',
        b'{"memory_mcp":1,"kind":"mcp","token":null}\n',
        b'{"memory_mcp":2}\n',
        b"\xff\xfe\n",
    ],
)
async def test_who_does_not_know_the_token_gets_nothing(tmp_path: Path, said: bytes) -> None:
    async with engine(tmp_path / "home") as place:
        guest = await place.knock(said)
        assert guest.welcome["error"] == "refused"
        await guest.until(lambda: guest.ended)
        async with place.guest() as other:
            assert await other.found("anything") == []


async def test_an_endless_first_line_is_hung_up_on(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place:
        guest = await place.knock(b"x" * 1_200_000)
        assert guest.ended
        assert guest.welcome == {}


async def test_flags_that_are_no_flags_are_wrong_settings_and_no_crash(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place:
        odd: list[Any] = ["x", 7, {"agent": ["a"]}, {"agent": "../up"}, {"no.such": 1}]
        for flags in odd:
            said = {**place.hello(), "flags": flags, "env": flags}
            guest = await place.knock(said)
            assert guest.welcome.get("ok") or guest.welcome["error"] == "config"
        async with place.guest() as other:
            assert await other.found("anything") == []


async def test_a_kind_of_client_that_is_not_known_is_refused(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place:
        guest = await place.knock(place.hello("dance"))
        assert guest.welcome["error"] == "refused"
        assert "dance" in guest.welcome["messages"][0]


async def test_each_agent_has_its_own_inbox_and_all_share_the_wiki(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"wiki/house.md": "# House\n\nThe boiler is in the cellar.\n"}
    async with (
        engine(tmp_path / "home", files=files) as place,
        place.guest("ann") as ann,
        place.guest("bob") as bob,
    ):
        await ann.tool("memory_write", slug="note", content="Ann likes pears.")
        await bob.tool("memory_write", slug="note", content="Bob likes plums.")
        assert await ann.found("likes") == ["memory/note"]
        assert "pears" in (await ann.tool("memory_get", reference="memory/note"))["content"]
        assert "plums" in (await bob.tool("memory_get", reference="memory/note"))["content"]
        assert await bob.found("pears") == []
        await place.ask("look", references=["wiki/house"])
        assert await ann.found("boiler") == await bob.found("boiler") == ["wiki/house"]
    assert {path.name for path in (tmp_path / "home" / "agents").iterdir()} >= {"ann", "bob"}


async def test_a_read_only_client_reads_beside_one_that_writes(tmp_path: Path) -> None:
    async with (
        engine(tmp_path / "home") as place,
        place.guest(flags={"read_only": True}) as reader,
        place.guest() as writer,
    ):
        names = {tool["name"] for tool in (await reader.call("tools/list"))["tools"]}
        assert "memory_search" in names
        assert "memory_write" not in names
        assert "read-only" in await reader.refused("memory_write", slug="a", content="x")
        await writer.tool("memory_write", slug="a", content="Written by the other.")
        assert await reader.found("written") == ["memory/a"]


async def test_what_the_environment_of_a_client_says_counts_for_it_alone(tmp_path: Path) -> None:
    own = {"MEMORY_MCP_AGENT": "ann", "MEMORY_MCP_WRITING__READ_ONLY": "true"}
    async with engine(tmp_path / "home") as place:
        first = await place.knock(place.hello(env=own))
        second = await place.knock(place.hello())
        assert first.welcome["warnings"] == second.welcome["warnings"] == []
        engine_status = (await place.ask("status"))["result"]["engine"]
        shown = [(one["agent"], one["read_only"]) for one in engine_status["client_list"]]
        assert shown == [("ann", True), ("default", False)]
        assert engine_status["clients"] == 2


async def test_settings_that_the_engine_does_not_have_are_warned_of(tmp_path: Path) -> None:
    theirs = {"MEMORY_MCP_SEARCH__PAGE_SUPPORT": "0.25", "MEMORY_MCP_VECTORS__API_KEY": "hush"}
    async with engine(tmp_path / "home") as place:
        guest = await place.knock(place.hello(env=theirs))
        secret, plain = sorted(guest.welcome["warnings"], key=lambda text: "search" in text)
        assert "search.page_support is 0" in plain
        assert "0.25 (MEMORY_MCP_SEARCH__PAGE_SUPPORT)" in plain
        assert "vectors.api_key" in secret
        assert "hush" not in secret


async def test_wrong_settings_of_one_client_are_told_to_it_alone(tmp_path: Path) -> None:
    wrong = {"MEMORY_MCP_SEARCH__PAGE_SUPPORT": "much", "MEMORY_MCP_AGNET": "x"}
    async with engine(tmp_path / "home") as place, place.guest() as other:
        guest = await place.knock(place.hello(env=wrong))
        assert guest.welcome["error"] == "config"
        assert len(guest.welcome["messages"]) == 2
        assert "search.page_support" in guest.welcome["messages"][1]
        await other.tool("memory_write", slug="tea", content="Green.")
        assert other.events == []


async def test_every_client_finds_what_another_wrote_the_moment_its_call_returned(
    tmp_path: Path,
) -> None:
    async with engine(tmp_path / "home") as place, anyio.create_task_group() as tasks:
        written = [anyio.Event() for _ in range(10)]

        async def client(number: int) -> None:
            async with place.guest() as guest:
                content = f"The password of shed {number} is heron{number}."
                await guest.tool("memory_write", slug=f"shed-{number}", content=content)
                written[number].set()
                for other in range(10):
                    await written[other].wait()
                    assert f"memory/shed-{other}" in await guest.found(f"heron{other}")

        for number in range(10):
            tasks.start_soon(client, number)


async def test_forty_writes_at_once_are_all_done_and_all_found(tmp_path: Path) -> None:
    async with (
        engine(tmp_path / "home") as place,
        place.guest() as one,
        place.guest() as other,
    ):
        numbers = []
        for number in range(40):
            guest = (one, other)[number % 2]
            arguments = {"slug": f"item-{number}", "content": f"Item {number} is blue."}
            sent = await guest.request("tools/call", name="memory_write", arguments=arguments)
            numbers.append((guest, sent))
        for guest, sent in numbers:
            assert "result" in await guest.answer(sent)
        assert len(await one.found("blue")) == 40
        assert len(await other.found("blue")) == 40


async def test_a_reader_never_sees_half_a_note(tmp_path: Path) -> None:
    texts = [letter * 30_000 for letter in "ab"]
    async with (
        engine(tmp_path / "home") as place,
        place.guest() as writer,
        place.guest() as reader,
    ):
        await writer.tool("memory_write", slug="big", content=texts[0])
        done = anyio.Event()

        async def write() -> None:
            for round_ in range(1, 16):
                await writer.tool("memory_write", slug="big", content=texts[round_ % 2])
            done.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            while not done.is_set():
                got = await reader.tool("memory_get", reference="memory/big")
                assert got["content"].rpartition("---\n")[2].strip() in texts


async def test_a_quick_save_does_not_wait_for_a_long_job(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"wiki/page-{number}.md": f"# Page {number}\n\n" + "Some words here. " * 200
        for number in range(100)
    }
    async with engine(tmp_path / "home", files=files) as place, place.guest() as guest:
        said = place.hello("ask", ask={"name": "reindex"})
        async with anyio.create_task_group() as tasks:
            finished = anyio.Event()
            begun: list[Guest] = []

            async def rebuild() -> None:
                begun.append(await place.knock(said))
                finished.set()

            tasks.start_soon(rebuild)
            job = await guest.tool("memory_save", content="The boiler valve is V7.")
            await guest.tool("memory_write", slug="quick", content="Done at once.")
            assert await guest.found("once") == ["memory/quick"]
            assert job["status"] == "queued"
            with anyio.fail_after(9):
                await finished.wait()
        assert begun[0].welcome["result"]["files"] >= 101


async def test_an_unfinished_call_is_done_though_its_client_has_gone(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest() as watcher:
        async with place.guest() as guest:
            arguments = {"slug": "last", "content": "Words of farewell."}
            await guest.request("tools/call", name="memory_write", arguments=arguments)
        with anyio.fail_after(8):
            while await watcher.found("farewell") != ["memory/last"]:
                pass
        whole = await watcher.tool("memory_get", reference="memory/last")
        assert whole["content"].endswith("Words of farewell.\n")


async def test_a_client_that_does_not_read_costs_the_others_nothing(tmp_path: Path) -> None:
    text = "The heron stands. " * 1500
    async with engine(tmp_path / "home") as place, place.guest() as other:
        await other.tool("memory_write", slug="heron", content=text)
        greedy = await place.connect()
        await greedy.send(place.hello(), HELLO)

        async def want() -> None:
            for _ in range(3000):
                arguments = {"reference": "memory/heron"}
                await greedy.request("tools/call", name="memory_get", arguments=arguments)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(want)
            for _ in range(5):
                assert await other.found("heron") == ["memory/heron"]
                await other.tool("memory_write", slug="quick", content="Still quick.")
            shown = (await place.ask("status"))["result"]["engine"]["client_list"]
            assert max(one["calls"] for one in shown) <= 128
            tasks.cancel_scope.cancel()


async def test_changes_are_told_to_the_clients_of_that_agent_only(tmp_path: Path) -> None:
    uri = "memories://note/memory/note"
    async with (
        engine(tmp_path / "home") as place,
        place.guest("ann") as ann,
        place.guest("bob") as bob,
    ):
        for guest in (ann, bob):
            await guest.tool("memory_write", slug="note", content="First.")
            await guest.call("resources/subscribe", uri=uri)
        await bob.tool("memory_write", slug="other", content="So that both were told once.")
        await ann.tool("memory_write", slug="note", content="Second.")

        def updates(guest: Guest) -> list[str]:
            told = [m["params"]["uri"] for m in guest.heard if "updated" in m["method"]]
            return [one for one in told if one == uri]

        await ann.until(lambda: updates(ann))
        before = len(updates(bob))
        await bob.tool("memory_write", slug="note", content="Third.")
        await bob.until(lambda: len(updates(bob)) > before)
        assert len(updates(ann)) == 1 or "Third" not in str(ann.heard)


async def test_questions_are_answered_one_by_one(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place:
        given = {"slug": "tea", "content": "Green."}
        written = (await place.ask("tool", tool="memory_write", arguments=given))["result"]
        assert (written["is_error"], written["structured"]["created"]) == (False, True)
        refused = (await place.ask("tool", tool="memory_wirte", arguments={}))["result"]
        assert refused["is_error"]
        assert "memory_write" in refused["text"]
        write_files(tmp_path / "home", {"memory/tea.md": "Black, four minutes."})
        assert (await place.ask("look", references=["memory/tea"]))["result"] == {"looked": 1}
        found = await place.ask("tool", tool="memory_search", arguments={"query": "black"})
        assert found["result"]["structured"]["hits"][0]["reference"] == "memory/tea"
        assert "no question" in (await place.ask("dance"))["failure"]
        assert "which source" in (await place.ask("look", references=["tea"]))["failure"]


async def test_the_status_is_that_of_the_agent_who_asks(tmp_path: Path) -> None:
    async with engine(tmp_path / "home") as place, place.guest("ann") as ann:
        await ann.tool("memory_write", slug="tea", content="Green.")
        hers = (await place.ask("status", "ann"))["result"]
        while hers["pending"]:  # the first look at all folders is still under way
            hers = (await place.ask("status", "ann"))["result"]
        his = (await place.ask("status", "bob"))["result"]
        assert hers["sources"]["memory"]["files"] == 1
        assert his["sources"]["memory"]["files"] == 0
        assert (hers["agent"], his["agent"]) == ("ann", "bob")


async def test_the_endpoint_file_and_the_socket_are_put_back_when_somebody_deletes_them(
    tmp_path: Path,
) -> None:
    async with engine(tmp_path / "home") as place:
        home = str(tmp_path / "home")
        first = place.endpoint.address["unix"]
        await anyio.Path(places.state_file(home, "engine.json")).unlink()
        await anyio.Path(first).unlink()
        with anyio.fail_after(8):
            while True:
                found = places.read(home)
                if found is not None and await anyio.Path(found.address["unix"]).exists():
                    break
                await anyio.sleep(0.05)
        assert found.engine == place.endpoint.engine
        async with place.guest() as guest:
            assert await guest.found("anything") == []


async def test_the_status_says_how_a_server_of_vectors_is_now(tmp_path: Path) -> None:
    with qdrant() as server:
        settings = f"vectors: {{url: '{server.url}', api_key: {KEY}}}\n"
        async with engine(tmp_path / "home", settings) as place:
            for away, state in ((False, "ready"), (True, "failed"), (False, "ready")):
                server.away = away
                with anyio.fail_after(SECONDS):
                    while (told := await embedder(place))["state"] == "loading":
                        await anyio.lowlevel.checkpoint()
                assert told["state"] == state
                assert (server.url in (told["error"] or "")) is away


async def embedder(place: Place) -> dict[str, Any]:
    """What the status says of the embedder."""
    told: dict[str, Any] = (await place.ask("status"))["result"]["embedder"]
    return told
