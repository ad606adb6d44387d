"""A server that is sent 200,000 lines which no honest client would send.

    python benchmarks/fuzz_protocol.py [--lines 200000] [--seed 1] [--part memory|stdio|front|http]

Most lines go over streams in memory, some through the real process on its standard streams,
through front and engine, and over HTTP. Checked: every request with a usable id is answered
exactly once and in time; answers are valid, short and tell nothing of the inside; the process
stays small; the log holds no text of notes; no file is touched that was not named. Prints a table
of kinds and outcomes; at the first breach it ends with the line that led to it and code 1.
`--connection N` sends the lines of one connection only. Linux.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from fuzz_checks import Breach, Conversation, Ear, Files, Tally, growth
from fuzz_http import over_http
from fuzz_messages import Line, Speaker
from fuzz_processes import on_stdio, through_front
from fuzz_wires import Place, Wire, furnish, in_memory

PARTS = {"memory": in_memory, "stdio": on_stdio, "front": through_front, "http": over_http}
SHARES = {"memory": 0.965, "stdio": 0.01, "front": 0.015, "http": 0.01}
GROWTH = 150.0
"""MB that a server may grow by after its warm-up."""

ANSWER_SECONDS = 30.0
AT_ONCE = 4
"""Connections that are open at the same time."""


@dataclass(slots=True)
class Run:
    """One part: how much is sent, and what came of it."""

    part: str
    lines: int
    seed: int
    connection: int | None
    tally: Tally = field(default_factory=Tally)
    planned: int = 0
    sent: int = 0
    connections: int = 0
    sizes: list[float] = field(default_factory=list)


def main() -> None:
    """Send, check, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=tuple(PARTS))
    parser.add_argument("--connection", type=int, help="only this one of each part")
    options = parser.parse_args()
    parts = [options.part] if options.part else list(PARTS)
    begin, total = time.monotonic(), 0
    try:
        for part in parts:
            share = 1.0 if options.part else SHARES[part]
            run = Run(part, int(options.lines * share), options.seed, options.connection)
            anyio.run(_run, run)
            total += run.sent
    except (Breach, BaseExceptionGroup) as group:
        breach = _first(group)
        if not isinstance(breach, Breach):
            raise
        print(f"BREACH {breach}", file=sys.stderr)
        raise SystemExit(1) from None
    print(f"\n{total:,} lines in {time.monotonic() - begin:.0f} s, seed {options.seed}: no breach")


async def _run(run: Run) -> None:
    ear = Ear()
    root = logging.getLogger()
    root.handlers[:] = [ear]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        outer = Path(folder)
        home = furnish(outer)
        files = Files(outer, home)
        async with PARTS[run.part](home, ear) as place:
            await _connections(run, place, ear)
        _heard(ear, run)
        notes = files.check()
    grown = growth(run.sizes)
    tenths = [f"{run.sizes[len(run.sizes) * part // 10]:.0f}" for part in range(10)]
    print(
        f"\n{run.part}: {run.sent:,} lines, {run.connections:,} connections, {notes:,} notes at"
        f" the end, {time.monotonic() - begin:.0f} s, {' '.join(tenths)} MB\n"
    )
    print("\n".join(run.tally.rows()), flush=True)
    if grown > GROWTH:
        raise Breach(f"{run.part}: the server grew by {grown:.0f} MB, more than {GROWTH:.0f}")


async def _connections(run: Run, place: Place, ear: Ear) -> None:
    if run.connection is not None:
        await _connection(run, run.connection, place, ear)
        return

    async def work() -> None:
        while run.planned < run.lines:
            run.connections += 1
            await _connection(run, run.connections, place, ear)

    try:
        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(work)
    except BaseExceptionGroup as group:
        raise _first(group) from None


async def _connection(run: Run, number: int, place: Place, ear: Ear) -> None:
    rng = random.Random(f"{run.seed}/{run.part}/{number}")
    speaker = Speaker(rng, rng.choice(("legacy", "legacy", "modern")))
    opened = rng.random() < 0.93
    size = min(rng.choice((1, 20, 300, 1000, 3000)), 20 + run.lines // 8)
    left = min(size, run.lines - run.planned)
    run.planned += left
    conversation = Conversation(run.tally, place.home)
    try:
        async with place.connect() as wire, anyio.create_task_group() as tasks:
            tasks.start_soon(_listen, wire, conversation)
            block = speaker.opening() if opened else []
            while left > 0:
                block += [*speaker.block(min(left, 60)), speaker.ping()]
                left -= len(block)
                run.sent += len(block)
                await _say(wire, conversation, block, rng)
                block = []
                run.sizes.append(place.size())
                _heard(ear, run)
            await wire.close()
    except BaseExceptionGroup as group:
        error = _first(group)
        if isinstance(error, Breach):
            log = "".join(f"\n{fault}" for fault in ear.faults)
            error = Breach(f"{run.part}, connection {number}: {error}{log}")
        raise error from None
    conversation.finish()


async def _say(
    wire: Wire, conversation: Conversation, block: list[Line], rng: random.Random
) -> None:
    for line in block:
        conversation.sent(line)
    await wire.send(block, rng)
    await conversation.answered(ANSWER_SECONDS)


async def _listen(wire: Wire, conversation: Conversation) -> None:
    async for data in wire.heard():
        conversation.heard(data)


def _heard(ear: Ear, run: Run) -> None:
    if ear.faults:
        raise Breach(f"{run.part}, by connection {run.connections}: {ear.faults[0]}")


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    main()
