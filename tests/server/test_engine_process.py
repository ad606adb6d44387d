"""`engine run` as a process: its lock, its signals, what it leaves and what it survives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.front import endpoint as places
from memory_mcp.front.ask import NoEngine, ask
from memory_mcp.front.home import ENGINE_LOCK, LOG, state_file
from memory_mcp.front.locks import lock
from tests.server.worlds import write_files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and Unix sockets"),
]

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20.0
_tick = threading.Event()


class Engines:
    """Engines of one home, each a process; what is left of them is ended with the test."""

    def __init__(self, home: Path, runtime: str) -> None:
        self.home = home
        self.runtime = Path(runtime)
        kept = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
        self.environ = {
            **kept,
            "MEMORY_MCP_HOME": str(home),
            "MEMORY_MCP_EMBEDDING__PROVIDER": "none",
            "PYTHONPATH": str(ROOT),
            "XDG_RUNTIME_DIR": runtime,
        }
        self.processes: list[subprocess.Popen[bytes]] = []

    def run(self, *words: str) -> subprocess.Popen[bytes]:
        """`memory-mcp <words>`, started."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "memory_mcp", *words],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.processes.append(process)
        return process

    def start(self) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
        """A detached engine, and its report."""
        process = self.run("engine", "run", "--home", str(self.home), "--detached")
        assert process.stdout is not None
        report: dict[str, Any] = json.loads(process.stdout.readline())
        return process, report

    def command(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output and errors of a command."""
        process = self.run(*words)
        out, errors = process.communicate(timeout=SECONDS)
        return process.returncode, out.decode(), errors.decode()

    def ask(self, name: str, **arguments: Any) -> Any:
        """The engine's answer to a question."""
        return ask(str(self.home), self.environ, {}, name, arguments, start=False, seconds=SECONDS)

    def left(self) -> list[str]:
        """Endpoint files and sockets that are there."""
        found = [*(self.home / ".state").rglob("*"), *self.runtime.rglob("*")]
        return [
            path.name for path in found if path.suffix == ".sock" or path.name == "engine.json"
        ]

    def is_free(self) -> bool:
        """Whether no engine holds its lock."""
        with lock(state_file(str(self.home), ENGINE_LOCK)) as free:
            return free

    def end(self) -> None:
        """End what still runs."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[Engines]:
    home = tmp_path / "home"
    write_files(home, {"memory/boiler.md": "The valve is V7.\n"})
    with tempfile.TemporaryDirectory() as runtime:  # short enough for a socket
        running = Engines(home, runtime)
        yield running
        running.end()


def test_a_detached_engine_reports_and_answers(engines: Engines) -> None:
    process, report = engines.start()
    assert report == {"memory_mcp": 1, "ready": True}
    found = engines.ask("status")
    assert found["engine"]["pid"] == process.pid
    assert places.read(str(engines.home)) is not None
    assert (engines.home / ".state").stat().st_mode & 0o077 == 0
    assert Path(state_file(str(engines.home), "engine.json")).stat().st_mode & 0o077 == 0


def test_a_second_engine_goes_quietly_and_the_first_does_not_notice(engines: Engines) -> None:
    first, _ = engines.start()
    before = places.read(str(engines.home))
    second, report = engines.start()
    assert (report["ready"], report["error"]) == (False, "running")
    assert second.wait(SECONDS) == 0
    code, out, err = engines.command("engine", "run")
    assert (code, out) == (0, "")
    assert f"runs on {engines.home} already (process {first.pid})" in err
    assert engines.ask("status")["engine"]["pid"] == first.pid
    after = places.read(str(engines.home))
    assert before is not None
    assert after is not None
    assert after.engine == before.engine


def test_many_engines_at_once_are_one(engines: Engines) -> None:
    words = ("engine", "run", "--home", str(engines.home), "--detached")
    started = [engines.run(*words) for _ in range(6)]
    reports = []
    for process in started:
        assert process.stdout is not None
        reports.append(json.loads(process.stdout.readline()))
    ready = [n for n, report in enumerate(reports) if report["ready"]]
    assert len(ready) == 1
    others = [process for n, process in enumerate(started) if n not in ready]
    assert [process.wait(SECONDS) for process in others] == [0] * 5
    assert engines.ask("status")["engine"]["pid"] == started[ready[0]].pid


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
@pytest.mark.parametrize("warm", [True, False])
def test_a_signal_ends_the_engine_in_order(engines: Engines, name: str, warm: bool) -> None:
    process, _ = engines.start()
    if warm:
        engines.ask("tool", tool="memory_search", arguments={"query": "valve"})
    process.send_signal(getattr(signal, name))
    began = time.monotonic()
    assert process.wait(SECONDS) == 0
    assert time.monotonic() - began < 4.5
    assert engines.left() == []
    assert engines.is_free()


def test_wreckage_of_a_killed_engine_is_taken_over(engines: Engines) -> None:
    first, _ = engines.start()
    engines.ask("tool", tool="memory_write", arguments={"slug": "tea", "content": "Green."})
    first.kill()
    first.wait()
    assert len(engines.left()) == 2
    second, report = engines.start()
    assert report["ready"]
    found = engines.ask("tool", tool="memory_search", arguments={"query": "green"}, settle=5)
    assert [hit["reference"] for hit in found["structured"]["hits"]] == ["memory/tea"]
    assert engines.ask("status")["engine"]["pid"] == second.pid


def test_wrong_settings_are_reported_one_by_one_and_leave_nothing(engines: Engines) -> None:
    write_files(engines.home, {"config.yml": "serach: {}\nindex: {sweep_seconds: often}\n"})
    process, report = engines.start()
    assert (report["ready"], report["error"]) == (False, "config")
    assert len(report["messages"]) == 2
    assert process.wait(SECONDS) == 1
    assert engines.left() == []
    assert engines.is_free()


def test_sources_that_cannot_be_told_apart_are_reported(engines: Engines) -> None:
    write_files(engines.home, {"config.yml": "sources: {vault: {path: wiki}}\n"})
    _, report = engines.start()
    assert (report["ready"], report["error"]) == (False, "config")
    assert "vault" in report["messages"][0]


def test_what_is_a_clients_own_in_the_environment_is_not_the_engines(engines: Engines) -> None:
    engines.environ |= {"MEMORY_MCP_AGENT": "ann", "MEMORY_MCP_READ_ONLY": "true"}
    engines.environ |= {"MEMORY_MCP_WRITING__READ_ONLY": "true"}
    del engines.environ["MEMORY_MCP_READ_ONLY"]
    engines.start()
    plain = {
        name: value
        for name, value in engines.environ.items()
        if name not in ("MEMORY_MCP_AGENT", "MEMORY_MCP_WRITING__READ_ONLY")
    }
    engines.environ = plain
    call = {"slug": "tea", "content": "Green."}
    written = engines.ask("tool", tool="memory_write", arguments=call)
    assert not written["is_error"], written
    assert (engines.home / "agents" / "default" / "memory" / "tea.md").exists()


def test_an_idle_engine_ends(engines: Engines) -> None:
    engines.environ["MEMORY_MCP_ENGINE__IDLE_MINUTES"] = "0.005"
    process, _ = engines.start()
    assert process.wait(SECONDS) == 0
    assert engines.left() == []


def test_the_log_of_an_engine_holds_no_text_of_notes_and_begins_anew_when_it_is_long(
    engines: Engines,
) -> None:
    log = Path(state_file(str(engines.home), LOG))
    log.parent.mkdir(mode=0o700, exist_ok=True)
    log.write_bytes(b"old\n" * 300_000)
    process, _ = engines.start()
    assert log.with_name("engine.log.1").stat().st_size == 1_200_000
    secret = "heron-under-the-bridge"
    engines.ask("tool", tool="memory_write", arguments={"slug": "a", "content": secret})
    engines.ask("tool", tool="memory_edit", arguments={"slug": "a", "old_text": secret + "!"})
    engines.ask("tool", tool="memory_search", arguments={"query": secret})
    process.terminate()
    assert process.wait(SECONDS) == 0
    text = log.read_text(encoding="utf-8")
    assert "it was told to stop" in text
    assert "heron" not in text
    assert log.stat().st_mode & 0o077 == 0


def test_an_engine_whose_home_is_deleted_ends(engines: Engines) -> None:
    process, _ = engines.start()
    engines.ask("status")
    engines.home.rename(engines.home.with_name("elsewhere"))
    assert process.wait(SECONDS) == 0


def test_engine_stop_waits_until_the_engine_has_gone(engines: Engines) -> None:
    process, _ = engines.start()
    code, out, _ = engines.command("engine", "stop")
    assert (code, out) == (0, "The engine has stopped.\n")
    assert process.poll() is not None or process.wait(1) == 0
    assert engines.left() == []
    code, out, _ = engines.command("engine", "stop")
    assert (code, out) == (0, "No engine runs.\n")


def test_engine_stop_waits_for_an_engine_that_is_only_coming(engines: Engines) -> None:
    process = engines.run("engine", "run", "--home", str(engines.home), "--detached")
    while not Path(state_file(str(engines.home), ENGINE_LOCK)).exists():
        assert process.poll() is None
        _tick.wait(0.01)
    code, out, errors = engines.command("engine", "stop")
    assert (code, out) == (0, "The engine has stopped.\n"), errors
    assert process.wait(SECONDS) == 0
    assert engines.left() == []


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_engine_status_tells_an_engine_that_does_not_answer_from_none(engines: Engines) -> None:
    process, _ = engines.start()
    process.send_signal(signal.SIGSTOP)
    code, out, errors = engines.command("engine", "status")
    assert code == 0, errors
    assert out.startswith(f"The engine (process {process.pid}) runs and does not answer")
    process.kill()
    process.wait()
    code, out, _ = engines.command("engine", "status")
    assert (code, out) == (0, "No engine runs; the next client starts one.\n")


def test_engine_stop_ends_an_engine_that_does_not_answer(engines: Engines) -> None:
    process, _ = engines.start()
    process.send_signal(signal.SIGSTOP)
    code, out, errors = engines.command("engine", "stop")
    assert code == 0, errors
    assert "did not answer" in out
    assert process.wait(SECONDS) == -signal.SIGKILL
    assert engines.left() == []
    assert engines.is_free()


def test_engine_stop_touches_no_process_that_got_the_number_of_a_dead_engine(
    engines: Engines,
) -> None:
    first, _ = engines.start()
    stale = places.read(str(engines.home))
    first.kill()
    first.wait()
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert stale is not None
    stale.pid = bystander.pid
    places.write(str(engines.home), stale)
    code, out, _ = engines.command("engine", "stop")
    assert (code, out) == (0, "No engine runs.\n")
    assert bystander.poll() is None
    bystander.communicate(b"\n", timeout=SECONDS)


def test_what_a_command_writes_the_clients_of_the_engine_find_at_once(engines: Engines) -> None:
    engines.environ["MEMORY_MCP_INDEX__WATCH"] = "false"
    engines.start()
    engines.ask("tool", tool="memory_search", arguments={"query": "valve"})
    code, _, errors = engines.command("write", "tea", "--content", "Green, two minutes.")
    assert code == 0, errors
    found = engines.ask("tool", tool="memory_search", arguments={"query": "green"})
    assert [hit["reference"] for hit in found["structured"]["hits"]] == ["memory/tea"]
    engines.command("delete", "tea")
    found = engines.ask("tool", tool="memory_search", arguments={"query": "green"})
    assert found["structured"]["hits"] == []


def test_commands_that_find_ask_the_running_engine(engines: Engines) -> None:
    process, _ = engines.start()
    code, out, errors = engines.command("search", "valve", "--json")
    assert code == 0, errors
    assert json.loads(out)["hits"][0]["reference"] == "memory/boiler"
    assert "memory/boiler" in engines.command("list")[1]
    assert engines.command("show", "memory/boiler")[1].strip() == "The valve is V7."
    code, out, errors = engines.command("show", "memory/nothing")
    assert (code, out) == (1, "")
    assert "memory/nothing" in errors
    state = json.loads(engines.command("status", "--json")[1])
    assert state["engine"]["pid"] == process.pid
    assert state["engine"]["clients"] == 0
    assert json.loads(engines.command("reindex", "--json")[1])["files"] == 1
    shown = json.loads(engines.command("engine", "status", "--json")[1])
    assert (shown["pid"], shown["clients"]) == (process.pid, [])


def test_a_question_to_no_engine_says_so(engines: Engines) -> None:
    with pytest.raises(NoEngine, match="no engine runs"):
        engines.ask("status")
