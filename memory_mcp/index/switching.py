"""How soon the event loop gets the interpreter's lock from a thread that is at work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SECONDS = 0.001


@contextmanager
def quick() -> Iterator[None]:
    """While threads work beside an event loop: have them give the lock away after one millisecond.

    By default a thread keeps it for five, each time that the loop waits for a file, a socket or a
    matrix product, and so does each other thread that waits for it before the loop.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
