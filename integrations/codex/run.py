"""Drives the examples of this folder, offline, with a model that follows a script.

    sh integrations/codex/run.sh

The real Codex app-server gets the memory as dynamic tools, and a loop of function calls gets it in
the form of Chat Completions. Both have a copy of the example memory, and no MCP. Ends with 1 where
something is not as it must be; with 0 and a line that begins with `skipped:` where Codex cannot
be had.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from integrations.codex.app_server import AppServer, ask
from integrations.codex.functions import answer
from integrations.npm import Unavailable, install
from integrations.smoke.agents import Codex, codex_settings, surroundings
from integrations.smoke.left import until_none
from integrations.smoke.model import Call, Model, Seen, serving
from integrations.smoke.run import PROOF, QUESTION, SAMPLE, TOOLS, Transcript, version
from memory_mcp import __version__
from memory_mcp.front.ask import ask as ask_engine
from memory_mcp.server.framing import NOTICE
from memory_mcp.tools import Session

ROOT = Path(__file__).parents[2]
AGENTS = ROOT / "integrations" / "smoke"
"""Codex is installed there, in the version that its lock file names."""

PROGRAM = AGENTS / "node_modules" / ".bin" / "codex"
GONE_SECONDS = 10.0
NOTE = "# From the greenhouse\n\nPrimabella is sown on 1 March.\n"
WRONG = {"reference": "memory/no-such-note"}


def script(name: str) -> tuple[Call, ...]:
    """Search, read, ask for what is not there, write."""
    return (
        Call("memory_search", {"query": QUESTION}),
        Call("memory_get", {"reference": SAMPLE}),
        Call("memory_get", WRONG),
        Call("memory_write", {"slug": f"sown-{name}", "content": NOTE}),
    )


def main() -> int:
    """The exit code."""
    try:
        install(AGENTS)
        known = version(Codex(PROGRAM))
        if not known:
            raise Unavailable("Codex does not start on this machine")
    except Unavailable as reason:
        sys.stdout.write(f"skipped: {reason}\n")
        return 0
    root = Path(tempfile.mkdtemp(prefix="mm-")).resolve()
    home = root / "memory"
    shutil.copytree(ROOT / "examples" / "memory", home)
    out = Transcript()
    out.say(f"memory-mcp {__version__}, Codex {known}; {time.strftime('%Y-%m-%d')}")
    try:
        _dynamic_tools(out, root, home)
        _functions(out, home)
        _end(out, root, home)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    out.say(f"\n{out.checks - out.failed} of {out.checks} checks passed")
    return 1 if out.failed else 0


def _dynamic_tools(out: Transcript, root: Path, home: Path) -> None:
    out.say("\nCodex app-server, with the memory as dynamic tools")
    work = root / "work"
    work.mkdir()
    model = Model({"codex": script("codex")})
    with serving(model) as url:
        address = f"{url}/codex"
        (root / "codex").mkdir()
        settings = root / "codex" / "config.toml"
        settings.write_text(codex_settings(address), encoding="utf-8")
        environment = {
            **surroundings(root, address),
            "CODEX_HOME": str(root / "codex"),
            "RUST_LOG": "off",
        }
        with AppServer([str(PROGRAM)], environment) as server:
            said = ask(server, QUESTION, work, home=home)
    _look(out, home, "codex", model.seen["codex"], said)
    elsewhere = sorted(model.elsewhere)
    out.check("nobody asked for a host but this one", not elsewhere, ", ".join(elsewhere))


def _functions(out: Transcript, home: Path) -> None:
    out.say("\nA loop of function calls, in the form of Chat Completions")
    model = Model({"functions": script("functions")})
    with serving(model) as url, Session(home=home) as memory:
        said = answer(QUESTION, memory, f"{url}/functions/v1", "script")
    _look(out, home, "functions", model.seen["functions"], said)


def _look(out: Transcript, home: Path, name: str, seen: Seen, said: str) -> None:
    for step, call in enumerate(script(name)):
        out.say(f"  calls {call.tool} {json.dumps(dict(call.arguments))}")
        out.say(f"    -> {_short(seen.results.get(step, 'nothing came back'))}")
    out.check("the model is offered all our tools", seen.offered >= TOOLS, str(seen.offered))
    searched, read, wrong, wrote = (seen.results.get(step, "") for step in range(4))
    out.check("the search finds the note of the example", SAMPLE in searched, searched)
    out.check("the note is read in its frame", f"<MEMORY[{SAMPLE}]" in read, read)
    out.check("a mistake is told to the model, which goes on", "no-such-note" in wrong, wrong)
    out.check("it writes", f"Created memory/sown-{name}" in wrote, wrote)
    file = home / "agents" / "default" / "memory" / f"sown-{name}.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else "there is no such file"
    out.check(f"its note is a file: {file.relative_to(home)}", NOTE.strip() in text, text)
    out.check("it tells its user what it found", PROOF in said, said)


def _short(result: str) -> str:
    """The beginning of an answer, without the line that stands above all of them."""
    return " ".join(result.removeprefix(NOTICE).split())[:150]


def _end(out: Transcript, root: Path, home: Path) -> None:
    out.say("\nAfterwards")
    answered: Any = ask_engine(
        str(home), os.environ, {}, "stop", {}, start=False, seconds=GONE_SECONDS
    )
    out.check("the engine that both used stops", answered == {"stopping": True}, str(answered))
    left = until_none(root, GONE_SECONDS)
    out.check("no process is left", not left, str(left))


if __name__ == "__main__":
    sys.exit(main())
