"""Stopping the engine of a home, also one that does not answer any more."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

from memory_mcp.front import endpoint as places
from memory_mcp.front.ask import BadSettings, Failure, NoEngine, ask
from memory_mcp.front.locks import engine_runs
from memory_mcp.front.starting import LOOK_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from memory_mcp.front.endpoint import Endpoint

ANSWER_SECONDS = 2.0
"""How long an engine may take to say that it will stop."""

GO_SECONDS = 6.0
"""How long it may take to go then, or after a signal."""

_tick = threading.Event()


class StillThere(Exception):
    """The engine could not be stopped, and why."""


def stop(
    environ: Mapping[str, str], flags: Mapping[str, object]
) -> Literal["none", "stopped", "killed"]:
    """Stop the engine and wait until it has gone. Raises StillThere.

    One that does not answer is ended by signals, where it is known to be an engine: its lock is
    held, and the process that the endpoint file names is one of this program."""
    home = places.home_of(environ, flags.get("home"))
    if not engine_runs(home):
        return "none"
    found = _found(home, GO_SECONDS)
    if (_told(home, environ) and _gone(home, GO_SECONDS)) or not engine_runs(home):
        return "stopped"
    _end(home, found)
    return "killed"


def _found(home: str, seconds: float) -> Endpoint | None:
    """Where the engine is. One that is coming is not to be found yet, one that is going not any
    more: None where it has gone, or still hides after so many seconds."""
    deadline = time.monotonic() + seconds
    found = places.read(home)
    while found is None and engine_runs(home) and time.monotonic() < deadline:
        _tick.wait(LOOK_SECONDS)
        found = places.read(home)
    return found


def _told(home: str, environ: Mapping[str, str]) -> bool:
    """Whether the engine took the order."""
    try:
        ask(home, environ, {}, "stop", {}, start=False, seconds=ANSWER_SECONDS)
    except (NoEngine, BadSettings, Failure):
        return False
    return True


def _end(home: str, found: Endpoint | None) -> None:
    """End an engine that does not answer. Raises StillThere."""
    path = places.state_file(home, places.ENGINE_LOCK)
    if found is None or not _is_engine(found.pid, path):
        raise StillThere(
            f"an engine holds {path}, but which process it is cannot be told; end it by hand"
        )
    for number in _signals():
        with contextlib.suppress(ProcessLookupError):  # it has just gone
            os.kill(found.pid, number)
        if _gone(home, GO_SECONDS / 3):
            places.remove(home, found)
            return
    raise StillThere(f"the engine (process {found.pid}) does not go; end it by hand")


def _signals() -> list[int]:
    names = ("SIGTERM", "SIGKILL")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def _gone(home: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while engine_runs(home):
        if time.monotonic() > deadline:
            return False
        _tick.wait(LOOK_SECONDS)
    return True


def _is_engine(pid: int, path: str) -> bool:
    """Whether a process is the engine that holds the lock, and not another that got its number;
    where open files cannot be looked at, whether it is an engine of this program."""
    if sys.platform == "win32":
        return True  # nobody else can hold the lock, and there is no ps to ask
    held = _open_files(pid)
    if held is not None and os.path.realpath(path) not in held:
        return False
    words = _command(pid).replace("\0", " ").split()
    return "engine" in words and "run" in words


def _open_files(pid: int) -> set[str] | None:
    """The files that a process has open; None where this system does not tell."""
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    found = set()
    for name in names:
        with contextlib.suppress(OSError):  # closed meanwhile
            found.add(os.readlink(os.path.join(folder, name)))
    return found


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        pass  # no Linux, or gone
    try:
        shown = subprocess.run(
            ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, check=False
        )
    except OSError:
        return ""
    return shown.stdout.decode("utf-8", "replace")
