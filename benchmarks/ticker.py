"""How late an event loop wakes up, and why: its own work, and what is the machine's part.

The machine's is told twice, since a scheduler favours who sleeps: by how late a process was that
does nothing else, and by how long the loop's thread stood ready and had no core.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO

import anyio
import numpy as np

TICK_SECONDS = 0.002
LONG_MS = 50.0
_NOTED = 0.001  # seconds: what the bare ticker does not tell is less
_BARE = f"""
import os, time
parent = os.getppid()
while os.getppid() == parent:
    begin = time.perf_counter()
    time.sleep({TICK_SECONDS})
    late = time.perf_counter() - begin - {TICK_SECONDS}
    if late > {_NOTED}:
        print(1000 * late, flush=True)
"""


class Ticker:
    """Notes how late the event loop wakes up, and how much processor time its thread took
    meanwhile. The rest of the time another thread had the interpreter, or another process the
    processor; `bare` is what a process saw that only sleeps. Made on the loop's thread."""

    def __init__(self, bare: IO[str]) -> None:
        self._waited = _waited()
        self._bare = bare
        self._late: list[float] = []
        self._own: list[float] = []
        self._taken = False

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            begin, worked = time.perf_counter(), time.thread_time()
            await anyio.sleep(TICK_SECONDS)
            if self._taken:  # to read a long stretch takes the loop's time, too
                self._taken = False
                continue
            self._late.append(1000 * (time.perf_counter() - begin - TICK_SECONDS))
            self._own.append(1000 * (time.thread_time() - worked))

    def take(self) -> dict[str, float]:
        """Milliseconds since the last call: the longest, and how many were above 50."""
        self._taken = True
        late, self._late = self._late or [0.0], []
        own, self._own = self._own or [0.0], []
        bare = [float(line) for line in self._bare.read().splitlines()] or [0.0]
        before, self._waited = self._waited, _waited()
        return {
            "waited_s": self._waited - before,
            "longest_ms": max(late),
            "p99_ms": float(np.quantile(late, 0.99)),
            "above_50": sum(one > LONG_MS for one in late),
            "own_ms": max(own),
            "bare_ms": max(bare),
            "bare_above_50": sum(one > LONG_MS for one in bare),
        }


def _waited() -> float:
    """Seconds that this thread stood ready and had no core, since it began; 0 where the system
    does not tell."""
    try:
        return (
            int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
        )
    except OSError:
        return 0.0


@contextmanager
def _bare_ticker() -> Iterator[IO[str]]:
    """Another process that sleeps and wakes; what it writes."""
    with (
        tempfile.NamedTemporaryFile("w", encoding="ascii") as written,
        Path(written.name).open(encoding="ascii") as seen,
    ):
        process = subprocess.Popen([sys.executable, "-c", _BARE], stdout=written)
        try:
            yield seen
        finally:
            process.terminate()
            process.wait()


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticker]:
    """A ticker at work on this loop, and the bare one beside it."""
    with _bare_ticker() as bare:
        ticker = Ticker(bare)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ticker.run)
            yield ticker
            tasks.cancel_scope.cancel()


def show(name: str, seen: dict[str, float]) -> None:
    """One line about one stretch of time."""
    print(
        f"event loop while {name}: late at most {seen['longest_ms']:.0f} ms, p99"
        f" {seen['p99_ms']:.1f}, above 50 ms {seen['above_50']:.0f} times; its own work at most"
        f" {seen['own_ms']:.0f} ms at once; a bare process late at most {seen['bare_ms']:.0f} ms,"
        f" {seen['bare_above_50']:.0f} times above 50; its thread waited {seen['waited_s']:.1f} s"
        " for a core"
    )
