"""Exchanging two names of a folder in one step, where the system and the file system can."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable

from memory_mcp.notes.folder import Folder
from memory_mcp.notes.names import to_system

_EXCHANGE = 2
"""RENAME_EXCHANGE of Linux; RENAME_SWAP of macOS is the same number."""


def _found() -> Callable[..., int] | None:
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    if name is None:
        return None
    try:
        function: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):  # a C library without it
        return None
    return function


_rename = _found()


def exchange(folder: Folder, one: str, other: str) -> bool:
    """Exchange two existing names; False, with nothing done, where that is not possible."""
    if _rename is None or folder.fd is None:
        return False
    first, second = (os.fsencode(to_system(name)) for name in (one, other))
    return _rename(folder.fd, first, folder.fd, second, ctypes.c_uint(_EXCHANGE)) == 0
