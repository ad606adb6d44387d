"""Whose collections on a server are whose: a home is told by more than its path.

Two machines may each have a home at the same path. On one server they would take each other's
points for their own old ones, and remove them.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from memory_mcp.core.errors import StorageError

FOLDER, FILE = ".state", "server-id"


def tenant(home: Path) -> str:
    """What names a home on a server: its path, so that a copy beside it is another one, and a
    random id that is made once and kept with it. Engines of one home on several machines, at one
    path, share what is on the server. Blocking; raises StorageError where the id cannot be kept.
    """
    file = home / FOLDER / FILE
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return f"{home}\0{file.read_text(encoding='utf-8', errors='replace').strip()}"
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(f"{uuid.uuid4().hex}\n")
    except OSError as error:
        raise StorageError(
            f"{file} cannot be written ({error.strerror}); it names this home on the Qdrant server"
            " at vectors.url. Make its folder writable, or set vectors.url to null"
        ) from error
    return tenant(home)
