"""Transcripts that wait for the curation: one small file for each, below the state folder.

The hook writes it itself, so that none is lost though no engine answers. A transcript that is
named again replaces its file, which is taken away by who has read the transcript.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time

from memory_mcp.front.home import make_state, state_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = os.path.join("transcripts", "queue")
"""Below the state folder."""

MOST = 1000
"""Transcripts that wait; beyond that the oldest are forgotten."""

_SUFFIX = ".json"


def queue(home: str, event: str, agent: str | None, payload: Mapping[str, str]) -> bool:
    """Note durably that the transcript named in `payload` has more to read, for an agent (None:
    the one of the settings); False where it names none. Raises OSError.

    The file is a JSON object: path, session, event, agent, cwd, time (UTC).
    """
    path = payload.get("transcript_path", "")
    if not path or "\0" in path:
        return False
    record = {
        "path": os.path.join(payload.get("cwd", ""), os.path.expanduser(path)),
        "session": payload.get("session_id"),
        "event": event,
        "agent": agent,
        "cwd": payload.get("cwd"),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    make_state(home)
    folder = state_file(home, FOLDER)
    os.makedirs(folder, 0o700, exist_ok=True)
    key = json.dumps([agent, record["path"]]).encode("ascii")
    _put(folder, hashlib.sha256(key).hexdigest()[:32] + _SUFFIX, record)
    return True


def _put(folder: str, name: str, record: Mapping[str, object]) -> None:
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        _make_room(folder)
    beside = f"{path}.{os.getpid()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(beside, flags, 0o600)
    try:
        os.write(handle, json.dumps(record).encode("ascii") + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(beside, path)
    _sync(folder)


def _make_room(folder: str) -> None:
    with os.scandir(folder) as found:
        files = [(entry.stat().st_mtime, entry.path) for entry in found]
    for _, path in sorted(files)[: max(len(files) - MOST + 1, 0)]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _sync(folder: str) -> None:
    """A new name is durable once its folder is; where folders can be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
