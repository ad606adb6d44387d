"""The agents that are driven: how each is set up without a login, and how it is asked."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SERVER = "memory"
"""What our server is called in the settings of each agent."""

SECONDS = 240.0
"""How long an agent may take for one prompt."""


@dataclass(frozen=True, slots=True)
class Server:
    """The command that starts our server, and its environment."""

    command: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished agent: its exit code and what it printed."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class Claude:
    """Claude Code in its headless mode, with our server and no other."""

    program: Path
    title = "Claude Code"

    def ask(self, prompt: str, folder: Path, model: str, server: Server) -> Run:
        """Ask it in a folder of its own; `model` is the address of the API."""
        settings = folder / "mcp.json"
        entry = {"type": "stdio", "command": server.command[0], "args": [*server.command[1:]]}
        servers = {SERVER: {**entry, "env": {**server.environment}}}
        settings.write_text(json.dumps({"mcpServers": servers}, indent=2), encoding="utf-8")
        words = ["--strict-mcp-config", "--mcp-config", str(settings)]
        return self.ask_as_it_is(prompt, folder, model, *words)

    def ask_as_it_is(self, prompt: str, folder: Path, model: str, *words: str) -> Run:
        """Ask it as it is set up in this home folder."""
        more = {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        command = [str(self.program), "-p", prompt, *words, "--allowedTools", f"mcp__{SERVER}"]
        return _run(command, folder, model, more)


@dataclass(frozen=True, slots=True)
class Codex:
    """Codex without questions: it may use our tools, and everything else read-only."""

    program: Path
    title = "Codex"

    def ask(self, prompt: str, folder: Path, model: str, server: Server) -> Run:
        """Ask it in a folder of its own; `model` is the address of the API."""
        home = folder / "codex"
        home.mkdir()
        text = codex_settings(model) + _codex_server(server)
        (home / "config.toml").write_text(text, encoding="utf-8")
        return self._exec(prompt, folder, home, model)

    def ask_as_it_is(self, prompt: str, folder: Path, model: str, *words: str) -> Run:
        """Ask it as it is set up in this home folder."""
        return self._exec(prompt, folder, folder / ".codex", model, *words)

    def _exec(self, prompt: str, folder: Path, home: Path, model: str, *words: str) -> Run:
        command = [str(self.program), "exec", "--skip-git-repo-check", *words, prompt]
        return _run(command, folder, model, {"CODEX_HOME": str(home)})


Agent = Claude | Codex


def codex_settings(model: str) -> str:
    """config.toml without servers; texts of JSON are those of TOML, too. Plugins and apps would be
    fetched."""
    lines = [
        'model = "script"',
        'model_provider = "script"',
        'approval_policy = "never"',
        "check_for_update_on_startup = false",
        "[model_providers.script]",
        'name = "script"',
        f"base_url = {json.dumps(model + '/v1')}",
        'wire_api = "responses"',
        "requires_openai_auth = false",
        "[analytics]",
        "enabled = false",
        "[features]",
        "plugins = false",
        "apps = false",
    ]
    return "\n".join([*lines, ""])


def _codex_server(server: Server) -> str:
    """Our section; `required` makes the first turn wait for the server."""
    environment = [f"{name} = {json.dumps(text)}" for name, text in server.environment.items()]
    lines = [
        f"[mcp_servers.{SERVER}]",
        f"command = {json.dumps(server.command[0])}",
        f"args = {json.dumps([*server.command[1:]])}",
        "required = true",
        "startup_timeout_sec = 60",
        'default_tools_approval_mode = "approve"',
        f"[mcp_servers.{SERVER}.env]",
        *environment,
    ]
    return "\n".join([*lines, ""])


def _run(words: Sequence[str], folder: Path, model: str, more: Mapping[str, str]) -> Run:
    """Run an agent, and wait for it."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    try:
        done = subprocess.run(
            words,
            cwd=work,
            env={**surroundings(folder, model), **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Run(-1, "", f"it was not done after {SECONDS:.0f} seconds")
    return Run(done.returncode, done.stdout, done.stderr)


def surroundings(folder: Path, model: str) -> dict[str, str]:
    """The environment of an agent that sees nothing of this machine's settings and reaches
    loopback only."""
    proxy = model.rsplit("/", 1)[0]
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "HTTP_PROXY": proxy,
        "HTTPS_PROXY": proxy,
        "NO_PROXY": "127.0.0.1,localhost",
    }
