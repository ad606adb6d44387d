"""Running a program that gets a text on stdin and prints another: with limits, and to its end.

Its streams are files without a name, not pipes: a process that it leaves behind cannot hold one
open and so keep us waiting, and one that does not read its input is no fault.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import anyio
from anyio.abc import Process

MOST_BYTES = 2 << 20
"""Of what a program prints, on both streams; more is no answer."""

_STDERR_BYTES = 4096  # its end, where the reason stands
_LOOK_SECONDS = 0.1  # how often the size of what was printed is looked at


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. `too_long`, `late`: it was killed for that reason."""

    code: int | None
    out: bytes
    err: bytes
    too_long: bool = False
    late: bool = False


async def run(
    arguments: Sequence[str],
    given: bytes,
    environ: Mapping[str, str],
    folder: Path,
    seconds: float,
) -> Ended:
    """Run a program in a folder. Whatever it started ends with it, in its process group, also
    where the caller is cancelled. Raises OSError where it cannot be started."""
    with TemporaryFile() as put, TemporaryFile() as out, TemporaryFile() as err:
        put.write(given)
        put.seek(0)
        process = await anyio.open_process(
            list(arguments),
            stdin=put,
            stdout=out,
            stderr=err,
            env=dict(environ),
            cwd=folder,
            start_new_session=sys.platform != "win32",
        )
        try:
            with anyio.move_on_after(seconds) as scope:
                await _wait(process, (out, err))
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
        too_long = _size((out, err)) > MOST_BYTES
        return Ended(
            process.returncode,
            _last(out, MOST_BYTES),
            _last(err, _STDERR_BYTES),
            too_long,
            scope.cancelled_caught and not too_long,
        )


async def _wait(process: Process, streams: Sequence[IO[bytes]]) -> None:
    """Until the program has ended, or has printed too much."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, streams, tasks.cancel_scope)
        await process.wait()
        tasks.cancel_scope.cancel()


async def _watch(streams: Sequence[IO[bytes]], scope: anyio.CancelScope) -> None:
    while _size(streams) <= MOST_BYTES:  # noqa: ASYNC110 - a file does not tell that it grows
        await anyio.sleep(_LOOK_SECONDS)
    scope.cancel()


def _size(streams: Sequence[IO[bytes]]) -> int:
    return sum(os.fstat(stream.fileno()).st_size for stream in streams)


def _last(stream: IO[bytes], most: int) -> bytes:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - most, 0))
    return stream.read(most)


async def _end(process: Process) -> None:
    """Kill the program and its group; nothing happens to one that has ended."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    await process.aclose()
