"""`serve` as a process: it refuses, holds a port open, survives its engine, and ends in order."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.server.ports import TOKEN
from tests.server.worlds import write_files

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 50.0

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of the commands: nothing of ours but the home."""
    kept = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
    own = {"MEMORY_MCP_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return {**kept, **own, "MEMORY_MCP_EMBEDDING__PROVIDER": "none", **more}


def command(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "memory_mcp", *words],
        env=environment(home, **more),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@contextmanager
def serving(home: Path, *words: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A `serve` that has said where its port is; afterwards nothing of the home runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_mcp", *words],
        env=environment(home, **more),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("Serving http://127.0.0.1:"), line
        yield process, line.split()[1]
    finally:
        process.kill()
        process.communicate()
        command(home, "engine", "stop")


def engine_pid(home: Path) -> int:
    """The process that serves the home."""
    data = json.loads((home / ".state" / "engine.json").read_text(encoding="utf-8"))
    return int(data["pid"])


async def answer(url: str, path: str, token: str | None = None) -> httpx2.Response:
    """Ask until somebody answers."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    root = url.rpartition("/")[0]
    async with httpx2.AsyncClient(timeout=10, trust_env=False, headers=headers) as http:
        with anyio.fail_after(SECONDS):
            while True:
                try:
                    return await http.get(root + path)
                except httpx2.TransportError:
                    await anyio.sleep(0.02)


@pytest.mark.parametrize("way", [(), ("--in-process",)])
def test_a_public_port_without_a_token_is_refused_before_anything_starts(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    done = command(tmp_path, *way, "serve", "--transport", "streamable-http", "--host", "0.0.0.0")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "MEMORY_MCP_TOKEN" in line
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", [(), ("--in-process",)])
def test_a_port_that_is_taken_is_one_clear_line(tmp_path: Path, way: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = command(
            tmp_path, *way, "serve", "--transport", "streamable-http", "--port", str(port)
        )
    command(tmp_path, "engine", "stop")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"port {port} on 127.0.0.1 is taken" in line


@pytest.mark.parametrize("way", [(), ("--in-process",)])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_closes_the_port_and_ends_with_0(
    tmp_path: Path, way: tuple[str, ...], number: signal.Signals
) -> None:
    write_files(tmp_path, {"memory/leeks.md": "# Leeks\n\nSown in March.\n"})
    words = (*way, "serve", "--transport", "streamable-http", "--port", "0")
    with serving(tmp_path, *words, MEMORY_MCP_TOKEN=TOKEN) as (process, url):
        assert (await answer(url, "/api/notes")).status_code == 401
        notes = (await answer(url, "/api/notes", TOKEN)).json()
        assert [row["reference"] for row in notes["notes"]] == ["memory/leeks"]
        process.send_signal(number)
        out, error = await anyio.to_thread.run_sync(process.communicate)
        assert process.returncode == 0, error
        assert out == ""
        assert TOKEN not in error
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(url, trust_env=False)
    log = tmp_path / ".state" / "engine.log"
    assert not log.exists() or TOKEN not in log.read_text(encoding="utf-8")


async def test_a_port_comes_back_when_its_engine_is_killed(tmp_path: Path) -> None:
    write_files(tmp_path, {"memory/leeks.md": "# Leeks\n\nSown in March.\n"})
    with serving(tmp_path, "serve", "--transport", "sse", "--port", "0") as (process, url):
        assert (await answer(url, "/api/search?q=leeks")).json()["hits"]
        first = engine_pid(tmp_path)
        os.kill(first, signal.SIGKILL)
        assert (await answer(url, "/api/search?q=leeks")).json()["hits"]
        assert engine_pid(tmp_path) != first
        assert command(tmp_path, "engine", "stop").returncode == 0
        assert (await answer(url, "/api/search?q=leeks")).json()["hits"]
        assert process.poll() is None
