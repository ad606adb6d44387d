"""Sessions of programs on a real engine, and on a memory of their own."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from memory_mcp.core.errors import ConfigError, ToolError
from memory_mcp.tools import Session, acall, call, specs
from tests.server.engines import SECONDS, WORDS_ONLY, engine
from tests.server.worlds import write_files

pytestmark = pytest.mark.anyio

TEA: dict[str, str | bytes] = {"memory/tea.md": "# Tea\n\nGreen tea at four.\n"}


def session(home: Path, name: str | None = None, **options: Any) -> Session:
    return Session(name, home=home, seconds=SECONDS, environ={}, **options)


def inbox(home: Path, slug: str) -> Path:
    return home / "agents" / "default" / "memory" / f"{slug}.md"


def ledgers(home: Path) -> list[Path]:
    return sorted((home / ".state" / "sessions").glob("*.jsonl"))


async def test_the_tools_are_those_of_a_client_of_mcp(tmp_path: Path) -> None:
    async with engine(tmp_path, files=TEA) as place, session(tmp_path) as memory:
        async with place.guest() as guest:
            listed = (await guest.call("tools/list"))["tools"]
            found = await guest.tool("memory_get", reference="tea")
        told = await memory.aspecs("codex")
        assert [(one["name"], one["inputSchema"]) for one in told] == [
            (tool["name"], tool["inputSchema"]) for tool in listed
        ]
        answer = await memory.acall("memory_get", {"reference": "tea"})
        assert answer.structured == found
        assert "<MEMORY[memory/tea]" in answer.text


async def test_a_call_of_a_model_becomes_a_message_for_it(tmp_path: Path) -> None:
    async with engine(tmp_path, files=TEA), session(tmp_path) as memory:
        function = {"name": "memory_search", "arguments": '{"query": "green tea"}'}
        asked = {"id": "c1", "type": "function", "function": function}
        message = await memory.aanswer("openai-chat", asked)
        assert (message["role"], message["tool_call_id"]) == ("tool", "c1")
        assert "memory/tea" in message["content"]


async def test_what_a_model_did_wrong_is_an_answer_and_no_exception(tmp_path: Path) -> None:
    async with engine(tmp_path), session(tmp_path) as memory:
        for name, arguments, said in (
            ("memory_fetch", {}, "There is no tool 'memory_fetch'"),
            ("memory_get", {"reference": "nowhere"}, "nowhere"),
            ("memory_get", {"ref": "tea"}, "reference"),
            ("memory_get", '{"reference": ', "no JSON"),
            ("memory_get", "[1]", "must be a JSON object"),
        ):
            result = await memory.acall(name, arguments)
            assert result.is_error and said in result.text
            with pytest.raises(ToolError):
                result.raise_for_error()


async def test_a_note_that_changed_since_the_session_read_it_is_not_overwritten(
    tmp_path: Path,
) -> None:
    async with engine(tmp_path, files=TEA), session(tmp_path) as memory:
        await memory.acall("memory_get", {"reference": "tea"})
        inbox(tmp_path, "tea").write_text("# Tea\n\nBlack tea at five.\n", encoding="utf-8")
        refused = await memory.acall("memory_write", {"slug": "tea", "content": "None."})
        assert refused.is_error and "Black tea at five." in refused.text
        assert "Black" in inbox(tmp_path, "tea").read_text(encoding="utf-8")


async def test_a_session_with_a_name_is_taken_up_again(tmp_path: Path) -> None:
    async with engine(tmp_path, files=TEA):
        async with session(tmp_path, "thread-7") as memory:
            await memory.acall("memory_get", {"reference": "tea"})
        inbox(tmp_path, "tea").write_text("# Tea\n\nBlack tea.\n", encoding="utf-8")
        write = {"slug": "tea", "content": "None."}
        async with session(tmp_path, "thread-7", agent="other") as memory:
            fresh = await memory.acall("memory_write", write)
        async with session(tmp_path, "thread-7") as memory:
            refused = await memory.acall("memory_write", write)
        assert not fresh.is_error
        assert refused.is_error and "Black tea." in refused.text


async def test_a_session_without_a_name_leaves_nothing_behind(tmp_path: Path) -> None:
    async with engine(tmp_path, files=TEA) as place:
        async with session(tmp_path) as memory:
            await memory.acall("memory_get", {"reference": "tea"})
            assert len(ledgers(tmp_path)) == 1
        with anyio.fail_after(SECONDS):
            while ledgers(tmp_path):
                await place.ask("status")


async def test_one_that_may_only_read_is_told_of_no_other_tools(tmp_path: Path) -> None:
    async with engine(tmp_path, files=TEA), session(tmp_path, read_only=True) as memory:
        tools = await anyio.to_thread.run_sync(memory.tools)
        assert tools and all(tool.read_only for tool in tools)
        refused = await memory.acall("memory_write", {"slug": "x", "content": "y"})
        assert refused.is_error and "may only read" in refused.text


async def test_the_instructions_are_those_of_mcp(tmp_path: Path) -> None:
    async with engine(tmp_path) as place, session(tmp_path) as memory:
        guest = await place.knock(place.hello())
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}}
        opening["clientInfo"] = {"name": "x", "version": "0"}
        expected = (await guest.call("initialize", **opening))["instructions"]
        assert await anyio.to_thread.run_sync(memory.instructions) == expected


async def test_calls_of_many_tasks_take_turns(tmp_path: Path) -> None:
    async with engine(tmp_path), session(tmp_path) as memory, anyio.create_task_group() as tasks:
        for number in range(20):
            arguments = {"slug": f"note-{number}", "content": f"Number {number}."}
            tasks.start_soon(memory.acall, "memory_write", arguments)
    assert len(list(inbox(tmp_path, "x").parent.glob("note-*.md"))) == 20


async def test_an_engine_that_stops_is_followed_by_the_next(tmp_path: Path) -> None:
    async with session(tmp_path) as memory:
        async with engine(tmp_path, files=TEA):
            await memory.acall("memory_get", {"reference": "tea"})
        inbox(tmp_path, "tea").write_text("# Tea\n\nBlack tea.\n", encoding="utf-8")
        async with engine(tmp_path):
            append = {"slug": "tea", "append": "More."}
            refused = await memory.acall("memory_edit", append)
            assert refused.is_error and "Black tea." in refused.text


async def test_one_call_needs_no_session(tmp_path: Path) -> None:
    options: dict[str, Any] = {"home": tmp_path, "environ": {}}
    async with engine(tmp_path, files=TEA):
        listed = await acall("memory_list", **options)
        assert listed.structured and listed.structured["total"] == 1
        same = await anyio.to_thread.run_sync(lambda: call("memory_list", None, **options))
        assert same == listed
        told = await anyio.to_thread.run_sync(lambda: specs("anthropic", **options))
        assert "memory_list" in [tool["name"] for tool in told]


def test_wrong_settings_are_raised_with_each_problem(tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text("serch: {}\nagent: 7/8\n", encoding="utf-8")
    for in_process in (True, False):
        with session(tmp_path, in_process=in_process) as memory:
            with pytest.raises(ConfigError) as caught:
                memory.call("memory_list")
            assert any("serch" in str(problem) for problem in caught.value.problems)


def test_a_memory_in_this_process_needs_no_engine(tmp_path: Path) -> None:
    write_files(tmp_path, {"config.yml": WORDS_ONLY, **TEA})
    handlers, threads = logging.getLogger().handlers[:], set(threading.enumerate())
    with session(tmp_path, "thread-7", in_process=True) as memory:
        found = memory.call("memory_search", {"query": "green tea"}).raise_for_error()
        assert found.structured and found.structured["hits"][0]["reference"] == "memory/tea"
        memory.call("memory_get", {"reference": "tea"})
    assert logging.getLogger().handlers == handlers
    for thread in set(threading.enumerate()) - threads:  # an idle worker ends a little later
        thread.join(5)
        assert not thread.is_alive()
    assert not (tmp_path / ".state" / "engine.json").exists()
    inbox(tmp_path, "tea").write_text("# Tea\n\nBlack tea.\n", encoding="utf-8")
    with session(tmp_path, "thread-7", in_process=True) as memory:
        refused = memory.call("memory_write", {"slug": "tea", "content": "None."})
        assert refused.is_error and "Black tea." in refused.text
