"""A small file of our own that is always there as a whole: the old one or the new one."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def replace_state(path: Path, data: bytes) -> None:
    """Put a file in its place in one step, durably, readable by its owner alone; its folder is
    made. Blocking; raises OSError, and then the old file stands and nothing lies beside it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
