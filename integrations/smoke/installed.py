"""The agents as `memory-mcp install` leaves them: nothing is set up by hand but Codex's model."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from integrations.smoke.agents import Claude, Codex, Run, Server, codex_settings
from integrations.smoke.model import Call, Model, Seen, serving
from integrations.smoke.transcript import Transcript

QUESTION = "Which tomatoes were resistant to late blight?"
NOTE, PROOF = "<MEMORY[memory/tomatoes]", "Primabella"
"""The frame of the note that answers the question, and a word that stands only there."""

OWN_SETTINGS = '{\n    "env": {"MINE": "1"},   "cleanupPeriodDays": 20\n}\n'
"""A person's own settings, laid out as no program would."""

Ask = Callable[[str], Run]
SCRIPT = (Call("memory_search", {"query": QUESTION}),)


def claude_installed(out: Transcript, agent: Claude, server: Server, home: Path) -> None:
    """Claude Code: server and hooks at once; afterwards every byte of before."""
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(OWN_SETTINGS, encoding="utf-8")
    before = _tree(home)
    _install(server, home, "claude-code")
    _install(server, home, "claude-code", "--uninstall")
    after = _tree(home)
    out.check("install and --uninstall leave every byte as it was", after == before, str(after))
    _install(server, home, "claude-code")
    run, seen = _round(lambda model: agent.ask_as_it_is(QUESTION, home, model))
    _look(out, agent.title, run, seen)
    _unasked(out, server, seen)
    written = _json(home / ".claude.json")
    _install(server, home, "claude-code", "--uninstall")
    same = settings.read_text(encoding="utf-8") == OWN_SETTINGS
    out.check("--uninstall restores settings.json byte for byte", same)
    written.pop("mcpServers")
    left = _json(home / ".claude.json")
    left.pop("mcpServers", None)
    out.check("and takes its entry out of what Claude Code wrote", left == written, str(left))
    ours = [name for name, data in _tree(home).items() if b'"memory": {' in data]
    out.check("nothing of it is left in its files", ".claude.json" not in ours, str(ours))


def codex_installed(out: Transcript, agent: Codex, server: Server, home: Path) -> None:
    """Codex: the server at once, the hooks once they are trusted."""
    config = home / ".codex" / "config.toml"
    config.parent.mkdir(parents=True)

    def ask(*words: str) -> tuple[Run, Seen]:
        return _round(lambda model: _ask(agent, home, model, *words))

    _point(config, "http://127.0.0.1:1")
    before = _tree(home)
    told = _install(server, home, "codex")
    out.check("install says how hooks are trusted", "/hooks" in told, told)
    run, seen = ask()
    _look(out, agent.title, run, seen)
    out.check("no hook has run so far", NOTE not in seen.first, seen.first)
    out.check("doctor says that they are not trusted", "wrong" in _states(server, home))
    run, seen = ask("--dangerously-bypass-hook-trust")
    _unasked(out, server, seen)
    _point(config, "http://127.0.0.1:1")
    _install(server, home, "codex", "--uninstall")
    after = {name: data for name, data in _tree(home).items() if name in before}
    out.check("--uninstall restores config.toml byte for byte", after == before, str(after))
    out.check("and hooks.json is gone", not (config.parent / "hooks.json").exists())
    _install(server, home, "codex")
    trusted = config.read_text(encoding="utf-8") + _trusted(agent, home)
    config.write_text(trusted, encoding="utf-8")
    out.check("doctor sees that they are trusted now", "wrong" not in _states(server, home))
    run, seen = ask()
    _unasked(out, server, seen)


def _ask(agent: Codex, home: Path, model: str, *words: str) -> Run:
    """Ask it with the model at this address for once."""
    _point(home / ".codex" / "config.toml", model)
    return agent.ask_as_it_is(QUESTION, home, model, *words)


def _point(config: Path, model: str) -> None:
    """Put the address of the model into the settings; all else there stays."""
    lines = config.read_text(encoding="utf-8").splitlines() if config.exists() else []
    if not lines:
        lines = ["# A person's own settings", *codex_settings(model).splitlines()]
    address = f"base_url = {json.dumps(model + '/v1')}"
    lines = [address if line.startswith("base_url = ") else line for line in lines]
    config.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _round(ask: Ask) -> tuple[Run, Seen]:
    model = Model({"it": SCRIPT})
    with serving(model) as url:
        return ask(f"{url}/it"), model.seen["it"]


def _look(out: Transcript, title: str, run: Run, seen: Seen) -> None:
    offered = any(name.endswith("__memory_search") for name in seen.offered)
    out.check(f"{title} offers our tools at once", offered, str(seen.offered) + run.errors)
    found = PROOF in seen.results.get(0, "")
    out.check("its search finds the note of the example", found, seen.results.get(0, run.errors))


def _unasked(out: Transcript, server: Server, seen: Seen) -> None:
    """What the hooks put in front of the model before it did anything."""
    opening = _opening(server)
    known = bool(opening) and opening in seen.first
    out.check("its first request has the text of the session's start", known, seen.first[-1500:])
    block = NOTE in seen.first and PROOF in seen.first
    out.check("and the note that fits the message", block, seen.first[-1500:])


def _opening(server: Server) -> str:
    """What the hook gives at a session's start, asked for by ourselves."""
    session = secrets.token_hex(8)  # another one each time: a session is told once
    event = {"session_id": session, "hook_event_name": "SessionStart", "source": "startup"}
    told = _run(server, {}, "hook", "session-start", given=json.dumps(event)).stdout
    answer = json.loads(told or "{}").get("hookSpecificOutput", {})
    return str(answer.get("additionalContext", "")).strip()


def _trusted(agent: Codex, home: Path) -> str:
    """What `/hooks` writes when everything is trusted, with the hashes that Codex tells."""
    asked = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "s", "version": "0"}}},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [str(home)]}},
    ]
    environment = {**os.environ, "HOME": str(home), "CODEX_HOME": str(home / ".codex")}
    with subprocess.Popen(
        [str(agent.program), "app-server"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the app server has no pipes")
        process.stdin.write("".join(json.dumps(line) + "\n" for line in asked))
        process.stdin.flush()
        answers = (json.loads(line) for line in process.stdout)
        found = next(answer["result"]["data"] for answer in answers if answer.get("id") == 1)
        process.stdin.close()
    lines = [""]
    for hook in (hook for place in found for hook in place["hooks"]):
        lines += [f"[hooks.state.{json.dumps(hook['key'])}]"]
        lines += [f"trusted_hash = {json.dumps(hook['currentHash'])}"]
    return "\n".join([*lines, ""])


def _states(server: Server, home: Path) -> set[str]:
    """What doctor says of Codex."""
    told = _run(server, _person(home), "doctor", "--json").stdout
    findings = json.loads(told)["findings"]
    return {finding["state"] for finding in findings if finding["subject"] == "Codex"}


def _install(server: Server, home: Path, *words: str) -> str:
    done = _run(server, _person(home), "install", *words)
    if done.returncode:
        raise RuntimeError(f"install {' '.join(words)} failed: {done.stderr}")
    return done.stdout


def _person(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": "", "XDG_CONFIG_HOME": ""}


def _run(
    server: Server, more: dict[str, str], *words: str, given: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*server.command, *words],
        env={**os.environ, **server.environment, **more},
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _json(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_bytes())
    return found
