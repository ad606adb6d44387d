"""The folders of a home that hold copies of note text: only their owner looks into them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from memory_mcp.notes.names import to_system
from memory_mcp.notes.roots import PRIVATE


def close_to_others(home: Path) -> None:
    """Take the rights of group and others from `.index`, `.state` and `.history`, and from the
    files that lie in them, where a copy or an archive brought wider ones. Blocking.

    Folders that are missing are left to those who make them. What is not ours, or on a file system
    without modes, stays as it is: the doctor tells.
    """
    if os.name == "nt":
        return
    for name in PRIVATE:
        folder = Path(to_system(str(home / name)))
        with suppress(OSError):
            _close(folder)
            if name != ".history":  # its many files lie behind it, and cannot be reached
                for entry in folder.iterdir():
                    _close(entry)


def _close(path: Path) -> None:
    """Only what is no link: whose target it would be is not ours to say."""
    with suppress(OSError):
        state = path.lstat()
        wide = stat.S_IMODE(state.st_mode) & 0o077
        if wide and state.st_uid == os.geteuid() and _is_plain(state.st_mode):
            path.chmod(stat.S_IMODE(state.st_mode) & 0o700, follow_symlinks=not _NO_FOLLOW)


_NO_FOLLOW = os.chmod in os.supports_follow_symlinks


def _is_plain(mode: int) -> bool:
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
