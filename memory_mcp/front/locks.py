"""Locks of a home, which vanish with their holders."""

from __future__ import annotations

import contextlib
import os
import sys

from memory_mcp.front.home import ENGINE_LOCK, state_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def engine_runs(home: str) -> bool:
    """Whether an engine holds its lock: one that serves, starts, goes, or lost its endpoint file.

    Looking takes the lock for a moment, and an engine that starts just then would think another
    one runs: who is about to start one looks under the start lock.
    """
    path = state_file(home, ENGINE_LOCK)
    if not os.path.exists(path):
        return False
    with lock(path) as free:
        return not free


@contextlib.contextmanager
def lock(path: str) -> Iterator[bool]:
    """Try to hold a lock file that vanishes with its holder: whether it is ours now.

    Raises OSError where the file cannot be made."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        yield _try_lock(handle)
    finally:
        os.close(handle)  # which lets go


def _try_lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
