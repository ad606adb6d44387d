"""Real processes: a server on its standard streams, and a front for each client of an engine."""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import anyio
from anyio.abc import Process
from client import command, engine_pid, environment, stop_engine
from fuzz_checks import Breach, Ear
from fuzz_messages import Line
from fuzz_wires import END_SECONDS, Place, Wire


@asynccontextmanager
async def on_stdio(home: Path, ear: Ear) -> AsyncIterator[Place]:
    """A whole server for each connection."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Wire]:
        async with started(home, ear, "--in-process") as wire:
            yield wire

    yield Place(home, connect, None)


@asynccontextmanager
async def through_front(home: Path, ear: Ear) -> AsyncIterator[Place]:
    """A front for each connection, and one engine behind them all."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Wire]:
        async with started(home, ear) as wire:
            yield wire

    async with engine(home, ear) as pid:
        yield Place(home, connect, pid)


@asynccontextmanager
async def engine(home: Path, ear: Ear) -> AsyncIterator[int]:
    """The engine of a home, from before the first client until after the last; its process."""
    with subprocess.Popen(  # noqa: ASYNC220 - it lives longer than any call
        command(), env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as first:
        try:
            pid = await _running(home)
            yield pid
            if engine_pid(home) != pid:
                raise Breach("the engine is not the one that was there at the start")
        finally:
            assert first.stdin is not None
            first.stdin.close()
            first.wait(END_SECONDS)  # one that is still there would start another engine
            stop_engine(home)
    log = home / ".state" / "engine.log"
    if log.exists():
        listen_to(log.read_bytes(), ear)


async def _running(home: Path) -> int:
    with anyio.fail_after(END_SECONDS * 4):
        while (pid := engine_pid(home)) is None:
            await anyio.sleep(0.05)
    return pid


@asynccontextmanager
async def started(home: Path, ear: Ear, *flags: str) -> AsyncIterator[Wire]:
    """A process that speaks MCP on its standard streams. Its log is listened to at the end."""
    with tempfile.TemporaryFile() as log:
        process = await anyio.open_process(
            command(*flags), env=environment(home), cwd=home, stderr=log
        )
        wire = _Pipes(process)
        try:
            yield wire
        finally:
            await wire.kill()
            _read_log(log, ear)


def _read_log(log: IO[bytes], ear: Ear) -> None:
    log.seek(0)
    listen_to(log.read(), ear)


def listen_to(log: bytes, ear: Ear) -> None:
    """What a process has logged."""
    for line in log.decode("utf-8", "replace").splitlines():
        ear.hear(line, "ERROR" in line)


class _Pipes:
    """The standard streams of a process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def send(self, lines: Sequence[Line], rng: random.Random) -> None:
        """Send lines."""
        assert self._process.stdin is not None
        await self._process.stdin.send(b"".join(line.data for line in lines))

    async def heard(self) -> AsyncIterator[bytes]:
        """Bytes of the server."""
        assert self._process.stdout is not None
        async for data in self._process.stdout:
            yield data

    async def close(self) -> None:
        """End the input; the process must end with code 0."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        with anyio.move_on_after(END_SECONDS):
            code = await self._process.wait()
            if code != 0:
                raise Breach(f"the process ended with code {code}")
            return
        raise Breach("the process did not end with its input")

    async def kill(self) -> None:
        """End the process where it is still there."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.aclose()
