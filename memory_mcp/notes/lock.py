"""Locks between all processes of a home. They vanish with their holder, also when it is killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from memory_mcp.core.errors import StorageError
from memory_mcp.notes.failure import explained

WAIT_SECONDS = 30.0
"""A holder works for milliseconds; one that is this slow sits on a disk that hangs."""

_POLL_SECONDS = 0.004


@contextmanager
def locked(path: Path, subject: str, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock at `path`. Raises StorageError where it is not to be had in time."""
    with explained(f"The lock of {subject}", "taken"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(path, timeout=seconds, mode=0o600)
        try:
            lock.acquire(poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise StorageError(
                f"{subject} is held by another process of memory-mcp for more than"
                f" {seconds:g} seconds; try again, or end the process that hangs"
            ) from error
        except RuntimeError as error:  # how filelock says that the system call is missing
            raise StorageError(
                f"{path.parent} is on a file system without locks; put the home on a local disk"
            ) from error
    try:
        yield
    finally:
        lock.release()
