"""SQLite files that may vanish or be damaged at any moment: checked when opened, made anew if bad.

Several processes may hold one file. A file that was replaced under an open connection is noticed
by its inode and opened again. There is no write-ahead log: its index is mapped into memory, and
whoever cuts that file short ends every process that has it open, by a signal.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from memory_mcp.core.errors import StorageError

log = logging.getLogger(__name__)

Result = TypeVar("Result")
BUSY_SECONDS = 10.0
_SIDES = ("", "-wal", "-shm", "-journal")


class Database:
    """One SQLite file of a known layout. Blocking; may be used from any thread."""

    def __init__(self, path: Path, layout: str, version: int) -> None:
        """`layout`: CREATE statements; `version`: raised when the layout changes."""
        self.path = path
        self.reasons: list[str] = []
        """Why the file was made anew, one sentence each; empty where that never happened."""
        self.renewals = 0
        """How often it was made anew or found replaced: what was written before may be gone."""
        self._layout = layout
        self._version = version
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._changed = (0, 0)
        self._turn = 0

    def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """The result of `work` in one transaction. A damaged file is made anew and `work` tried
        once more; StorageError where the disk refuses (full, read-only, locked for too long)."""
        with self._lock:
            try:
                return self._twice(work)
            except sqlite3.Error as error:
                raise StorageError(self._refused(error)) from error

    def _twice(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            return self._once(work)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            self._renew(f"it was damaged ({error})")
        return self._once(work)

    def _refused(self, error: Exception) -> str:
        return (
            f"{self.path} cannot be used: {error}. The notes are safe, and the index stays in"
            " memory; make room on the disk, correct its permissions, or delete the file."
        )

    def _once(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        connection = self._current()
        with _transaction(connection):
            result = work(connection)
        self._changed, self._turn = _look(self.path)[1], turn_of(connection)
        return result

    def _current(self) -> sqlite3.Connection:
        """The open connection; opened where there is none, or the file is another one now, or it
        was changed by somebody who does not know what it is."""
        if self._connection is not None:
            inode, changed = _look(self.path)
            if inode != self._inode:
                self._shut()
                self.renewals += 1
                if not self.path.exists():
                    self._say("it was deleted while it was in use")
            elif changed != self._changed and turn_of(self._connection) == self._turn:
                self._shut()  # to be checked when it is opened again
        if self._connection is None:
            self._open()
        assert self._connection is not None
        return self._connection

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(self.path.parent, 0o700)  # noqa: PTH101 - it may have been made by a copy
            existed = self.path.exists()
        except OSError as error:
            raise StorageError(self._refused(error)) from error
        if any(side.is_dir() for side in self._sides()):
            self._renew("a folder stood in its place")
            return
        connection = self._connect()
        problem = self._problem(connection) if existed else None
        if problem is not None:
            connection.close()
            self._renew(problem)
            return
        self._lay_out(connection)
        self._keep(connection)

    def _keep(self, connection: sqlite3.Connection) -> None:
        self._connection, self._turn = connection, turn_of(connection)
        self._inode, self._changed = _look(self.path)

    def _connect(self) -> sqlite3.Connection:
        # The file is made here, since SQLite would give it the mode of the umask.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
        return sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    def _problem(self, connection: sqlite3.Connection) -> str | None:
        """Why this file cannot be used, or None."""
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            state = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            return f"it was damaged ({error})"
        if state != "ok":
            return f"it was damaged ({str(state).splitlines()[0]})"
        if version not in (0, self._version):
            return f"it has layout {version} and this version uses layout {self._version}"
        return None

    def _lay_out(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA user_version").fetchone()[0] == self._version:
            return
        with _transaction(connection):
            for statement in self._layout.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._version}")

    def _renew(self, reason: str) -> None:
        """Delete the file and start again; only one process at a time may do so."""
        self._shut()
        lock = FileLock(
            self.path.with_name(f"{self.path.name}.lock"), timeout=BUSY_SECONDS, mode=0o600
        )
        try:
            with lock:
                connection = self._renewed_by_another() or self._made_anew()
        except (OSError, Timeout) as error:
            raise StorageError(self._refused(error)) from error
        self._keep(connection)
        self.renewals += 1
        self._say(reason)

    def _say(self, reason: str) -> None:
        self.reasons.append(f"{self.path.name} was made anew: {reason}")
        log.warning("%s; it is filled again from the notes", self.reasons[-1])

    def _made_anew(self) -> sqlite3.Connection:
        for side in self._sides():
            if side.is_dir():
                side.rmdir()  # only where it is empty: nothing of ours is in a folder
            else:
                side.unlink(missing_ok=True)
        connection = self._connect()
        self._lay_out(connection)
        return connection

    def _renewed_by_another(self) -> sqlite3.Connection | None:
        """The file where another process has made it anew already, or it was only emptied."""
        if not self.path.is_file():
            return None
        connection = self._connect()
        try:
            if self._problem(connection) is None:
                self._lay_out(connection)
                return connection
        except sqlite3.Error:
            pass  # it cannot be read: the caller makes it anew
        connection.close()
        return None

    def _sides(self) -> list[Path]:
        return [self.path.with_name(self.path.name + side) for side in _SIDES]

    def _shut(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._shut()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Damage of the file, not a busy, full or read-only disk."""
    if isinstance(error, sqlite3.OperationalError):
        return "malformed" in str(error) or "no such" in str(error)
    return type(error) is sqlite3.DatabaseError


def turn_of(connection: sqlite3.Connection) -> int:
    """A number that changes when another connection has written. Raises sqlite3.Error."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _look(path: Path) -> tuple[int, tuple[int, int]]:
    """(inode, (time of the last change, size)) of a file; inode -1 where there is none."""
    try:
        found = path.stat()
    except OSError:
        return -1, (0, 0)
    return found.st_ino, (found.st_mtime_ns, found.st_size)
