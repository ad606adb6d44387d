"""What many clients on one home cost: a shared engine beside a full server for each client.

    python benchmarks/clients.py [--notes 1000] [--counts 1,5,10] [--rounds 20]

For each number of clients: the memory of all processes; process start to the first hit, the
slowest of clients that start together; a write in one client until another has found it; for the
engine also from kill -9 until the next answer. Linux, for it reads /proc. The engine is warm when
clients start, as for every window but the first; what the first one waits is a row of its own.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from client import Client, clients, command, engine_pid, environment, memory, stop_engine
from corpus import QUESTION, WORD, fill

PATIENCE = 600.0


@dataclass(slots=True)
class Row:
    """One way to serve so many clients. Memory in MB, times in seconds."""

    title: str
    clients: int
    rss: float = 0.0
    pss: float = 0.0
    each: float = 0.0
    """Proportional set of one more client."""
    each_rss: float = 0.0
    words: float = 0.0
    hybrid: float = 0.0
    found: list[float] = field(default_factory=list)
    back: list[float] = field(default_factory=list)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--counts", default="1,5,10")
    parser.add_argument("--rounds", type=int, default=20, help="writes that are looked for")
    parser.add_argument("--kills", type=int, default=5, help="kills of the engine")
    options = parser.parse_args()
    counts = [int(text) for text in options.counts.split(",")]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, options.notes)
        _warm(home)
        rows.append(_first(home))
        for count in counts:
            rows.append(_engine(home, count, options.rounds, options.kills))
            rows.append(_servers(home, count, options.rounds))
    _print(rows)


def _warm(home: Path) -> None:
    """Index once, so that every start finds the stored index."""
    with clients(1, command("--in-process"), environment(home)) as (client,):
        client.hello()
        _until_hybrid(client)


def _first(home: Path) -> Row:
    """The first client of the day: it starts the engine."""
    row = Row("first client, starts the engine", 1)
    with clients(1, command(), environment(home)) as (client,):
        client.hello()
        row.words, row.hybrid = _until_words(client), _until_hybrid(client)
    stop_engine(home)
    return row


def _engine(home: Path, count: int, rounds: int, kills: int) -> Row:
    row, env = Row("one engine", count), environment(home)
    with ExitStack() as stack:
        (keeper,) = stack.enter_context(clients(1, command(), env))
        keeper.hello()
        _until_hybrid(keeper)
        others = stack.enter_context(clients(count, command(), env))
        _start(others, row)
        keeper.end()  # it was there to warm the engine; only those who are counted stay
        engine = engine_pid(home)
        assert engine is not None, "the engine does not say where it is"
        _measure_memory(row, [engine], others)
        _measure_found(row, others, rounds)
        for _ in range(kills):
            _measure_back(row, home, others[0])
    stop_engine(home)
    return row


def _servers(home: Path, count: int, rounds: int) -> Row:
    row = Row("full servers", count)
    with clients(count, command("--in-process"), environment(home)) as servers:
        _start(servers, row)
        _measure_memory(row, [], servers)
        _measure_found(row, servers, rounds)
    return row


def _start(started: Sequence[Client], row: Row) -> None:
    """Shake hands and search with all at once; the slowest counts."""

    def one(client: Client) -> tuple[float, float]:
        client.hello()
        return _until_words(client), _until_hybrid(client)

    with ThreadPoolExecutor(len(started)) as pool:
        times = list(pool.map(one, started))
    row.words = max(words for words, _ in times)
    row.hybrid = max(hybrid for _, hybrid in times)


def _measure_memory(row: Row, shared: Sequence[int], started: Sequence[Client]) -> None:
    own = [memory(client.process.pid) for client in started]
    all_of = [*own, *(memory(pid) for pid in shared)]
    row.rss, row.pss = sum(rss for rss, _ in all_of), sum(pss for _, pss in all_of)
    row.each = statistics.mean(pss for _, pss in own)
    row.each_rss = statistics.mean(rss for rss, _ in own)


def _measure_found(row: Row, started: Sequence[Client], rounds: int) -> None:
    """From the return of a write in one client to the answer that has it in another."""
    writer, reader = started[0], started[-1]
    for number in range(rounds):
        mark = f"zq{number}x{os.getpid()}x{row.clients}{row.title.replace(' ', '')}"
        writer.call("memory_write", slug=f"found-{number}", content=f"# Mark\n\nIt says {mark}.\n")
        begin = time.perf_counter()
        while not reader.search(mark, min_score=0.3)["hits"]:
            if time.perf_counter() - begin > PATIENCE:
                raise RuntimeError(f"{mark} was never found")
        row.found.append(time.perf_counter() - begin)
    for number in range(rounds):
        writer.call("memory_delete", slug=f"found-{number}")


def _measure_back(row: Row, home: Path, client: Client) -> None:
    """From the kill of the engine to the next answer with a hit."""
    pid = engine_pid(home)
    assert pid is not None, "the engine does not say where it is"
    os.kill(pid, signal.SIGKILL)
    begin = time.perf_counter()
    while not client.search(WORD)["hits"]:
        pass
    row.back.append(time.perf_counter() - begin)
    _until_hybrid(client)  # the next kill hits an engine that is ready


def _until_words(client: Client) -> float:
    while not client.search(WORD)["hits"]:
        _check(client)
    return client.age


def _until_hybrid(client: Client) -> float:
    while True:
        answer = client.search(QUESTION)
        best = answer["hits"][0] if answer["hits"] else {}
        if answer["degraded"] is None and best.get("vector_score") is not None:
            return client.age
        _check(client)
        time.sleep(0.02)


def _check(client: Client) -> None:
    if client.age > PATIENCE:
        raise RuntimeError("the note was not found in time")


def _print(rows: Sequence[Row]) -> None:
    print(
        "| | clients | memory (PSS) | memory (RSS) | a further client (PSS / RSS) | start to first"
        " hit by words | by meaning | write to found elsewhere | kill to next answer |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        size = f"{row.pss:.0f} MB | {row.rss:.0f} MB | {row.each:.1f} / {row.each_rss:.1f} MB"
        print(
            f"| {row.title} | {row.clients} | {size if row.pss else '- | - | -'}"
            f" | {row.words:.2f} s | {row.hybrid:.2f} s"
            f" | {_spread(row.found, 1000, 'ms')} | {_spread(row.back, 1, 's')} |"
        )
    _print_ratios(rows)


def _print_ratios(rows: Sequence[Row]) -> None:
    ways = {(row.title, row.clients): row for row in rows}
    print("\nThe engine as a share of full servers, same run:\n")
    print("| clients | memory (PSS) | memory (RSS) | first hit by words | by meaning | found |")
    print("|---|---|---|---|---|---|")
    for count in sorted({row.clients for row in rows}):
        ours, theirs = ways.get(("one engine", count)), ways.get(("full servers", count))
        if ours is None or theirs is None:
            continue
        found = statistics.median(ours.found) / statistics.median(theirs.found)
        print(
            f"| {count} | {ours.pss / theirs.pss:.2f} | {ours.rss / theirs.rss:.2f}"
            f" | {ours.words / theirs.words:.2f} | {ours.hybrid / theirs.hybrid:.2f}"
            f" | {found:.2f} |"
        )


def _spread(times: Sequence[float], unit: float, name: str) -> str:
    """Median and worst."""
    if not times:
        return "-"
    digits = 0 if unit > 1 else 2
    middle, worst = statistics.median(times) * unit, max(times) * unit
    return f"{middle:.{digits}f} {name} (worst {worst:.{digits}f})"


if __name__ == "__main__":
    main()
