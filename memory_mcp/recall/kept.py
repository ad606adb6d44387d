"""The index section on disk, for a handshake that comes before the memory is open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_NEW = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
_LARGEST = 4 * 1024 * 1024  # bytes that are read


def owner(agent: str, project: str | None) -> str:
    """Whose section it is: an agent's outside of projects, or in the project of this id."""
    return agent if project is None else f"{agent}@{project}"


def keep(home: str, owner: str, text: str) -> None:
    """Keep a section. Blocking; where the disk refuses, the next start has none."""
    path = _path(home, owner)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)  # a home that is gone stays gone
        with os.fdopen(os.open(draft, _NEW, 0o600), "wb") as file:
            file.write(text.encode())
        draft.replace(path)


def kept(home: str, owner: str) -> str:
    """The section as it was made last, "" where there is none. Blocking, briefly."""
    with suppress(OSError), _path(home, owner).open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "replace")
    return ""


def _path(home: str, owner: str) -> Path:
    return Path(home) / ".index" / f"section-{owner}.txt"
