"""Where the engine of a home is found: its files, its socket, and who may use them.

A socket is only as safe as its folder, so both sides look at the folder: it must be a real one,
belong to this user and be closed to everybody else. The token guards what has no folder (TCP).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import stat
import sys

from memory_mcp.front.home import (
    ENGINE_LOCK,
    FILE,
    LOG,
    START_LOCK,
    candidates,
    home_of,
    identity,
    is_own,
    make_state,
    state_file,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "ENGINE_LOCK",
    "LOG",
    "START_LOCK",
    "Endpoint",
    "dial",
    "folder_fault",
    "home_of",
    "identity",
    "listen",
    "make_state",
    "pid_of",
    "read",
    "remove",
    "state_file",
    "write",
]

FORMAT = 1
"""Of the endpoint file."""

FILE_BYTES = 65536
BACKLOG = 128


class Endpoint:
    """What the endpoint file of a running engine says. `address` has one key, unix or tcp."""

    __slots__ = ("address", "engine", "pid", "started", "token", "version")

    def __init__(
        self,
        engine: str,
        pid: int,
        version: str,
        started: float,
        address: dict[str, Any],
        token: str,
    ) -> None:
        self.engine = engine
        self.pid = pid
        self.version = version
        self.started = started
        self.address = address
        self.token = token

    def __repr__(self) -> str:
        return f"Endpoint({self.engine}, pid {self.pid}, {self.address})"  # never the token


def read(home: str) -> Endpoint | None:
    """What the endpoint file says; None where there is none, or none that can be used, such as
    one that came along with a copy of another home."""
    try:
        found = os.open(state_file(home, FILE), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        data = os.read(found, FILE_BYTES) if is_own(os.fstat(found)) else b""
    except OSError:
        return None
    finally:
        os.close(found)
    return _parsed(data, identity(home))


def _parsed(data: bytes, folder: tuple[int, int] | None) -> Endpoint | None:
    """`folder`: the identity of the home that the file lies in."""
    try:
        value = json.loads(data.decode("utf-8"))
        if value["memory_mcp"] != FORMAT or folder is None or value["folder"] != list(folder):
            return None
        endpoint = Endpoint(
            str(value["engine"]),
            int(value["pid"]),
            str(value["version"]),
            float(value["started"]),
            dict(value["address"]),
            str(value["token"]),
        )
        _family(endpoint.address)
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return None
    return endpoint


def write(home: str, endpoint: Endpoint) -> None:
    """Put the endpoint file in place, in one step, readable by this user only."""
    make_state(home)
    value = {
        "memory_mcp": FORMAT,
        "engine": endpoint.engine,
        "pid": endpoint.pid,
        "version": endpoint.version,
        "started": endpoint.started,
        "address": endpoint.address,
        "token": endpoint.token,
        "folder": identity(home),
    }
    path = state_file(home, FILE)
    beside = f"{path}.{os.getpid()}.tmp"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, json.dumps(value).encode("ascii") + b"\n")
    finally:
        os.close(handle)
    os.replace(beside, path)


def remove(home: str, endpoint: Endpoint) -> None:
    """Take away the endpoint file and the socket, where they still are this engine's."""
    found = read(home)
    if found is not None and found.engine != endpoint.engine:
        return
    with contextlib.suppress(OSError):
        os.unlink(state_file(home, FILE))
    path = endpoint.address.get("unix")
    if isinstance(path, str) and folder_fault(os.path.dirname(path)) is None:
        _unlink_socket(path)


def pid_of(home: str) -> int | None:
    """The process that the endpoint file names, if it is there; it may be another by now."""
    found = read(home)
    if found is None or found.pid <= 0:
        return None
    if sys.platform == "win32":
        return found.pid  # os.kill would end it there
    try:
        os.kill(found.pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass  # there, and somebody else's
    return found.pid


def listen(home: str, environ: Mapping[str, str]) -> tuple[socket.socket, dict[str, Any]]:
    """A listening socket and its address. Only for who holds the engine's lock.

    A socket file that nobody listens on is a dead engine's and is replaced. Raises OSError where
    this system allows no socket at all.
    """
    make_state(home)
    if hasattr(socket, "AF_UNIX"):
        for path in candidates(home, environ):
            bound = _bind(path)
            if bound is not None:
                return bound, {"unix": path}
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.bind(("127.0.0.1", 0))
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound, {"tcp": ["127.0.0.1", bound.getsockname()[1]]}


def _bind(path: str) -> socket.socket | None:
    folder = os.path.dirname(path)
    with contextlib.suppress(OSError):
        os.mkdir(folder, 0o700)
    if folder_fault(folder) is not None:
        return None
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            bound.bind(path)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or _alive(path):
                raise
            _unlink_socket(path)
            bound.bind(path)
        os.chmod(path, 0o600)
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        return None
    return bound


def _alive(path: str) -> bool:
    """Whether somebody listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # in doubt, as when it is too busy to take another
    return True


def _unlink_socket(path: str) -> None:
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        if stat.S_ISSOCK(found.st_mode) and is_own(found):
            os.unlink(path)


def folder_fault(folder: str) -> str | None:
    """Why a folder must not hold a socket of ours; None where it may."""
    try:
        found = os.lstat(folder)
    except OSError as error:
        return f"{folder} cannot be looked at: {error.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is no folder"
    if not is_own(found):
        return f"{folder} belongs to another user"
    if os.name == "posix" and found.st_mode & 0o077:
        return f"{folder} is open to other users; allow only yourself: chmod 700"
    return None


def dial(endpoint: Endpoint, timeout: float) -> socket.socket:
    """A connection to that engine; `timeout` in seconds stays set on it.

    Raises ConnectionRefusedError or FileNotFoundError where nobody listens, BlockingIOError
    or TimeoutError where the engine is too busy, PermissionError where the socket's folder is
    not safe.
    """
    kind, place = _family(endpoint.address)
    if kind == "unix":
        fault = folder_fault(os.path.dirname(str(place)))
        if fault is not None:
            raise (PermissionError(fault) if os.path.lexists(str(place)) else FileNotFoundError())
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        connection.settimeout(timeout)
        connection.connect(place)
    except OSError:
        connection.close()
        raise
    return connection


def _family(address: Mapping[str, Any]) -> tuple[str, Any]:
    """The kind of an address and what `connect` wants. Raises ValueError for any other."""
    if isinstance(address.get("unix"), str) and hasattr(socket, "AF_UNIX"):
        return "unix", address["unix"]
    host, port = address["tcp"]
    if host != "127.0.0.1" or not isinstance(port, int) or not 0 < port < 65536:
        raise ValueError(f"{host}:{port} is not on this machine")
    return "tcp", (host, port)
