"""Which folder is the home, and where its processes keep what they share."""

from __future__ import annotations

import contextlib
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STATE = ".state"
FILE = "engine.json"
ENGINE_LOCK = "engine.lock"
START_LOCK = "start.lock"
LOG = "engine.log"

PATH_BYTES = 100
"""Of a socket's path; systems allow 104 to 108."""


def home_of(environ: Mapping[str, str], flag: object = None) -> str:
    """The real path of the home that `--home`, the environment or the default names."""
    text = str(flag) if flag else environ.get("MEMORY_MCP_HOME") or "~/.memory-mcp"
    if text == "~" or text.startswith("~/"):
        text = (environ.get("HOME") or os.path.expanduser("~")) + text[1:]
    return os.path.realpath(os.path.expanduser(text))


def state_file(home: str, name: str) -> str:
    """The path of a file in the state folder of a home."""
    return os.path.join(home, STATE, name)


def make_state(home: str) -> None:
    """Make the state folder, for this user only. Raises OSError."""
    folder = os.path.join(home, STATE)
    os.makedirs(home, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if stat.S_ISDIR(found.st_mode) and is_own(found) and found.st_mode & 0o077:
        os.chmod(folder, 0o700)


def identity(folder: str) -> tuple[int, int] | None:
    """Which folder a path leads to now; None where there is none. A copy is another one."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_own(found: os.stat_result) -> bool:
    """Whether a file belongs to this user."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def candidates(home: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Where the socket of a home may lie, best first, as far as the paths are short enough."""
    import hashlib
    import tempfile

    temporary = environ.get("TMPDIR") or tempfile.gettempdir()
    name = hashlib.sha256(os.fsencode(os.path.realpath(home))).hexdigest()[:24] + ".sock"
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        yield from _short(os.path.join(runtime, "memory-mcp", name))
    yield from _short(state_file(home, "engine.sock"))
    user = os.getuid() if hasattr(os, "getuid") else os.getpid()
    yield from _short(os.path.join(temporary, f"memory-mcp-{user}", name))


def _short(path: str) -> Iterator[str]:
    if len(os.fsencode(path)) <= PATH_BYTES:
        yield path
