"""Locks between all processes of a home. They vanish with their holder, also when it is killed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
from filelock import FileLock, Timeout

from memory_mcp.core.errors import StorageError
from memory_mcp.notes.failure import explained

WAIT_SECONDS = 30.0
"""A holder works for milliseconds; one that is this slow sits on a disk that hangs."""

_POLL_SECONDS = 0.004
_LOOK_SECONDS = 0.02  # how often a coroutine looks, whose holders work for longer


@contextmanager
def locked(path: Path, subject: str, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock at `path`. Raises StorageError where it is not to be had in time."""
    lock = _taken(path, subject, seconds)
    if lock is None:
        raise _busy(subject, seconds)
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def held(path: Path, subject: str, seconds: float = WAIT_SECONDS) -> AsyncIterator[None]:
    """As `locked`, over what is waited for in between: a lock is its thread's, here the loop's."""
    until = anyio.current_time() + seconds
    while (lock := _taken(path, subject, 0)) is None:
        if anyio.current_time() >= until:
            raise _busy(subject, seconds)
        await anyio.sleep(_LOOK_SECONDS)
    try:
        yield
    finally:
        lock.release()


def _taken(path: Path, subject: str, seconds: float) -> FileLock | None:
    """The lock, taken; None where another one has it for all this time."""
    with explained(f"The lock of {subject}", "taken"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(path, timeout=seconds, mode=0o600)
        try:
            lock.acquire(poll_interval=_POLL_SECONDS)
        except Timeout:
            return None
        except RuntimeError as error:  # how filelock says that the system call is missing
            raise StorageError(
                f"{path.parent} is on a file system without locks; put the home on a local disk"
            ) from error
    return lock


def _busy(subject: str, seconds: float) -> StorageError:
    return StorageError(
        f"{subject} is held by another process of memory-mcp for more than"
        f" {seconds:g} seconds; try again, or end the process that hangs"
    )
