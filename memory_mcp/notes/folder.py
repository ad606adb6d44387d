"""An open folder. Every step below a source is taken from an open folder to a name in it.

So no step can be led through a link, not even one that is swapped in between looking and opening.
The root itself is opened without following a link either: it was resolved once, at start. Where
the platform cannot open relative to a folder (Windows), each step looks before it opens.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from memory_mcp.notes.names import from_system, to_system

_RELATIVE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0)
# Without O_NONBLOCK, opening a pipe waits for a writer that may never come.
_READ = (
    os.O_RDONLY
    | _NO_FOLLOW
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK_ON_THE_WAY = getattr(os, "O_NOFOLLOW_ANY", 0)  # macOS
_STEP = getattr(os, "O_PATH", 0)  # Linux: a folder that may be passed, but perhaps not listed
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | getattr(os, "O_BINARY", 0)


class LinkError(OSError):
    """A step would have led through a symbolic link."""


class Folder:
    """An open folder. All names are plain names in it, as the file system spells them."""

    def __init__(self, path: str, fd: int | None) -> None:
        self.path = path
        """For messages and for platforms without relative opening."""
        self.fd = fd

    def _at(self, name: str) -> str:
        name = to_system(name)
        return name if self.fd is not None else os.path.join(self.path, name)  # noqa: PTH118

    def child(self, name: str) -> Folder:
        """Open a folder in this one. Raises LinkError, NotADirectoryError, FileNotFoundError."""
        path = os.path.join(self.path, to_system(name))  # noqa: PTH118
        if self.fd is None:
            if not stat.S_ISDIR(self._plain(name).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, name)
            return Folder(path, None)
        try:
            return Folder(path, os.open(self._at(name), _DIRECTORY, dir_fd=self.fd))
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                self._plain(name)
            raise

    def state(self, name: str) -> os.stat_result:
        """What the file system knows of a name; a link is looked at, not followed."""
        return os.stat(self._at(name), dir_fd=self.fd, follow_symlinks=False)

    def _plain(self, name: str) -> os.stat_result:
        state = self.state(name)
        if stat.S_ISLNK(state.st_mode):
            raise LinkError(errno.ELOOP, name)
        return state

    def open(self, name: str) -> int:
        """A descriptor to read; never waits, never follows. Raises LinkError, IsADirectoryError
        for a pipe, socket or device: to open one may do something, so it is looked at first."""
        mode = self._plain(name).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise IsADirectoryError(errno.EISDIR, name)
        try:
            return os.open(self._at(name), _READ, dir_fd=self.fd)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise LinkError(errno.ELOOP, name) from error
            if error.errno == errno.ENXIO:  # a socket by now
                raise IsADirectoryError(errno.EISDIR, name) from error
            raise

    def create(self, name: str, mode: int) -> int:
        """A descriptor to write a file that must not exist yet."""
        return os.open(self._at(name), _NEW, mode, dir_fd=self.fd)

    def target(self, raw: str) -> os.stat_result:
        """What a link leads to, by its name as the system gave it."""
        path = raw if self.fd is not None else os.path.join(self.path, raw)  # noqa: PTH118
        return os.stat(path, dir_fd=self.fd)

    def entries(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """The entries, unsorted, names as the system gives them."""
        if self.fd is not None:
            return os.scandir(self.fd)
        return os.scandir(self.path)

    def names(self) -> list[str]:
        """All names that are UTF-8, sorted."""
        with self.entries() as entries:
            found = [from_system(entry.name) for entry in entries]
        return sorted(name for name in found if name is not None)

    def make(self, name: str, mode: int = 0o777) -> None:
        """Create a folder, durably; one that is there already is fine."""
        with suppress(FileExistsError):
            os.mkdir(self._at(name), mode, dir_fd=self.fd)
            self.sync()

    def replace(self, old: str, new: str) -> None:
        """Give `old` the name `new` in one step, in place of what had it."""
        os.replace(self._at(old), self._at(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def link(self, old: str, new: str) -> None:
        """Give `old` a second name in one step. Raises FileExistsError where it is taken."""
        os.link(
            self._at(old),
            self._at(new),
            src_dir_fd=self.fd,
            dst_dir_fd=self.fd,
            follow_symlinks=False,
        )

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._at(name), dir_fd=self.fd)

    def sync(self) -> None:
        """Make the names in this folder durable, where the platform can."""
        if self.fd is not None:
            os.fsync(self.fd)

    def close(self) -> None:
        """Close the descriptor."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


def _open_root(root: Path) -> Folder:
    path = to_system(str(root))
    if not _RELATIVE:
        if not Path(path).is_dir():
            raise FileNotFoundError(errno.ENOENT, path)
        return Folder(path, None)
    if _NO_LINK_ON_THE_WAY or not _STEP:
        return Folder(path, os.open(path, _DIRECTORY | _NO_LINK_ON_THE_WAY))
    return Folder(path, _walked(path))


def _walked(path: str) -> int:
    """A descriptor of a folder, every step to it taken without following a link: one that stands
    there now came after the path was resolved, and leads to a folder that was not configured."""
    *steps, name = [part for part in path.split("/") if part] or ["."]
    fd = os.open("/", _STEP | _DIRECTORY)
    try:
        for step in steps:
            below = os.open(step, _STEP | _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        return os.open(name, _DIRECTORY, dir_fd=fd)
    finally:
        os.close(fd)


@contextmanager
def open_folder(
    root: Path, parts: Sequence[str] = (), *, make: bool = False, mode: int = 0o777
) -> Iterator[Folder]:
    """The folder at these steps below a root; `make` creates those that are missing.

    Raises OSError; LinkError where a step is a link.
    """
    folder = _open_root(root)
    try:
        for part in parts:
            if make:
                folder.make(part, mode)
            below = folder.child(part)
            folder.close()
            folder = below
        yield folder
    finally:
        folder.close()
