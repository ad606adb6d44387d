"""How commands end where output, input or the person gives up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memory_mcp.cli.ending import INTERRUPTED, ended
from tests.cli.conftest import Command, note

FULL = Path("/dev/full")
posix = pytest.mark.skipif(os.name == "nt", reason="streams of POSIX")


def shell(home: Path, line: str) -> subprocess.CompletedProcess[bytes]:
    """`memory-mcp <line>` in a shell, which has the redirections."""
    return subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m memory_mcp {line}'],
        capture_output=True,
        env={**os.environ, "MEMORY_MCP_HOME": str(home)},
        timeout=9,
    )


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words", ["list", "list --json", "show wiki/tea", "config show", "--help", "status"]
)
def test_a_full_disk_behind_stdout_is_one_line(home: Path, words: str) -> None:
    note(home, "wiki/tea", "# Tea\n\n" + "Green.\n" * 3000)
    done = shell(home, f"{words} > {FULL}")
    assert done.returncode == 1
    said, *more = done.stderr.decode().splitlines()
    assert more == []
    assert "cannot be written" in said
    assert "disk is full" in said


@posix
@pytest.mark.parametrize("words", ["list", "doctor", "write tea --content x", "--help"])
def test_a_closed_stdout_is_one_line_and_nothing_is_done(home: Path, words: str) -> None:
    done = shell(home, f"{words} >&-")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "memory-mcp: standard output is closed, so there is nowhere to print"
    ]
    assert not list(home.rglob("*.md"))


@posix
def test_closed_stderr_and_stdin_cost_nothing(home: Path) -> None:
    note(home, "wiki/tea", "# Tea\n")
    done = shell(home, "list 2>&- <&-")
    assert (done.returncode, done.stdout) == (0, done.stdout)
    assert done.stdout.startswith(b"wiki/tea\t")
    assert shell(home, "show memory/none 2>&-").returncode == 1
    refused = shell(home, "write tea <&-")
    assert refused.returncode == 1
    assert b"--content" in refused.stderr


def test_an_interrupted_command_ends_with_130() -> None:
    def act() -> int:
        signal.raise_signal(signal.SIGINT)
        return 0

    # Who runs the tests in the background has them start with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert ended(act) == INTERRUPTED == 130
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (("list", "--home", "x"), "memory-mcp --home FOLDER list"),
        (("config", "show", "--agent", "x"), "memory-mcp --agent NAME config show"),
        (("search", "tea", "--read-only"), "memory-mcp --read-only search"),
    ],
)
def test_a_flag_after_the_command_is_told_its_place(
    command: Command, words: tuple[str, ...], right: str
) -> None:
    done = command(*words)
    assert (done.code, done.out) == (2, "")
    assert f"{words[-2] if words[-1] == 'x' else words[-1]} stands before the command" in done.err
    assert right in done.err


def test_an_option_that_nobody_knows_is_just_that(command: Command) -> None:
    done = command("list", "--homme", "x")
    assert done.code == 2
    assert "--homme" in done.err
    assert "stands before" not in done.err


def test_what_is_wrong_is_said_after_what_was_printed(home: Path) -> None:
    (home / "config.yml").write_text("indx: {}\n", encoding="utf-8")
    lines = shell(home, "doctor 2>&1").stdout.decode().splitlines()
    assert lines[-1] == "memory-mcp: 1 thing is wrong"
