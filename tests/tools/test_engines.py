"""Sessions of programs through engines that are processes: started, killed, or not to be had."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memory_mcp.front import endpoint as places
from memory_mcp.front.ask import NoEngine, ask
from memory_mcp.tools import Session
from tests.repositories import repository
from tests.server.engines import WORDS_ONLY
from tests.server.worlds import write_files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and Unix sockets"),
]

EDITS = 60
KILLS = 3


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a home whose engine, where there is one, is stopped in the end."""
    write_files(tmp_path, {"config.yml": WORDS_ONLY, "memory/log.md": "# Log\n"})
    kept = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
    with tempfile.TemporaryDirectory() as runtime:
        found = {**kept, "MEMORY_MCP_HOME": str(tmp_path), "XDG_RUNTIME_DIR": runtime}
        yield found
        with suppress(NoEngine):
            ask(None, found, {}, "stop", {}, start=False, seconds=20.0)


def text_of(home: Path) -> str:
    path = home / "agents" / "default" / "memory" / "log.md"
    return path.read_text(encoding="utf-8")


def test_every_change_is_made_once_though_engines_are_killed(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    chance, refused = random.Random(7), []
    at = sorted(chance.sample(range(10, EDITS), KILLS))
    with Session(environ=environ) as memory:
        for number in range(EDITS):
            if number in at:
                pid = places.pid_of(str(tmp_path))
                assert pid is not None
                delay = chance.random() / 50
                threading.Timer(delay, os.kill, (pid, signal.SIGKILL)).start()
            edit = {"slug": "log", "append": f"Line {number}."}
            result = memory.call("memory_edit", edit)
            if result.is_error:
                refused.append(result.text)
    lines = [line for line in text_of(tmp_path).splitlines() if line.startswith("Line ")]
    assert refused == []
    assert lines == [f"Line {number}." for number in range(EDITS)]


def test_without_an_engine_a_session_gets_a_server_of_its_own(
    tmp_path: Path, environ: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".state" / "engine.lock").mkdir(parents=True)
    with Session(environ=environ) as memory:
        memory.call("memory_edit", {"slug": "log", "append": "Alone."}).raise_for_error()
        found = memory.call("memory_search", {"query": "alone"}).raise_for_error()
        assert found.structured and len(found.structured["hits"]) == 1
    assert "Alone." in text_of(tmp_path)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "no shared engine" in caplog.text
    assert places.read(str(tmp_path)) is None


@pytest.mark.parametrize("way", ["engine", "in_process", "alone"])
def test_a_session_in_a_folder_is_in_its_project_whatever_serves_it(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str], way: str
) -> None:
    shop = repository(tmp_path_factory.mktemp("work") / "shop")
    (tmp_path / "config.yml").write_text(
        "projects: auto\nembedding: {provider: none}\n", encoding="utf-8"
    )
    if way == "alone":  # no engine can be had
        (tmp_path / ".state" / "engine.lock").mkdir(parents=True)
    with Session(environ=environ, folder=shop, in_process=way == "in_process") as memory:
        arguments = {"slug": "till", "content": "The till opens at nine."}
        memory.call("memory_write", arguments).raise_for_error()
        found = memory.call("memory_search", {"query": "till opens"}).raise_for_error()
        assert found.structured and found.structured["hits"][0]["scope"] == "project"
    assert [note.name for note in tmp_path.glob("projects/shop-*/memory/*.md")] == ["till.md"]
    with Session(environ=environ, folder=tmp_path, in_process=way == "in_process") as memory:
        refused = memory.call("memory_get", {"reference": "till"})
        assert refused.is_error and "nine" not in refused.text
