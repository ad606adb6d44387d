"""Runs the official MCP conformance suite against `memory-mcp serve`, in both eras.

    sh integrations/conformance/run.sh [COMMAND...]    the command that starts memory-mcp

Every generic scenario must pass (`scenarios.py` lists them, and what each other one needs), every
message that the server sends in any scenario must fit the schema of its protocol version, and the
suite must have no scenario that is in no list. Ends with 1 where that is not so; with 0 and a line
that begins with `skipped:` where the suite cannot be had.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from integrations.conformance.scenarios import FIXTURE_CHECKS, GENERIC, OTHERS
from integrations.npm import Unavailable, install, node

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NODE_MAJOR = 22
START_SECONDS = 60.0
END_SECONDS = 30.0
SCHEMA = "wire-schema-valid"
"""The check of every message against the schema, which has nothing to do with fixtures."""

LISTED = re.compile(r"^\s+- (\S+) \[([^\]]+)\]$", re.MULTILINE)
FOLDER = re.compile(r"^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True, slots=True)
class Suite:
    """A version of the suite, the folder it is installed in, and the protocol it is run with."""

    package: str
    version: str
    protocol: str

    @property
    def program(self) -> str:
        """Its main file."""
        return str(HERE / "node_modules" / self.package / "dist" / "index.js")


SUITES = (
    Suite("conformance-0.1", "0.1.16", "2025-11-25"),
    Suite("conformance-0.2", "0.2.0-alpha.12", "2025-11-25"),
    Suite("conformance-0.2", "0.2.0-alpha.12", "2026-07-28"),
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a scenario looked at."""

    name: str
    status: str
    message: str


def main(words: Sequence[str]) -> int:
    """The exit code."""
    root = Path(tempfile.mkdtemp(prefix="mm-")).resolve()
    try:
        install(HERE)
        runner = node(NODE_MAJOR, HERE / ".node")
        with _serving(list(words) or _command(), root) as url:
            faults = [fault for suite in SUITES for fault in _judge(runner, suite, url, root)]
    except Unavailable as reason:
        _say(f"skipped: {reason}")
        return 0
    except RuntimeError as error:
        _say(f"FAIL {error}")
        return 1
    finally:
        shutil.rmtree(root, ignore_errors=True)
    _say("\nWhat the other scenarios need, which is no part of a memory")
    for name, need in sorted(OTHERS.items()):
        _say(f"       {name:46} {need}")
    _say()
    for fault in faults:
        _say(f"FAIL {fault}")
    _say(f"failed: {len(faults)}" if faults else "every generic scenario passed in both eras")
    return 1 if faults else 0


def _command() -> list[str]:
    found = shutil.which("memory-mcp")
    return [found] if found else [sys.executable, "-m", "memory_mcp"]


@contextmanager
def _serving(command: list[str], root: Path) -> Iterator[str]:
    """Serve a copy of the example over HTTP; the address of the endpoint."""
    home = root / "memory"
    shutil.copytree(ROOT / "examples" / "memory", home)
    kept = {name: text for name, text in os.environ.items() if "MEMORY_MCP" not in name}
    environment = {**kept, "MEMORY_MCP_HOME": str(home)}
    port = _free_port()
    words = ["serve", "--transport", "streamable-http", "--port", str(port)]
    log = root / "serve.log"
    with log.open("wb") as errors:
        server = subprocess.Popen(
            [*command, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )
    try:
        _wait(server, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        try:
            server.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        subprocess.run(
            [*command, "engine", "stop"], env=environment, capture_output=True, check=False
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait until the server answers; raises RuntimeError with its words where it does not."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError:
            return  # it answers, if not there
        except OSError:
            threading.Event().wait(0.1)
    told = log.read_text(encoding="utf-8", errors="replace")
    raise RuntimeError(f"memory-mcp serve does not answer:\n{told}")


def _judge(runner: str, suite: Suite, url: str, root: Path) -> list[str]:
    """Run all scenarios of a suite and print what came out; what must not be so."""
    title = f"conformance {suite.version}, protocol {suite.protocol}"
    _say(f"\n{title}")
    expected = _listed(runner, suite)
    out = root / f"{suite.version}-{suite.protocol}"
    words = ["server", "--url", url, "--suite", "all", "--spec-version", suite.protocol]
    subprocess.run(
        [runner, suite.program, *words, "-o", str(out)],
        env={name: text for name, text in os.environ.items() if "proxy" not in name.lower()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=600,
        check=False,  # it fails wherever a fixture is missing
    )
    results = _results(out)
    faults = [f"{name} is in no list" for name in sorted(set(expected) - GENERIC - set(OTHERS))]
    for name in sorted(GENERIC & {*expected, *results}):
        faults += _generic(name, results.get(name, []))
    others = {*expected, *results} & set(OTHERS)
    _say(f"  and {len(others)} scenarios for which something is missing here (see below)")
    for name in sorted(others):
        faults += [f"{name}: {check.message}" for check in _off_schema(results.get(name, []))]
    return [f"{title}: {fault}" for fault in faults]


def _listed(runner: str, suite: Suite) -> list[str]:
    """The names of the suite's scenarios for servers, for this protocol and for extensions."""
    told = subprocess.run(
        [runner, suite.program, "list", "--server"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    wanted = {suite.protocol, "extension"}
    found = [name for name, marks in LISTED.findall(told.stdout) if wanted & {*marks.split(",")}]
    if not found:
        raise RuntimeError(f"the suite lists no scenario:\n{told.stdout}{told.stderr}")
    return found


def _results(out: Path) -> dict[str, list[Check]]:
    """The checks of each scenario that ran."""
    results = {}
    for file in sorted(out.glob("*/checks.json")):
        found = FOLDER.match(file.parent.name)
        if found is None:
            raise RuntimeError(f"the suite names its results in another way: {file.parent.name}")
        checks = json.loads(file.read_text(encoding="utf-8"))
        results[found[1]] = [
            Check(check["id"], check["status"], " ".join(check.get("errorMessage", "").split()))
            for check in checks
        ]
    return results


def _generic(name: str, checks: list[Check]) -> list[str]:
    """Print how a generic scenario went; its faults."""
    excused = FIXTURE_CHECKS.get(name, {})
    counted = [check for check in checks if check.name not in excused]
    failed = [check for check in counted if check.status == "FAILURE"]
    passed = [check for check in counted if check.status == "SUCCESS"]
    warned = [check for check in counted if check.status == "WARNING"]
    skipped = sorted({excused[check.name] for check in checks if check.name in excused})
    verdict = "FAIL" if failed or not counted else "ok  "
    more = [f"{len(warned)} warned"] if warned else []
    more += [f"not counted: what needs {need}" for need in skipped]
    _say(f"  {verdict} {name:46} {', '.join([f'{len(passed)} passed', *more])}")
    for check in warned:
        _say(f"         {check.name}: {check.message}")
    if not counted:
        return [f"{name} did not run"]
    return [f"{name}: {check.name}: {check.message}" for check in failed]


def _off_schema(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.name == SCHEMA and check.status == "FAILURE"]


def _say(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
