"""How long a client waits: process start to handshake, to the first hit by words, by meaning.

    python benchmarks/start.py [--sizes 0,1000,10000] [--repeat 5] [--patience 900]

Homes with that many generated notes, with no index yet (cold) and with one (warm). Times are also
given as ratios to a bare server of the MCP SDK, which has one tool and no notes and is measured in
the same run, alternating: ratios hold on other machines, seconds do not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BARE = """
from mcp.server import MCPServer
server = MCPServer("bare", version="1", log_level="WARNING")
@server.tool()
async def echo(text: str) -> str:
    return text
server.run()
"""

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
SUBJECTS = ("garden", "boiler", "ferry", "invoice", "bicycle", "choir", "router", "sourdough")
VERBS = ("was moved to", "belongs to", "was repaired by", "costs more than", "waits for")
WORD = "quartzite"
QUESTION = "Which stone did we choose for the kitchen worktop?"


class Server:
    """A server process on stdio, spoken to line by line."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self.begin = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._number = 0

    @property
    def age(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self.begin

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """A request and its result."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._number:
                result: dict[str, Any] = message["result"]
                return result
        raise RuntimeError(f"the server ended before it answered {method}")

    def hello(self) -> float:
        """The handshake; the age at its answer."""
        self.ask("initialize", **HELLO)
        age = self.age
        self._send({"method": "notifications/initialized"})
        return age

    def search(self, query: str) -> dict[str, Any]:
        """The structured answer of a search."""
        call = {"name": "memory_search", "arguments": {"query": query}}
        answer: dict[str, Any] = self.ask("tools/call", **call)["structuredContent"]
        return answer

    def end(self) -> None:
        """Close the input and wait for the exit."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


@dataclass(slots=True)
class Row:
    """The times of one kind of start, in seconds."""

    title: str
    handshake: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)
    hybrid: list[float] = field(default_factory=list)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="0,1000,10000")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--patience", type=float, default=900, help="seconds for a first index")
    options = parser.parse_args()
    bare, rows = Row("bare server of the SDK"), []
    for size in (int(text) for text in options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            rows += _measure(Path(folder), size, options.repeat, options.patience, bare)
    _print([bare, *rows], min(bare.handshake))


def _measure(home: Path, size: int, repeat: int, patience: float, bare: Row) -> list[Row]:
    _fill(home, size)
    cold, warm = Row(f"{size:,} notes, cold"), Row(f"{size:,} notes, warm")
    for number in range(repeat):
        bare.handshake.append(_bare())
        shutil.rmtree(home / ".index", ignore_errors=True)
        last = number == repeat - 1  # one full index is enough; it is the one that warms
        _start(home, size, cold, patience if last else 0)
    for _ in range(repeat):
        bare.handshake.append(_bare())
        _start(home, size, warm, patience)
    return [cold, warm]


def _bare() -> float:
    server = Server([sys.executable, "-c", BARE], dict(os.environ))
    age = server.hello()
    server.end()
    return age


def _start(home: Path, size: int, row: Row, patience: float) -> None:
    environment = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
    environment["MEMORY_MCP_HOME"] = str(home)
    server = Server([sys.executable, "-m", "memory_mcp"], environment)
    try:
        row.handshake.append(server.hello())
        if size and patience:
            _until_words(server, row, patience)
            _until_hybrid(server, row, patience)
    finally:
        server.end()


def _until_words(server: Server, row: Row, patience: float) -> None:
    while server.age < patience:
        if server.search(WORD)["hits"]:
            row.words.append(server.age)
            return
        time.sleep(0.05)


def _until_hybrid(server: Server, row: Row, patience: float) -> None:
    while server.age < patience:
        answer = server.search(QUESTION)
        best = answer["hits"][0] if answer["hits"] else {}
        if answer["degraded"] is None and best.get("vector_score") is not None:
            row.hybrid.append(server.age)
            return
        time.sleep(0.05)


def _fill(home: Path, size: int) -> None:
    folder = home / "agents" / "default" / "memory"
    folder.mkdir(parents=True)
    for number in range(size):
        subject, verb = SUBJECTS[number % len(SUBJECTS)], VERBS[number % len(VERBS)]
        other = SUBJECTS[(number * 5 + 3) % len(SUBJECTS)]
        text = (
            f"# The {subject} in case {number}\n\nIn week {number % 53} the {subject} {verb} the"
            f" {other}. Number {number} has {number * 7 % 1000} parts.\n\n## Later\n\nThe {other}"
            f" was checked {number % 9} times and the {subject} is kept in room {number % 217}.\n"
        )
        (folder / f"case-{number}.md").write_text(text, encoding="utf-8")
    if size:
        worktop = f"# Kitchen\n\nThe counter is made of {WORD}, from the quarry in Alta.\n"
        (folder / "kitchen.md").write_text(worktop, encoding="utf-8")


def _print(rows: Sequence[Row], unit: float) -> None:
    print(f"Seconds since process start, median (best); x: ratio of the best to {unit:.2f} s,")
    print("the best handshake of the bare server.\n")
    print("| start | handshake | x | first hit by words | x | first by meaning | x |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        cells = [_cell(times, unit) for times in (row.handshake, row.words, row.hybrid)]
        print(f"| {row.title} | {' | '.join(cells)} |")


def _cell(times: Sequence[float], unit: float) -> str:
    if not times:
        return "- | -"
    return f"{statistics.median(times):.2f} ({min(times):.2f}) | {min(times) / unit:.2f}"


if __name__ == "__main__":
    main()
