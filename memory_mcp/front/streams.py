"""The standard streams of a front, which belong to its client."""

from __future__ import annotations

import os
import sys

CHUNK = 1 << 16


def claim() -> None:
    """Make sure that 0, 1 and 2 are streams, so that nothing else gets these numbers, and that
    reading and writing wait: some clients hand out ends that do not."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:  # started without it
            os.open(os.devnull, os.O_RDWR)
        if sys.platform != "win32":
            os.set_blocking(number, True)
    if sys.platform == "win32":
        import msvcrt

        for number in (0, 1):
            msvcrt.setmode(number, os.O_BINARY)


def read_some() -> bytes:
    """Bytes from the client; empty at the end."""
    try:
        return os.read(0, CHUNK)
    except OSError:
        return b""


def write(descriptor: int, data: bytes) -> None:
    """Write all of it. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def say(text: str) -> None:
    """One line on stderr, where somebody may read it."""
    try:
        write(2, f"memory-mcp: {text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        return  # nobody does
