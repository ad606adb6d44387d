"""Which git repository a folder belongs to, read from the files of git itself.

No git program is needed. What a `.git` file says is believed only where the repository points back
at this work tree: a folder from elsewhere may hold a `.git` file that names any repository of this
machine, and must not get into that one's memory.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.slug import slug_from

_GIT = ".git"
_MOST_BYTES = 64 * 1024  # of a file of git that holds one path, or settings
_POINTER = re.compile(rb"gitdir: ([^\0\r\n]+)[\r\n]*")
_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)\s*(\".*\")?\s*\]\s*(.*)")
_WORKTREE = re.compile(r"\s*worktree\s*=\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree of git. Both folders are absolute and real."""

    root: Path
    """The top folder of this work tree."""
    identity: Path
    """What all work trees of one repository share: its common folder. The work tree itself where
    git's files do not prove that they belong together."""

    @property
    def id(self) -> str:
        """A name for people and programs: the repository's folder and a hash of where it is."""
        folder = self.identity
        name = folder.parent.name if folder.name == _GIT else folder.name.removesuffix(_GIT)
        spelled = os.fsencode(os.path.normcase(folder))
        return f"{slug_from(name, 'project')}-{hashlib.sha256(spelled).hexdigest()[:8]}"


def repository_of(folder: str | Path) -> Repository | None:
    """The work tree that a folder is in; None where it is in none, or in one that is broken.

    Blocking. The nearest `.git` decides: where it cannot be read, no outer repository is taken in
    its place. The inside of a repository (a bare one, `.git` itself) is no work tree.
    """
    try:
        real = Path(folder).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    for place in (real, *real.parents):
        if _is_repository(place):
            return None
        mode = _mode(place / _GIT)
        if mode is not None:
            return _work_tree(place, mode)
    return None


def _work_tree(root: Path, mode: int) -> Repository | None:
    git = root / _GIT
    if stat.S_ISLNK(mode):  # whoever made the folder chose where it leads
        return Repository(root, root) if _is_repository(git) else None
    if stat.S_ISDIR(mode):
        return Repository(root, git) if _is_repository(git) else None
    if not stat.S_ISREG(mode):
        return None
    inner = _pointed(git)
    if inner is None or _mode(inner / "HEAD") is None:
        return None
    return Repository(root, _common(root, inner) or root)


def _pointed(file: Path) -> Path | None:
    """The real folder that a `.git` file names."""
    match = _POINTER.fullmatch(_bytes(file) or b"")
    return None if match is None else _resolved(file.parent, os.fsdecode(match[1]))


def _common(root: Path, inner: Path) -> Path | None:
    """The common folder of a repository that points back at a work tree; None where none does."""
    if inner.parent.name == "worktrees" and _is_repository(inner.parent.parent):
        back = _resolved(inner, os.fsdecode(_bytes(inner / "gitdir") or b"").strip("\r\n"))
        return inner.parent.parent if back == root / _GIT else None
    for text in _named_work_trees(inner / "config"):  # a submodule
        if _resolved(inner, text) == root:
            return inner
    return None


def _named_work_trees(config: Path) -> Iterator[str]:
    """The values of `core.worktree` in a file of git's settings."""
    section = ""
    for line in (_bytes(config) or b"").decode("utf-8", "surrogateescape").splitlines():
        if (head := _SECTION.fullmatch(line)) is not None:
            section, line = "" if head[2] else head[1].lower(), head[3]
        if section == "core" and (found := _WORKTREE.fullmatch(line)) is not None:
            yield found[1].strip().strip('"').replace("\\\\", "\\")


def _is_repository(folder: Path) -> bool:
    """Whether git would take a folder for a repository."""
    return all(_mode(folder / name) is not None for name in ("HEAD", "objects", "refs"))


def _resolved(start: Path, text: str) -> Path | None:
    """A path from a folder, without links; None where there is nothing, or no path."""
    if not text:
        return None
    try:
        return (start / text).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except (OSError, ValueError):
        return None


def _bytes(path: Path) -> bytes | None:
    """What a small file holds; None for anything else. A pipe would be waited for."""
    mode = _mode(path)
    if mode is None or not stat.S_ISREG(mode):
        return None
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= _MOST_BYTES else None
