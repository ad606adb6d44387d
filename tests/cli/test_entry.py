"""Which face a command line picks, and what a person at a terminal gets to read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from memory_mcp.__main__ import hook_call, stdio_flags
from memory_mcp.cli.clients import start_command


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ([], {}),
        (["--read-only"], {"read_only": True}),
        (["--agent", "work", "--in-process"], {"agent": "work", "in_process": True}),
        (["--agent=work"], {"agent": "work"}),
        (["--home", "/srv/memory", "--tools", "core"], {"home": "/srv/memory", "tools": "core"}),
        (["serve"], {}),
        (["serve", "--transport", "stdio"], {}),
        (["--read-only", "serve", "--transport=stdio"], {"read_only": True}),
    ],
)
def test_no_command_means_a_client_on_stdio(words: list[str], flags: Mapping[str, object]) -> None:
    assert stdio_flags(words) == flags


@pytest.mark.parametrize(
    "words",
    [
        ["search", "tea"],
        ["--help"],
        ["--home", "/srv/memory", "status"],
        ["--agent"],
        ["--read-only=yes"],
        ["serve", "--transport", "sse"],
        ["serve", "--transport"],
        ["serve", "now"],
        ["unknown"],
    ],
)
def test_everything_else_is_for_the_command_line(words: list[str]) -> None:
    assert stdio_flags(words) is None


@pytest.mark.parametrize(
    ("words", "event", "flags"),
    [
        (["hook", "stop"], "stop", {}),
        (["hook", "stop", "--agent", "work"], "stop", {"agent": "work"}),
        (
            ["--home=/srv", "--read-only", "hook", "stop"],
            "stop",
            {"home": "/srv", "read_only": True},
        ),
        (["hook"], "", {}),
        (["hook", "stop", "now"], "stop now", {}),
        (["--wrong", "hook", "stop"], "--wrong stop", {}),
        (["hook", "stop", "--agent"], "stop --agent", {}),
    ],
)
def test_a_hook_goes_its_own_way_whatever_is_wrong_with_its_words(
    words: list[str], event: str, flags: Mapping[str, object]
) -> None:
    assert hook_call(words) == (event, flags)


@pytest.mark.parametrize(
    "words", [["hook", "--help"], ["search", "hook"], ["--home", "hook"], ["show", "hook", "stop"]]
)
def test_other_commands_are_no_hooks(words: list[str]) -> None:
    assert hook_call(words) is None


@pytest.mark.parametrize("words", [["hook"], ["hook", "unknown"], ["--wrong", "hook", "stop"]])
def test_a_wrong_hook_blocks_nobody(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memory_mcp", *words],
        input=b"{}",
        capture_output=True,
        env={**os.environ, "MEMORY_MCP_HOME": str(tmp_path / "home")},
        timeout=9,
        check=True,
    )
    assert done.stdout == b""
    assert b"session-start" in done.stderr and done.stderr.count(b"\n") == 1
    assert not (tmp_path / "home").exists()


def test_picking_the_face_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import memory_mcp.__main__;"
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=9)
    heavy = {"click", "rich", "pydantic", "anyio", "mcp", "numpy", "yaml", "asyncio"}
    assert not heavy & set(done.stdout.decode().split())


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("words", [[], ["--agent", "work", "--read-only"]])
def test_a_person_at_a_terminal_gets_an_explanation_and_no_hanging_server(
    words: list[str],
) -> None:
    import pty

    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "memory_mcp", *words],
            stdin=theirs,
            capture_output=True,
            timeout=9,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0
    for part in ("memory-mcp demo", "memory-mcp init", "--help", "A client starts it as: /"):
        assert part in text
    assert text.rstrip().endswith(" ".join([*start_command(), *words]))
    assert not done.stderr
