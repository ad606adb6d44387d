"""Transcripts that have something to read: those the hooks queued, and the configured folders."""

from __future__ import annotations

import glob
import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError
from memory_mcp.curate.transcripts.forward import TEXTS
from memory_mcp.front.queueing import FOLDER
from memory_mcp.settings import load

log = logging.getLogger(__name__)

COMPACTION = "pre-compact"
"""The event after which a client forgets the details of a talk that goes on."""

_ENDINGS = (".jsonl", *TEXTS)
_TAKEN = ".taken"
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """A transcript to read. `entry` is its file in the queue, with its bytes; None for one of a
    configured folder."""

    path: str
    session: str | None = None
    event: str = ""
    cwd: str | None = None
    entry: Path | None = None
    bytes: bytes = b""


class Queue:
    """The transcripts that hooks have named for an agent, in `<home>/.state/transcripts/queue`.
    Blocking."""

    def __init__(self, home: Path, agent: str) -> None:
        self._home = home
        self._folder = home / ".state" / FOLDER
        self._agent = agent

    def all(self) -> tuple[Waiting, ...]:
        """What waits for this agent, the oldest first."""
        try:
            found = [(entry.stat().st_mtime_ns, entry) for entry in self._folder.iterdir()]
        except OSError:
            return ()
        entries = sorted(item for item in found if item[1].suffix in (".json", _TAKEN))
        if not entries:
            return ()
        default = _agent_of(self._home)
        return tuple(one for _, path in entries if (one := self._read(path, default)) is not None)

    def done(self, waiting: Waiting) -> None:
        """A transcript was read to its end: its file goes, unless a hook named it again since."""
        entry = waiting.entry
        if entry is None:
            return
        taken = entry.with_suffix(_TAKEN)
        with suppress(FileNotFoundError):
            if entry != taken:
                entry.replace(taken)
            if taken.read_bytes() != waiting.bytes and not entry.exists():
                taken.replace(entry.with_suffix(".json"))
            else:
                taken.unlink()

    def _read(self, path: Path, default: str) -> Waiting | None:
        try:
            data = path.read_bytes()
            value = json.loads(data)
            agent = value.get("agent") or default
            named = value["path"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.warning("%s is no queued transcript: %s", path.name, type(error).__name__)
            return None
        if agent != self._agent or not isinstance(named, str):
            return None
        session, event, cwd = (_text(value.get(key)) for key in ("session", "event", "cwd"))
        return Waiting(named, session, event or "", cwd, path, data)


def in_folders(patterns: Sequence[str], home: Path) -> Iterator[Waiting]:
    """The transcripts of `curation.transcripts`: files, folders with all below them, and globs;
    relative ones start at the home. Blocking."""
    seen: set[str] = set()
    for pattern in patterns:
        for path in sorted(_matching(pattern, home)):
            real = os.path.realpath(path)
            if real not in seen and len(seen) < _MOST:
                seen.add(real)
                yield Waiting(path)


def _matching(pattern: str, home: Path) -> Iterator[str]:
    wanted = str(home / os.path.expanduser(pattern))  # noqa: PTH111 - may be a glob
    for found in [wanted] if os.path.exists(wanted) else glob.glob(wanted, recursive=True):  # noqa: PTH110, PTH207
        if os.path.isdir(found):  # noqa: PTH112
            for folder, folders, files in os.walk(found):
                folders.sort()
                yield from (os.path.join(folder, name) for name in files if _is_one(name))  # noqa: PTH118
        elif _is_one(found):
            yield found


def _is_one(name: str) -> bool:
    return name.lower().endswith(_ENDINGS) and not os.path.basename(name).startswith(".")  # noqa: PTH119


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _agent_of(home: Path) -> str:
    """Whose a transcript is that names no agent: the one of the home's own settings."""
    try:
        return load({}, {"home": str(home)}).config.agent
    except ConfigError:
        return Config.model_fields["agent"].default  # type: ignore[no-any-return]
