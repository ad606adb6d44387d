"""How commands end: exit codes, one clear line, tracebacks for who asks, closed pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_mcp.cli.cause import innermost
from memory_mcp.cli.main import as_text
from memory_mcp.core.errors import NotFoundError
from tests.cli.conftest import Command


def test_debug_adds_the_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = command("show", "memory/none")
    assert "Traceback" not in plain.err
    monkeypatch.setenv("MEMORY_MCP_DEBUG", "1")
    debug = command("show", "memory/none")
    assert "Traceback" in debug.err
    assert plain.err.strip() in debug.err


def test_a_failure_of_the_system_is_one_line(home: Path, command: Command) -> None:
    (home / "config.yml").unlink()
    (home / "config.yml").mkdir()
    done = command("status")
    assert (done.code, done.out) == (1, "")
    assert len(done.err.splitlines()) == 1
    assert "config.yml" in done.err


def test_an_error_is_found_inside_the_groups_of_tasks() -> None:
    error = NotFoundError("gone")
    assert innermost(ExceptionGroup("outer", [ExceptionGroup("inner", [error])])) is error
    several = ExceptionGroup("two", [error, ValueError("x")])
    assert innermost(ExceptionGroup("outer", [several])) is several


@pytest.mark.skipif(os.name == "nt", reason="pipes break in another way there")
def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    environment = {**os.environ, "MEMORY_MCP_HOME": str(home)}
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_mcp", "config", "show"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(9), errors) == (0, b"")


def test_standard_input_that_is_no_text_is_refused(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memory_mcp", "write", "pic"],
        input=b"\x89PNG\xff\xfe",
        capture_output=True,
        env={**os.environ, "MEMORY_MCP_HOME": str(home)},
        timeout=9,
    )
    assert done.returncode == 1
    assert b"not UTF-8" in done.stderr
    assert not list((home / "agents").rglob("*.md"))


def test_arguments_are_utf8_even_where_the_surroundings_say_ascii(home: Path) -> None:
    plain = {
        "MEMORY_MCP_HOME": str(home),
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-m", "memory_mcp", "write", "tea", "--content", "龙井茶"],
        capture_output=True,
        env={**os.environ, **plain},
        timeout=9,
    )
    assert done.returncode == 0, done.stderr
    assert "龙井茶" in (home / "agents/default/memory/tea.md").read_text(encoding="utf-8")


def test_an_argument_that_is_no_text_at_all_ends_nothing() -> None:
    assert as_text("caf\udce9 茶") == "caf\ufffd 茶"
