"""The index section on disk, for a handshake that comes before the memory is open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_NEW = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
_LARGEST = 4 * 1024 * 1024  # bytes that are read


def keep(home: str, agent: str, text: str) -> None:
    """Keep the section of an agent. Blocking; where the disk refuses, the next start has none."""
    path = _path(home, agent)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(draft, _NEW, 0o600), "wb") as file:
            file.write(text.encode())
        draft.replace(path)


def kept(home: str, agent: str) -> str:
    """The section of an agent as it was made last, "" where there is none. Blocking, briefly."""
    with suppress(OSError), _path(home, agent).open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "replace")
    return ""


def _path(home: str, agent: str) -> Path:
    return Path(home) / ".index" / f"section-{agent}.md"
