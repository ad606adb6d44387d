"""Garbage collection beside millions of objects that stay: it would walk all of them again and
again, while nothing else runs, for 1 s at 30,000 passages."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def filling() -> Iterator[None]:
    """While much is made that stays: collect nothing, and keep it out of later collections."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
    gc.freeze()


def settle() -> None:
    """What was just made and is no garbage yet is here to stay."""
    gc.collect(1)
    gc.freeze()
