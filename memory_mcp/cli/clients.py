"""How clients start this very installation: the lines to enter, with its absolute path."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory_mcp.cli.installation import installation


def start_command() -> tuple[str, ...]:
    """What starts this installation."""
    return installation().command


def server_entry(home: Path | None = None, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """The entry of an MCP client: command, arguments, environment. `arguments` are our flags;
    `home` is named only where it is not the default one."""
    program, *words = start_command()
    environment = {} if home is None or home == default_home() else {"MEMORY_MCP_HOME": str(home)}
    return {"command": program, "args": [*words, *arguments], "env": environment}


def client_lines(home: Path | None = None, arguments: Sequence[str] = ()) -> list[str]:
    """What to enter into the usual clients, so that they start with this home and these flags."""
    entry = server_entry(home, arguments)
    command = [entry["command"], *entry["args"]]
    settings = {"mcpServers": {"memory": entry}}
    variables = [f"{key}={value}" for key, value in entry["env"].items()]
    flags = [part for variable in variables for part in ("-e", variable)]
    codex = [part for variable in variables for part in ("--env", variable)]
    remark = installation().remark
    desktop = json.dumps(settings, ensure_ascii=False)
    given = [] if home is None or home == default_home() else ["--home", str(home)]
    return [
        *([remark, ""] if remark else []),
        "Let it enter itself (claude-code, claude-desktop, codex, cursor, gemini, goose, vscode,"
        " windsurf, zed):",
        "  " + shlex.join([*start_command(), *given, *arguments, "install", "claude-code"]),
        "",
        "Or by hand. Claude Code, in a shell:",
        "  "
        + shlex.join(["claude", "mcp", "add", "memory", "-s", "user", *flags, "--", *command]),
        "",
        "Codex, in a shell:",
        "  " + shlex.join(["codex", "mcp", "add", "memory", *codex, "--", *command]),
        "",
        "Claude Desktop, in claude_desktop_config.json (Settings, Developer, Edit Config):",
        "  " + desktop,
        "",
        "Cursor, in ~/.cursor/mcp.json:",
        "  " + desktop,
    ]


def default_home() -> Path:
    """The home where nobody says otherwise."""
    return Path.home() / ".memory-mcp"
