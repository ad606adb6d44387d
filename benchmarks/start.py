"""How long a client waits: process start to handshake, to the first hit by words, by meaning.

    python benchmarks/start.py [--sizes 0,1000,10000] [--repeat 5] [--patience 900]

Homes with that many generated notes, with no index yet (cold) and with one (warm). Times are also
given as ratios to a bare server of the MCP SDK, which has one tool and no notes and is measured in
the same run, alternating: ratios hold on other machines, seconds do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from client import Client, command, environment, stop_engine
from corpus import QUESTION, WORD, fill

BARE = """
from mcp.server import MCPServer
server = MCPServer("bare", version="1", log_level="WARNING")
@server.tool()
async def echo(text: str) -> str:
    return text
server.run()
"""


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
    fill(home, size)
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
    server = Client([sys.executable, "-c", BARE], dict(os.environ))
    age = server.hello()
    server.end()
    return age


def _start(home: Path, size: int, row: Row, patience: float) -> None:
    server = Client(command(), environment(home))
    try:
        row.handshake.append(server.hello())
        if size and patience:
            _until_words(server, row, patience)
            _until_hybrid(server, row, patience)
    finally:
        server.end()
        stop_engine(home)  # each start is the first one of its day


def _until_words(server: Client, row: Row, patience: float) -> None:
    while server.age < patience:
        if server.search(WORD)["hits"]:
            row.words.append(server.age)
            return
        time.sleep(0.05)


def _until_hybrid(server: Client, row: Row, patience: float) -> None:
    while server.age < patience:
        answer = server.search(QUESTION)
        best = answer["hits"][0] if answer["hits"] else {}
        if answer["degraded"] is None and best.get("vector_score") is not None:
            row.hybrid.append(server.age)
            return
        time.sleep(0.05)


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
