"""Long work in slices: on the event loop others get their turn every five milliseconds, and
work on a thread comes back to the loop every ten.

The interpreter shares its lock evenly. A thread that has work for a second takes half of each
moment from the loop, a second thread a third; one that has come back gets its next piece only when
the loop is done with what it was about.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from anyio import to_thread
from anyio.lowlevel import checkpoint

Item = TypeVar("Item")
Result = TypeVar("Result")

SLICE_SECONDS = 0.005
THREAD_SECONDS = 0.01


class Slices:
    """Call `pause` after each small piece of work on the event loop."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    async def pause(self) -> None:
        """Let others run, if the slice is used up."""
        if time.monotonic() - self._since > SLICE_SECONDS:
            await checkpoint()
            self._since = time.monotonic()


async def on_thread(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """What `work` makes of each item, on worker threads, a slice at a time."""
    results: list[Result] = []
    while len(results) < len(items):
        results += await to_thread.run_sync(first_of, work, items[len(results) :])
    return results


def first_of(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """What `work` makes of the first item, and of as many more as fit into a slice."""
    end = time.monotonic() + THREAD_SECONDS
    results: list[Result] = []
    for item in items:
        results.append(work(item))
        if time.monotonic() > end:
            break
    return results
