"""Starting an engine: its lock, its settings, its socket; then it serves until it has to go."""

from __future__ import annotations

import json
import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from filelock import FileLock, Timeout

from memory_mcp import __version__
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.front import endpoint as places
from memory_mcp.front.endpoint import Endpoint

LOG_BYTES = 1_000_000
"""Beyond this the log of a detached engine begins anew; the one before stays beside it."""

_DESCRIPTORS = 4096

log = logging.getLogger(__name__)


def run(environ: Mapping[str, str], home_flag: object, detached: bool) -> int:
    """Run the engine of a home until it is idle, stopped or replaced; the exit code.

    `detached`: somebody who starts it reads one line of JSON on stdout that says whether it came
    up. Another engine on the home is no failure: 0.
    """
    _allow_many_connections()
    home = places.home_of(environ, home_flag)
    report = Report(detached)
    try:
        places.make_state(home)
        lock = FileLock(places.state_file(home, places.ENGINE_LOCK), timeout=0, mode=0o600)
        lock.acquire()
    except Timeout:
        return report.failed("running", [_running(home)], code=0)
    except OSError as error:
        return report.failed("failed", [f"{home}: {error.strerror or error}"])
    try:
        return _locked(environ, home, report, detached)
    finally:
        lock.release()


def _running(home: str) -> str:
    pid = places.pid_of(home)
    which = "which is starting" if pid is None else f"process {pid}"
    return f"an engine runs on {home} already ({which}); memory-mcp engine status says who uses it"


def _locked(environ: Mapping[str, str], home: str, report: Report, detached: bool) -> int:
    _open_log(home, detached)
    from memory_mcp.server.startup import hasten_imports

    hasten_imports()
    from memory_mcp.notes.sources import open_sources
    from memory_mcp.server.engine.greeting import Door

    token = secrets.token_hex(16)
    try:
        door = Door(home, token, environ)
        open_sources(door.config, own=False)
    except MemoryMcpError as error:
        return report.failed("config", str(error).splitlines())
    for warning in door.loaded.warnings:
        log.warning("%s", warning)
    try:
        bound, address = places.listen(home, environ)
    except OSError as error:
        return report.failed("failed", [f"no socket can be opened: {error.strerror or error}"])
    endpoint = Endpoint(
        secrets.token_hex(8), os.getpid(), __version__, time.time(), address, token
    )
    try:
        places.write(home, endpoint)
        _end_at_once_on_signals(home, endpoint)
        report.ready(home)
        import anyio

        from memory_mcp.server.engine.life import Engine

        fine = anyio.run(Engine(home, door, endpoint, environ, watchdog).run, bound)
    except Exception as error:  # noqa: BLE001 - the last frame: the reason goes to the log
        _log_failure(error)
        return 1
    finally:
        places.remove(home, endpoint)
    return 0 if fine else 1


def _end_at_once_on_signals(home: str, endpoint: Endpoint) -> None:
    """While nothing is open yet, a signal that ends the process only has to tidy up."""

    def end(*_: object) -> None:
        places.remove(home, endpoint)
        leave(0)

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):  # without anyio, which is not imported yet
        if not hasattr(signal, name):
            continue
        number = getattr(signal, name)
        signal.signal(number, end)


def _allow_many_connections() -> None:
    """Each client is a descriptor, and the usual limit is low; the hard one is ours to use."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Report:
    """The one line for who started us, or the error for who reads stderr."""

    def __init__(self, detached: bool) -> None:
        self._detached = detached

    def ready(self, home: str) -> None:
        """The engine listens."""
        if self._detached:
            self._say({"ready": True})
        else:
            text = f"the engine of {home} listens (process {os.getpid()}); Ctrl-C ends it"
            sys.stderr.write(f"memory-mcp: {text}\n")

    def failed(self, error: str, messages: list[str], code: int = 1) -> int:
        """It does not; returns the exit code."""
        if self._detached:
            self._say({"ready": False, "error": error, "messages": messages})
        else:
            for message in messages:
                sys.stderr.write(f"memory-mcp: {message}\n")
        return code

    def _say(self, values: dict[str, Any]) -> None:
        try:
            os.write(1, json.dumps({"memory_mcp": 1, **values}).encode() + b"\n")
        except OSError:
            log.warning("who started this engine is gone")
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.close(nothing)


def _open_log(home: str, detached: bool) -> None:
    """Log to stderr, which is the log file where nobody watches."""
    if detached:
        _rotate(Path(places.state_file(home, places.LOG)))
    logging.basicConfig(
        level=logging.WARNING,
        stream=sys.stderr,
        format=f"%(asctime)s [{os.getpid()}] %(levelname)s: %(message)s",
    )


def _rotate(path: Path) -> None:
    try:
        if path.stat().st_size < LOG_BYTES:
            return
        path.replace(path.with_name(f"{path.name}.1"))
        fresh = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return  # then the log grows on
    os.dup2(fresh, 2)
    os.close(fresh)


def _log_failure(error: BaseException) -> None:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, MemoryMcpError):
        log.error("%s", error)
        return
    from memory_mcp.index.frames import frames

    log.error("the engine ended: %s", frames(error))


def watchdog(seconds: float) -> None:
    """From now on the process has so long to live: everything that matters is on disk."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


def leave(code: int) -> NoReturn:
    """End the process now, whatever threads still wait for."""
    sys.stderr.flush()
    os._exit(code)
