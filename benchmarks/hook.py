"""What a hook costs the one who types: the whole process, from its start to its end.

    python benchmarks/hook.py [--notes 1000] [--runs 100] [--few 5]

With a warm engine, beside a bare `python -c pass`, which runs just before each of them: ratios
hold on other machines, milliseconds do not. Then everything loaded in the hook itself, and what
happens where no engine runs, or one that stands still.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from client import Client, Json, command, engine_pid, environment, stop_engine
from corpus import QUESTION, WORD, fill

BARE = [sys.executable, "-c", "pass"]
ALL_IN_THE_HOOK = """
import os
import sys
import anyio
from memory_mcp.app import open_app
from memory_mcp.search.hit import SearchRequest
from memory_mcp.settings import load

async def main():
    async with open_app(load(os.environ, {}).config) as app:
        app.start()
        await app.settled(60)
        found = await app.searcher.search(SearchRequest(sys.stdin.read()))
        print(found.hits[0].card.reference)

anyio.run(main)
"""
SMALL_TALK = "thanks, go on"


@dataclass(slots=True)
class Row:
    """The times of one kind of process, in seconds, and what it printed at most."""

    title: str
    times: list[float] = field(default_factory=list)
    units: int = 0
    codes: set[int] = field(default_factory=set)
    missed: int = 0
    """Runs that did not print what they should, since the time was up."""


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--few", type=int, default=5, help="runs of what takes seconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        fill(home, options.notes)
        try:
            _measure(home, options.runs, options.few)
        finally:
            stop_engine(home)


def _measure(home: Path, runs: int, few: int) -> None:
    keeper = _warm(home)
    bare = Row("`python -c pass`")
    rows = [
        _hooks(home, bare, "prompt, a note is shown", "user-prompt-submit", runs, QUESTION, WORD),
        _hooks(home, bare, "prompt, nothing to say", "user-prompt-submit", runs, SMALL_TALK),
        _hooks(home, bare, "start of a session", "session-start", runs, "", "case-1"),
        _hooks(home, bare, "stop: the transcript is noted", "stop", runs, ""),
        _still(home, few),
    ]
    _print([bare, *rows], bare)
    keeper.end()
    stop_engine(home)
    print("\nThe same for what loads more, and for a home without an engine:\n", flush=True)
    rows = [
        _all_in_the_hook(home, few),
        _no_engine(home, "no engine: prompt", "user-prompt-submit", few),
        _no_engine(home, "no engine: start of a session", "session-start", few),
    ]
    _print(rows, bare)


def _warm(home: Path) -> Client:
    """An engine that has all the vectors, kept by a client."""
    client = Client(command(), environment(home))
    client.hello()
    while client.age < 900:
        answer = client.search(QUESTION)
        if answer["degraded"] is None and answer["hits"]:
            return client
        time.sleep(0.1)
    raise SystemExit("the index was not ready after 900 s")


def _hooks(
    home: Path, bare: Row, title: str, event: str, runs: int, prompt: str, proof: str = ""
) -> Row:
    row = Row(title)
    for number in range(runs):
        bare.times.append(_timed(Row(""), lambda: subprocess.run(BARE, check=True)))
        out = _hook(home, row, event, prompt, f"session-{title}-{number}")
        row.missed += proof not in out or bool(proof) is not bool(out)
    return row


def _hook(home: Path, row: Row, event: str, prompt: str, session: str) -> str:
    said: Json = {"session_id": session, "cwd": str(home), "source": "startup", "prompt": prompt}
    said["transcript_path"] = str(home / "transcript.jsonl")
    words, data = command("hook", event), json.dumps(said).encode()
    done: list[subprocess.CompletedProcess[bytes]] = []

    def once() -> None:
        done.append(
            subprocess.run(
                words, input=data, env=environment(home), capture_output=True, check=False
            )
        )

    _timed(row, once)
    row.codes.add(done[0].returncode)
    out = done[0].stdout.decode("utf-8")
    row.units = max(row.units, len(out.encode("utf-16-le")) // 2)
    return out


def _timed(row: Row, work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    row.times.append(time.perf_counter() - begin)
    return row.times[-1]


def _still(home: Path, few: int) -> Row:
    """The engine is there and does not move."""
    row = Row("an engine that stands still")
    pid = engine_pid(home)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        for number in range(few):
            _hook(home, row, "user-prompt-submit", QUESTION, f"still-{number}")
    finally:
        os.kill(pid, signal.SIGCONT)
    return row


def _no_engine(home: Path, title: str, event: str, few: int) -> Row:
    row = Row(title)
    for number in range(few):
        _hook(home, row, event, QUESTION, f"none-{number}")
        _warm(home).end()  # the one that was started, so that it can be stopped in order
        stop_engine(home)
    return row


def _all_in_the_hook(home: Path, few: int) -> Row:
    row = Row("everything loaded in the hook")
    words = [sys.executable, "-c", ALL_IN_THE_HOOK]
    for _ in range(few):
        _timed(
            row,
            lambda: subprocess.run(
                words,
                input=QUESTION.encode(),
                env=environment(home),
                check=True,
                stdout=subprocess.DEVNULL,
            ),
        )
    row.codes.add(0)
    return row


def _print(rows: Sequence[Row], bare: Row) -> None:
    print("Milliseconds from start to end of the process; x: ratio to the same figure of the bare")
    print("interpreter. Printed: UTF-16 units at most.\n")
    print("| process | runs | p50 | x | p95 | x | worst | printed | time was up | exit code |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    middle, late = statistics.median(bare.times), _late(bare.times)
    for row in rows:
        half, most = statistics.median(row.times), _late(row.times)
        cells = (
            f"{len(row.times)} | {half * 1e3:.0f} | {half / middle:.1f} | {most * 1e3:.0f}"
            f" | {most / late:.1f} | {max(row.times) * 1e3:.0f}"
        )
        codes = ", ".join(map(str, sorted(row.codes))) or "0"
        print(f"| {row.title} | {cells} | {row.units or '-'} | {row.missed} | {codes} |")


def _late(times: Sequence[float]) -> float:
    """The 95th percentile."""
    ordered = sorted(times)
    return ordered[math.ceil(0.95 * len(ordered)) - 1]


if __name__ == "__main__":
    main()
