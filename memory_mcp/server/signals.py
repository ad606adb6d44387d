"""The signals that ask a process to end, heeded inside an event loop.

A server knows them before it knows anything else: what is slow to import waits for the loop.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable


def ending_signals() -> tuple[signal.Signals, ...]:
    """Those that this system has."""
    names = ("SIGTERM", "SIGINT", "SIGHUP")
    return tuple(signal.Signals[name] for name in names if name in signal.Signals.__members__)


async def heed(act: Callable[[], None]) -> None:
    """Call `act` on the event loop for each signal, until cancelled. Only in the main thread."""
    import anyio

    if sys.platform == "win32":  # event loops take no signals there
        await _heed_on_windows(act)
    with anyio.open_signal_receiver(*ending_signals()) as received:
        async for _ in received:
            act()


async def _heed_on_windows(act: Callable[[], None]) -> None:
    import asyncio

    import anyio

    loop = asyncio.get_running_loop()
    for number in ending_signals():
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(act))
    await anyio.sleep_forever()
