"""The lines for clients name this very installation and parse as what they are."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from memory_mcp.cli.clients import client_lines, default_home, start_command


def test_the_start_command_is_absolute_and_exists() -> None:
    program = Path(start_command()[0])
    assert program.is_absolute()
    assert program.is_file()


def settings(home: Path | None) -> list[dict[str, object]]:
    """The JSON among the lines."""
    found = [json.loads(line) for line in client_lines(home) if line.strip().startswith("{")]
    return [item["mcpServers"]["memory"] for item in found]


def test_there_are_lines_for_four_clients() -> None:
    text = "\n".join(client_lines())
    for name in ("Claude Code", "Codex", "Claude Desktop", "Cursor"):
        assert name in text


def test_json_names_the_command_and_no_home_by_default() -> None:
    for server in settings(None) + settings(default_home()):
        command, *arguments = start_command()
        assert server == {"command": command, "args": arguments, "env": {}}


def test_another_home_is_passed_on_whatever_its_name() -> None:
    home = Path('/srv/my "memory" ä')
    assert all(item["env"] == {"MEMORY_MCP_HOME": str(home)} for item in settings(home))
    for line in client_lines(home):
        if line.startswith(("  claude ", "  codex ")):
            words = shlex.split(line)
            assert f"MEMORY_MCP_HOME={home}" in words
            assert words[-len(start_command()) :] == list(start_command())
