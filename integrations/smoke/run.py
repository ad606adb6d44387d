"""Drives Claude Code and Codex, the real programs, with a model that follows a script.

    sh integrations/smoke/run.sh [COMMAND...]        the command that starts memory-mcp

No login, no key, no network but for the installation with npm. Each agent gets a home of its own
and the same memory, a copy of the example. Ends with 1 where something is not as it must be; with
0 and a line that begins with `skipped:` where the agents cannot be had.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from integrations.npm import Unavailable, install
from integrations.smoke.agents import Agent, Claude, Codex, Run, Server
from integrations.smoke.installed import claude_installed, codex_installed
from integrations.smoke.left import until_none
from integrations.smoke.model import Call, Model, Seen, serving
from integrations.smoke.transcript import Transcript

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOLS = {
    *("memory_search", "memory_get", "memory_list", "memory_write", "memory_edit"),
    *("memory_delete", "memory_link", "memory_save", "memory_jobs", "memory_recall"),
}
QUESTION = "Which tomatoes were resistant to late blight?"
SAMPLE, PROOF = "memory/tomatoes", "Primabella"
"""The note of the example that answers the question, and a word that stands only there."""

GONE_SECONDS = 10.0
Script = tuple[Call, ...]
Engine = dict[str, Any]


def main(words: Sequence[str]) -> int:
    """The exit code."""
    try:
        agents = _installed()
    except Unavailable as reason:
        sys.stdout.write(f"skipped: {reason}\n")
        return 0
    except RuntimeError as error:
        sys.stdout.write(f"FAIL {error}\n")
        return 1
    # Short, since the path of a Unix socket is at most 100 bytes long.
    root = Path(tempfile.mkdtemp(prefix="mm-")).resolve()
    server = Server(list(words) or _command(), _server_environment(root / "memory"))
    try:
        return _drive(agents, server, root)
    finally:
        _memory(server, "engine", "stop")
        shutil.rmtree(root, ignore_errors=True)


def _command() -> list[str]:
    found = shutil.which("memory-mcp")
    return [found] if found else [sys.executable, "-m", "memory_mcp"]


def _installed() -> tuple[Claude, Codex]:
    install(HERE)
    programs = HERE / "node_modules" / ".bin"
    agents = (Claude(programs / "claude"), Codex(programs / "codex"))
    for agent in agents:
        if not version(agent):
            raise Unavailable(f"{agent.title} does not start on this machine")
    return agents


def version(agent: Agent) -> str:
    """What it says of itself; empty where it does not start."""
    try:
        told = subprocess.run(
            [agent.program, "--version"], capture_output=True, encoding="utf-8", check=False
        )
    except OSError:
        return ""
    found = re.search(r"\d+\.\d+\.\d+\S*", told.stdout)
    return found[0] if found else ""


def _drive(agents: tuple[Claude, Codex], server: Server, root: Path) -> int:
    out = Transcript()
    shutil.copytree(ROOT / "examples" / "memory", root / "memory")
    told = _memory(server, "--version").stdout.split()
    versions = ", ".join(f"{agent.title} {version(agent)}" for agent in agents)
    out.say(f"memory-mcp {told[-1] if told else '?'}, {versions}; {time.strftime('%Y-%m-%d')}")
    for agent in agents:
        out.say(f"\n{agent.title} alone")
        _round(out, (agent,), (_alone(agent),), server, root / "alone")
    out.say(f"\n{' and '.join(agent.title for agent in agents)} at once, on one home")
    first, second = agents
    scripts = (_beside(first, second), _beside(second, first))
    _round(out, agents, scripts, server, root / "both")
    out.say("\nmemory-mcp install claude-code, in an empty home folder")
    claude_installed(out, agents[0], server, root / "cc")
    out.say("\nmemory-mcp install codex, in an empty home folder")
    codex_installed(out, agents[1], server, root / "cx")
    _end(out, server, root)
    out.say(f"\n{out.checks - out.failed} of {out.checks} checks passed")
    return 1 if out.failed else 0


def _server_environment(home: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {"MEMORY_MCP_HOME": str(home), **passed}


def _alone(agent: Agent) -> Script:
    return (Call("memory_search", {"query": QUESTION}), _note(agent, "first"))


def _beside(agent: Agent, other: Agent) -> Script:
    """Search, write, and find what the other one has written meanwhile."""
    about = f"What did {other.title} leave in its second round?"
    find = Call("memory_search", {"query": about, "limit": 3}, together=True)
    return (Call("memory_search", {"query": QUESTION}), _note(agent, "second"), find)


def _name(agent: Agent) -> str:
    return agent.title.lower().replace(" ", "-")


def _note(agent: Agent, which: str) -> Call:
    text = f"# A note of {agent.title}\n\n{agent.title} left this in its {which} round.\n"
    return Call("memory_write", {"slug": f"{_name(agent)}-{which}", "content": text})


def _round(
    out: Transcript,
    agents: tuple[Agent, ...],
    scripts: tuple[Script, ...],
    server: Server,
    folder: Path,
) -> None:
    """Ask these agents at the same time, and look at what came of it."""
    named = {_name(agent): script for agent, script in zip(agents, scripts, strict=True)}
    engines: list[Engine] = []
    model = Model(named, lambda: engines.append(_engine(server)))

    def ask(agent: Agent) -> Run:
        place = folder / _name(agent)
        place.mkdir(parents=True)
        return agent.ask(QUESTION, place, f"{url}/{_name(agent)}", server)

    with serving(model) as url, ThreadPoolExecutor(len(agents)) as pool:
        runs = list(pool.map(ask, agents))
    for agent, run, script in zip(agents, runs, scripts, strict=True):
        _look(out, agent, run, script, model.seen[_name(agent)], server)
    for agent, other in zip(agents, reversed(agents), strict=True):
        if agent is not other:
            result = model.seen[_name(agent)].results.get(2, "")
            claim = f"{agent.title} finds what {other.title} has just written"
            out.check(claim, f"memory/{_name(other)}-second" in result, result)
    if len(agents) > 1:
        served = [len(engine["clients"]) for engine in engines]
        claim = f"one engine has {len(agents)} clients while they work"
        out.check(claim, served == [len(agents)], json.dumps(engines))
    elsewhere = sorted(model.elsewhere)
    out.check("nobody asked for a host but this one", not elsewhere, ", ".join(elsewhere))


def _look(
    out: Transcript, agent: Agent, run: Run, script: Script, seen: Seen, server: Server
) -> None:
    ours = {name.rpartition("__")[2] for name in seen.offered if "__memory_" in name}
    way = ", looked up with its search for tools" if seen.looked_up else ""
    out.say(f"  {agent.title} offers its model{way}: {', '.join(sorted(ours))}")
    for step, call in enumerate(script):
        out.say(f"  {agent.title} calls {call.tool} {json.dumps(dict(call.arguments))}")
        out.say(f"    -> {short(seen.results.get(step, 'nothing came back'))}")
    out.check(f"{agent.title} offers all our tools", ours >= TOOLS, str(TOOLS - ours))
    searched = seen.results.get(0, "")
    out.check("its search finds the note of the example", SAMPLE in searched, searched)
    slug = str(script[1].arguments["slug"])
    home = Path(server.environment["MEMORY_MCP_HOME"])
    file = home / "agents" / "default" / "memory" / f"{slug}.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else "there is no such file"
    body = str(script[1].arguments["content"]).strip()
    out.check(f"its note is a file: {file.relative_to(home)}", body in text, text)
    told = run.code == 0 and PROOF in run.output
    out.check("it tells its user what it found, and ends with 0", told, run.output + run.errors)


def short(result: str) -> str:
    """A result in a line: of the JSON that agents pass on, what matters."""
    try:
        answer = json.loads(result[result.index("{") :])
    except ValueError:
        return " ".join(result.split())[:160]
    if "hits" in answer:
        return ", ".join(f"{hit['reference']} {hit['score']:.2f}" for hit in answer["hits"])
    return ", ".join(
        f"{name} {answer[name]}" for name in ("reference", "created") if name in answer
    )


def _end(out: Transcript, server: Server, root: Path) -> None:
    """The clients are gone: what they started must be gone, and the engine when it is told to."""
    out.say("\nAfterwards")
    engine = _engine(server)
    left = until_none(root, GONE_SECONDS, besides=engine["pid"])
    seen = json.dumps({"engine": engine, "left": left})
    out.check("no process is left but the engine", bool(engine["pid"]) and not left, seen)
    stopped = _memory(server, "engine", "stop")
    out.check("memory-mcp engine stop ends with 0", stopped.returncode == 0, stopped.stderr)
    left = until_none(root, GONE_SECONDS)
    out.check("no process at all is left", not left, str(left))


def _engine(server: Server) -> Engine:
    """What the engine says of itself; where that cannot be had, why."""
    told = _memory(server, "engine", "status", "--json")
    if told.returncode or not told.stdout:
        return {"pid": None, "clients": [], "failure": told.stderr[-500:]}
    found: Engine = json.loads(told.stdout)
    return found


def _memory(server: Server, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*server.command, *words],
        env={**os.environ, **server.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
