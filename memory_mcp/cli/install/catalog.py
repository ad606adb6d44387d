"""The clients: their names, their files, and what each wants in them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_mcp.cli.install.formats import JSON, JSONC, TOML, YAML, Format
from memory_mcp.cli.install.parts import Hook, Hooks, Instruction, Part, Server
from memory_mcp.cli.install.places import (
    Machine,
    Place,
    below,
    claude_folder,
    claude_state,
    codex_folder,
    goose_folder,
    in_application,
    in_home,
    zed_folder,
)
from memory_mcp.core.errors import InputError

Entry = Mapping[str, Any]
"""name, command, args, env: how our server starts."""

# Seconds. What a hook does takes a tenth of one; the rest is for a machine that is busy. Codex
# ends the hook of a session's end after three at most.
_EVENTS = (
    ("SessionStart", "session-start", 15, "startup|resume|clear|compact"),
    ("UserPromptSubmit", "user-prompt-submit", 10, None),
    ("PreCompact", "pre-compact", 10, None),
    ("Stop", "stop", 10, None),
    ("SessionEnd", "session-end", 3, None),
)
INSTRUCTED = "the line of instruction"
_STARTUP_SECONDS = 30
_CALL_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Target:
    """A file of a client, and what belongs into it."""

    file: Path
    part: Part
    kind: str
    """server, hooks or instructions."""
    what: str
    """What is entered, for people."""
    name: str = ""
    """The name of the server; empty for what is there once."""


@dataclass(frozen=True, slots=True)
class Client:
    """A program that starts MCP servers."""

    name: str
    title: str
    format: Format
    section: str
    """The key that holds the servers."""
    user: Place
    project: str | None
    """The file in a project, relative to it."""
    shape: Callable[[Entry], dict[str, Any]]
    after: str
    """What a person has to do then."""
    user_hooks: Place | None = None
    project_hooks: str | None = None
    user_instructions: Place | None = None
    project_instructions: str | None = None

    def server(self, machine: Machine, name: str, entry: Entry) -> Target:
        """The file with the servers. Raises InputError where a project has none."""
        part = Server(self.format, (self.section, name), self.shape({**entry, "name": name}))
        if machine.project is None:
            file = self.user(machine)
        elif self.project is not None:
            file = machine.project / self.project
        else:
            raise InputError(f"{self.title} has no file for a project; leave out --project")
        return Target(file, part, "server", f"the server {name}", name)

    def hooks(self, machine: Machine, program: tuple[str, ...]) -> Target | None:
        """The file with the hooks; None for a client without."""
        if self.user_hooks is None or self.project_hooks is None:
            return None
        hooks = tuple(
            Hook(event, shell_line((*program, "hook", word)), seconds, matcher)
            for event, word, seconds, matcher in _EVENTS
        )
        project = machine.project
        file = self.user_hooks(machine) if project is None else project / self.project_hooks
        return Target(file, Hooks(JSON, hooks), "hooks", f"{len(hooks)} hooks")

    def instructions(self, machine: Machine) -> Target | None:
        """The file with what the agent is told; None where there is none."""
        if machine.project is None:
            file = self.user_instructions(machine) if self.user_instructions else None
        else:
            file = (
                machine.project / self.project_instructions if self.project_instructions else None
            )
        return Target(file, Instruction(), "instructions", INSTRUCTED) if file else None


def shell_line(words: tuple[str, ...]) -> str:
    """Words as a line for the shell in which hooks run; on Windows that may be either of two."""
    if os.name == "nt":
        return " ".join(f'"{word}"'.replace("\\", "/") for word in words)
    return shlex.join(words)


def _plain(entry: Entry) -> dict[str, Any]:
    found = {"command": entry["command"], "args": list(entry["args"])}
    return {**found, "env": dict(entry["env"])} if entry["env"] else found


def _typed(entry: Entry) -> dict[str, Any]:
    return {"type": "stdio", **_plain(entry)}


def _codex(entry: Entry) -> dict[str, Any]:
    """`required`: else the first turn begins without a server that needs more than a second."""
    return {**_plain(entry), "required": True, "startup_timeout_sec": _STARTUP_SECONDS}


def _goose(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry["name"],
        "type": "stdio",
        "cmd": entry["command"],
        "args": list(entry["args"]),
        "envs": dict(entry["env"]),
        "enabled": True,
        "timeout": _CALL_SECONDS,
    }


_NEW_SESSION = "It is there in the next session."
_AGAIN = "Quit {title} and start it again."
TRUST = (
    "Codex runs hooks only once you trust them: start codex, enter /hooks, and trust those of"
    " memory-mcp. memory-mcp doctor checks it. The memory's tools work without."
)

_ALL = (
    Client(
        "claude-code",
        "Claude Code",
        JSON,
        "mcpServers",
        claude_state,
        ".mcp.json",
        _typed,
        _NEW_SESSION,
        below(claude_folder, "settings.json"),
        ".claude/settings.local.json",
        below(claude_folder, "CLAUDE.md"),
        "CLAUDE.md",
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        JSON,
        "mcpServers",
        in_application("Claude", "claude_desktop_config.json"),
        None,
        _plain,
        _AGAIN,
    ),
    Client(
        "codex",
        "Codex",
        TOML,
        "mcp_servers",
        below(codex_folder, "config.toml"),
        ".codex/config.toml",
        _codex,
        TRUST,
        below(codex_folder, "hooks.json"),
        ".codex/hooks.json",
        below(codex_folder, "AGENTS.md"),
        "AGENTS.md",
    ),
    Client(
        "cursor",
        "Cursor",
        JSONC,
        "mcpServers",
        in_home(".cursor", "mcp.json"),
        ".cursor/mcp.json",
        _plain,
        _AGAIN,
        project_instructions="AGENTS.md",
    ),
    Client(
        "vscode",
        "VS Code",
        JSONC,
        "servers",
        in_application("Code", "User", "mcp.json"),
        ".vscode/mcp.json",
        _typed,
        "VS Code asks whether you trust the server when it is started.",
        project_instructions="AGENTS.md",
    ),
    Client(
        "zed",
        "Zed",
        JSONC,
        "context_servers",
        below(zed_folder, "settings.json"),
        ".zed/settings.json",
        _plain,
        "Zed starts it at once.",
        project_instructions="AGENTS.md",
    ),
    Client(
        "windsurf",
        "Windsurf",
        JSON,
        "mcpServers",
        in_home(".codeium", "windsurf", "mcp_config.json"),
        None,
        _plain,
        _AGAIN,
        user_instructions=in_home(".codeium", "windsurf", "memories", "global_rules.md"),
        project_instructions="AGENTS.md",
    ),
    Client(
        "goose",
        "goose",
        YAML,
        "extensions",
        below(goose_folder, "config.yaml"),
        None,
        _goose,
        _NEW_SESSION,
        user_instructions=below(goose_folder, ".goosehints"),
        project_instructions="AGENTS.md",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        JSONC,
        "mcpServers",
        in_home(".gemini", "settings.json"),
        ".gemini/settings.json",
        _plain,
        _NEW_SESSION,
        user_instructions=in_home(".gemini", "GEMINI.md"),
        project_instructions="GEMINI.md",
    ),
)
CLIENTS = {client.name: client for client in _ALL}
