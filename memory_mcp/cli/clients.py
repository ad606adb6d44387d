"""How clients start this very installation: the lines to enter, with its absolute path."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

SCRIPT = "memory-mcp.exe" if os.name == "nt" else "memory-mcp"


def start_command() -> tuple[str, ...]:
    """What starts this installation: the script beside this Python, else the module."""
    beside = Path(sys.executable).parent / SCRIPT
    if beside.is_file():
        return (str(beside),)
    called = Path(sys.argv[0])
    if called.name == SCRIPT and (found := shutil.which(str(called))):
        return (str(Path(found).absolute()),)
    return (sys.executable, "-m", "memory_mcp")


def client_lines(home: Path | None = None) -> list[str]:
    """What to enter into the usual clients; `home` only where it is not the default one."""
    command = start_command()
    environment = {} if home is None or home == default_home() else {"MEMORY_MCP_HOME": str(home)}
    settings = {
        "mcpServers": {
            "memory": {"command": command[0], "args": list(command[1:]), "env": environment}
        }
    }
    flags = [part for key, value in environment.items() for part in ("-e", f"{key}={value}")]
    codex = [part for key, value in environment.items() for part in ("--env", f"{key}={value}")]
    desktop = json.dumps(settings, ensure_ascii=False)
    return [
        "Claude Code, in a shell:",
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
