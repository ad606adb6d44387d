"""What happens to files: the events of folders, and the state of a tree. Linux."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path
from types import TracebackType

_ALL = 0xFFF  # opened, read, changed, moved, made, removed
_HEAD = struct.Struct("iIII")
_NAMES = {0x1: "read", 0x2: "written", 0x20: "opened", 0x100: "created", 0x200: "deleted"}

State = dict[str, tuple[int, int, int, bytes]]


class Events:
    """What is done with the files in some folders, and in those below, while the block runs."""

    def __init__(self, *folders: Path) -> None:
        self._folders = [part for top in folders for part in (top, *_below(top))]
        self._fd = -1

    def __enter__(self) -> Events:
        library = ctypes.CDLL(None, use_errno=True)
        self._fd = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for folder in self._folders:
            if library.inotify_add_watch(self._fd, os.fsencode(folder), _ALL) < 0:
                raise OSError(ctypes.get_errno(), "cannot watch", str(folder))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def seen(self) -> list[str]:
        """What was done since the last look, in words; takes the events."""
        found: list[str] = []
        while True:
            try:
                data = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                return found
            at = 0
            while at < len(data):
                _, mask, _, length = _HEAD.unpack_from(data, at)
                name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
                deeds = [word for bit, word in _NAMES.items() if mask & bit] or [f"{mask:#x}"]
                found.append(f"{'/'.join(deeds)} {os.fsdecode(name) or 'the folder'}")
                at += _HEAD.size + length


def state_of(*tops: Path) -> State:
    """Every file and folder: inode, time of change, mode, bytes. Links are not followed."""
    found: State = {}
    for top in tops:
        for path in (top, *sorted(top.rglob("*"))):
            state = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            # A folder's time changes with its entries, which are all compared themselves.
            when = state.st_mtime_ns if path.is_file() else 0
            found[str(path)] = (state.st_ino, when, state.st_mode, data)
    return found


def _below(top: Path) -> list[Path]:
    return [path for path in top.rglob("*") if path.is_dir() and not path.is_symlink()]
