"""The server as a process on its standard streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memory_mcp.front.stopping import stop
from tests.server.wires import HELLO, READY
from tests.server.worlds import MODES, Talk, write_files

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "memory_mcp"]

pytestmark = pytest.mark.anyio


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
    own = {"MEMORY_MCP_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return {**kept, **own, "MEMORY_MCP_EMBEDDING__PROVIDER": "none", **more}


@asynccontextmanager
async def client(home: Path, mode: Any = "auto", **more: str) -> AsyncIterator[Talk]:
    server = StdioServerParameters(
        command=COMMAND[0], args=COMMAND[1:], env=environment(home, **more), cwd=home
    )
    with (home / "stderr.log").open("w", encoding="utf-8") as log:
        try:
            async with Client(stdio_client(server, errlog=log), mode=mode) as inner:
                yield Talk(inner)
        finally:
            stop(environment(home), {})  # the engine would wait for further clients


class Process:
    """A server process spoken to by raw lines."""

    def __init__(self, inner: subprocess.Popen[bytes]) -> None:
        self.inner = inner

    def send(self, message: Any) -> None:
        assert self.inner.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.inner.stdin.write(line)
        self.inner.stdin.flush()

    def answer(self, number: int) -> dict[str, Any]:
        assert self.inner.stdout is not None
        for line in self.inner.stdout:
            message: dict[str, Any] = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message
        raise AssertionError(f"the output ended before the answer to {number}")

    def hello(self) -> None:
        self.send(HELLO)
        self.answer(0)
        self.send(READY)

    def call(self, number: int, name: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        result: dict[str, Any] = self.answer(number)["result"]
        return result

    def close_input(self) -> None:
        assert self.inner.stdin is not None
        self.inner.stdin.close()


@contextmanager
def process(home: Path, *flags: str, **more: str) -> Iterator[Process]:
    with subprocess.Popen(
        [*COMMAND, *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home, **more),
        cwd=home,
    ) as inner:
        try:
            yield Process(inner)
        finally:
            inner.kill()
            stop(environment(home), {})


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_writes_searches_and_reads_over_stdio(tmp_path: Path, mode: str) -> None:
    async with client(tmp_path, mode) as talk:
        await talk.done("memory_write", slug="plum", content="The plum tree is from Åse. 🌳")
        found = await talk.done("memory_search", query="plum tree")
        assert found["hits"][0]["reference"] == "memory/plum"
        note = await talk.done("memory_get", reference="memory/plum")
        assert "Åse. 🌳" in note["content"]


async def test_a_foreign_encoding_of_the_surroundings_does_not_matter(tmp_path: Path) -> None:
    write_files(tmp_path, {"memory/em.md": "✓ done 🔥 שלום 你好 Żółć\n"})
    foreign = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C"}
    async with client(tmp_path, "legacy", **foreign) as talk:
        note = await talk.done("memory_get", reference="memory/em")
        assert note["content"] == "✓ done 🔥 שלום 你好 Żółć\n"
        await talk.done("memory_write", slug="em2", content="★ 🎉 你好")
        assert len((await talk.done("memory_search", query="你好"))["hits"]) == 2


def test_only_messages_are_on_stdout_and_a_bad_line_costs_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, {"memory/ok.md": "Olive oil is in the tin.\n"})
    with process(tmp_path, PYTHONWARNINGS="always") as server:
        server.hello()
        server.send(b"this is not json\n")
        server.send(b'{"jsonrpc":"2.0","id":1,\n')
        assert server.answer(1)["error"]["code"] == -32700
        result = server.call(2, "memory_search", query="olive oil")
        assert result["structuredContent"]["hits"][0]["reference"] == "memory/ok"
        server.close_input()
        assert server.inner.stdout is not None
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.inner.stdout)


def test_the_end_of_input_ends_the_process_at_once(tmp_path: Path) -> None:
    with process(tmp_path) as server:
        server.hello()
        server.close_input()
        assert server.inner.wait(5) == 0


def test_a_client_that_goes_without_reading_its_answers_leaves_no_process(tmp_path: Path) -> None:
    write_files(tmp_path, {f"memory/n{i}.md": f"# Note {i}\n{'word ' * 40}\n" for i in range(200)})
    with process(tmp_path) as server:
        server.hello()
        for number in range(1, 12):
            server.send(
                {
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": "tools/call",
                    "params": {"name": "memory_list", "arguments": {"limit": 200}},
                }
            )
            server.send(b'{"jsonrpc":"2.0","id":"broken",\n')
        server.answer(1)  # the pipe is full of the others by now, or will be
        server.close_input()
        assert server.inner.wait(6) == 0


def test_an_empty_input_ends_the_process_at_once(tmp_path: Path) -> None:
    with process(tmp_path) as server:
        server.close_input()
        assert server.inner.wait(5) == 0
        assert server.inner.stdout is not None
        assert server.inner.stdout.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_process_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with process(tmp_path) as server:
        server.hello()
        server.call(1, "memory_write", slug="a", content="kept")
        server.inner.send_signal(number)
        assert server.inner.wait(5) == 0
    assert "kept" in (tmp_path / "agents/default/memory/a.md").read_text(encoding="utf-8")


def test_read_only_and_the_agent_come_from_flags(tmp_path: Path) -> None:
    with process(tmp_path, "--read-only", "--agent", "ada") as server:
        server.hello()
        result = server.call(1, "memory_write", slug="a", content="x")
        assert result["isError"]
        assert "read-only" in result["content"][0]["text"]
    assert not list(tmp_path.rglob("*.md"))
    assert (tmp_path / "agents" / "ada").is_dir()


def test_unusable_settings_end_the_start_with_all_reasons_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text("serch: {}\nindex: {watch: 7}\n", encoding="utf-8")
    with process(tmp_path) as server:
        assert server.inner.wait(10) == 1
        assert server.inner.stdout is not None
        assert server.inner.stderr is not None
        assert server.inner.stdout.read() == b""
        told = server.inner.stderr.read().decode()
    assert "serch" in told
    assert "index.watch" in told


async def test_what_a_library_prints_does_not_reach_the_client(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from memory_mcp.server.stdio import take_over\n"
        "wire_in, wire_out = take_over()\n"
        "print('printed', flush=True)\n"
        "os.write(1, b'written')\n"
        "os.system('echo from a child')\n"
        "assert sys.stdin.read() == ''\n"
        "os.write(wire_out, os.read(wire_in, 100))\n"
    )
    done = await anyio.run_process(
        [sys.executable, "-c", code], input=b"wire", env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.stdout == b"wire"
    assert done.stderr.split() == b"printed writtenfrom a child".split()
