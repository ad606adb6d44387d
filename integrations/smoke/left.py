"""Processes that belong to a folder: it stands in their command line or their environment."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

PAUSE_SECONDS = 0.1


def processes(folder: Path) -> dict[int, str]:
    """The command lines of the processes that name this folder, by their numbers."""
    found = _linux if Path("/proc/self/environ").exists() else _other
    return {number: text for number, text in found(str(folder)) if number != os.getpid()}


def until_none(folder: Path, seconds: float, besides: int | None = None) -> dict[int, str]:
    """Those that are still there after this time, except one that may stay."""
    end = time.monotonic() + seconds
    while True:
        left = processes(folder)
        left.pop(besides or 0, None)
        if not left or time.monotonic() > end:
            return left
        threading.Event().wait(PAUSE_SECONDS)


def _linux(folder: str) -> list[tuple[int, str]]:
    found = []
    for place in Path("/proc").iterdir():
        if not place.name.isdecimal():
            continue
        try:
            line = (place / "cmdline").read_bytes()
            known = line + (place / "environ").read_bytes()
        except OSError:
            continue  # gone, or somebody else's
        if folder.encode() in known:
            found.append((int(place.name), line.replace(b"\0", b" ").decode(errors="replace")))
    return found


def _other(folder: str) -> list[tuple[int, str]]:
    """The same by `ps`, which shows the environment behind the command."""
    told = subprocess.run(
        ["ps", "axeww", "-o", "pid=,command="], capture_output=True, encoding="utf-8", check=True
    )
    rows = (line.split(None, 1) for line in told.stdout.splitlines() if folder in line)
    return [(int(row[0]), row[1]) for row in rows]
