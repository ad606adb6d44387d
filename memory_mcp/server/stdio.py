"""MCP on this process's standard streams: taken over before any library can print on them."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from memory_mcp.server.signals import ending_signals, heed

if TYPE_CHECKING:
    from memory_mcp.core.config import Config
    from memory_mcp.server.pipes import Inlet
    from memory_mcp.settings.project import Project

END_SECONDS = 4.0
"""When the client has gone the process is gone after this time at the latest, whatever hangs."""

log = logging.getLogger(__name__)


def run(flags: Mapping[str, object]) -> int:
    """Serve one client on stdin and stdout until it goes or a signal ends it; ends the process.

    `flags` are settings by their dotted names. Returns 1 where the settings are unusable, with
    every problem on stderr; otherwise the process exits here, since a thread may still wait for
    input that never comes.
    """
    streams = take_over()
    for number in ending_signals():
        signal.signal(number, lambda *_: leave(0))  # until there is something to end in order
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="memory-mcp: %(levelname)s: %(message)s"
    )
    from memory_mcp.server.startup import hasten_imports

    hasten_imports()
    from memory_mcp.core.errors import MemoryMcpError
    from memory_mcp.settings import load
    from memory_mcp.settings.project import project_of, settled, working_folder

    try:
        loaded = load(os.environ, flags)
    except MemoryMcpError as error:
        for text in str(error).splitlines():
            sys.stderr.write(f"memory-mcp: {text}\n")
        return 1
    for warning in loaded.warnings:
        log.warning("%s", warning)
    project = project_of(loaded.config, working_folder(os.environ), os.environ)
    for warning in () if project is None else project.warnings:
        log.warning("%s", warning)
    return _serve(settled(loaded, project), project, *streams)


def take_over() -> tuple[int, int]:
    """Private duplicates of stdin and stdout; what is printed afterwards goes to stderr.

    Child processes and libraries see an empty input and cannot reach the wire.
    """
    wire_in, wire_out = _private(0), _private(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    return wire_in, wire_out


def _private(descriptor: int) -> int:
    """A duplicate above the standard streams that children do not inherit."""
    try:
        duplicate = os.dup(descriptor)
    except OSError:  # started without this stream
        duplicate = os.open(os.devnull, os.O_RDWR)
    if duplicate > 2:
        return duplicate
    try:
        return _private(descriptor)
    finally:
        os.close(duplicate)


def _serve(config: Config, project: Project | None, wire_in: int, wire_out: int) -> int:
    import anyio

    code = 0
    try:
        anyio.run(_main, config, project, wire_in, wire_out)
    except Exception as error:  # noqa: BLE001 - the last frame: the reason goes to stderr
        code = _failed(error)
    leave(code)


def _failed(error: BaseException) -> int:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    from memory_mcp.core.errors import MemoryMcpError

    if isinstance(error, MemoryMcpError):
        log.error("%s", error)
    else:
        from memory_mcp.index.frames import frames

        log.error("the server ended: %s", frames(error))
    return 1


def leave(code: int) -> NoReturn:
    """End the process now: a thread that waits for input would keep it for ever."""
    sys.stderr.flush()
    os._exit(code)


async def _main(config: Config, project: Project | None, wire_in: int, wire_out: int) -> None:
    import anyio

    from memory_mcp.server.connection import serve
    from memory_mcp.server.opening import Opening
    from memory_mcp.server.pipes import Inlet, Outlet

    # From the end of input on, for a client may go without taking what was written for it.
    inlet, outlet, opening = Inlet(wire_in, watchdog), Outlet(wire_out), Opening(config, project)
    server, state = opening.face.server, opening.state
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, inlet)
        tasks.start_soon(opening.run)
        await serve(inlet, outlet, server, state, opening.begin, opening.ready)
        watchdog()  # where the output broke first
        tasks.cancel_scope.cancel()


def watchdog() -> None:
    """From now on the process has END_SECONDS to live: everything that matters is on disk."""
    timer = threading.Timer(END_SECONDS, leave, (0,))
    timer.daemon = True
    timer.start()


async def _end_on_signal(inlet: Inlet) -> None:
    def end() -> None:
        watchdog()
        inlet.close()

    await heed(end)
