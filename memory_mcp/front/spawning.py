"""Starting processes: an engine that outlives us, or a server for this client alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from memory_mcp.front.hello import decode
from memory_mcp.front.home import LOG, state_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TAIL_BYTES = 4096
"""Of the log, to find why an engine ended without a word."""

REPORT_BYTES = 1 << 20
_SWITCHES = {"read_only": "--read-only"}


def program(*words: str) -> list[str]:
    """The command line of this program. Raises OSError where its Python is not known."""
    if not sys.executable:
        raise OSError("the path of the Python interpreter is not known")
    return [sys.executable, "-P", "-m", "memory_mcp", *words]


def surroundings(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that must find this very package, from any folder.

    An installed one is found anyway; one that runs from its sources is named by PYTHONPATH.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if os.path.basename(root) in ("site-packages", "dist-packages"):
        return dict(environ)
    paths = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if root not in paths:
        paths.insert(0, root)
    return {**environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths))}


def begin(home: str, environ: Mapping[str, str], report: int) -> subprocess.Popen[bytes]:
    """Start an engine that outlives us; `report`: where its report goes, as `Popen` takes it.

    Raises OSError where no process can be started.
    """
    log = os.open(
        state_file(home, LOG),
        os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0),
        0o600,
    )
    try:
        return subprocess.Popen(
            program("engine", "run", "--home", home, "--detached"),
            stdin=subprocess.DEVNULL,
            stdout=report,
            stderr=log,
            cwd=home,
            env=surroundings(environ),
            start_new_session=True,
            creationflags=_detached(),
        )
    finally:
        os.close(log)


def spawn(home: str, environ: Mapping[str, str], seconds: float) -> dict[str, Any]:
    """Start an engine and return its report: `ready`, else `error` and `messages`.

    Raises OSError where no process can be started.
    """
    size = _log_size(home)
    process = begin(home, environ, subprocess.PIPE)
    watch = _Watch(process)
    if not watch.reported.wait(seconds):
        return _failed(f"no report from process {process.pid} within {seconds:.0f} s")
    report = decode(watch.line)
    if report is None:
        code = watch.code
        why = _last_line(home, size) or f"see {state_file(home, LOG)}"
        return _failed(f"process {process.pid} ended with code {code}: {why}")
    return report


def _failed(message: str) -> dict[str, Any]:
    return {"ready": False, "error": "failed", "messages": [message]}


def _detached() -> int:
    """Flags for Windows, where a session is none of ours to make."""
    flags = 0
    for name in ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP"):
        flags |= getattr(subprocess, name, 0)
    return flags


class _Watch:
    """Reads the report of an engine, and takes note of its end whenever that comes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.reported = threading.Event()
        self.line = b""
        self.code: int | None = None
        self._process = process
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        out = self._process.stdout
        assert out is not None
        with out:
            self.line = out.readline(REPORT_BYTES)
        if not self.line:
            self.code = self._process.wait()
        self.reported.set()
        self._process.wait()  # a dead child must not stay in the list of processes


def _log_size(home: str) -> int:
    try:
        return os.stat(state_file(home, LOG)).st_size
    except OSError:
        return 0


def _last_line(home: str, start: int) -> str:
    """The last line in the log since its `start`, in bytes."""
    try:
        with open(state_file(home, LOG), "rb") as log:
            log.seek(max(start, log.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def serve_alone(
    flags: Mapping[str, object], environ: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """A server for this client alone, on pipes; its errors go to ours. Raises OSError."""
    return subprocess.Popen(
        program("--in-process", *words_of(flags)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=surroundings(environ),
    )


def words_of(flags: Mapping[str, object]) -> list[str]:
    """Flags of a start on stdio as they are typed."""
    words = []
    for name, value in flags.items():
        if name in _SWITCHES:
            words += [_SWITCHES[name]] if value else []
        elif name != "in_process" and value is not None:
            words += [f"--{name}={value}"]
    return words
