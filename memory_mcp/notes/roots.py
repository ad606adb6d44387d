"""Which folders may not be a source: the system's own, and those that would show the home itself.

The home holds every agent's inbox, old texts and databases. None of them may be listed as notes,
and no database may be opened that came with somebody's vault.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from memory_mcp.core.errors import Problem
from memory_mcp.notes.names import is_skipped_folder
from memory_mcp.notes.own import real

PRIVATE = (".index", ".state", ".history")
"""Folders of the home that hold copies of note text."""

_VIRTUAL = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""The kernel's: to read a file there may wait, or do something."""

_SYSTEM = frozenset(
    Path(f"/{name}")
    for name in (
        *("bin", "boot", "etc", "home", "lib", "lib64", "opt", "run", "sbin", "usr", "var"),
        *("Applications", "Library", "System", "Users", "Volumes", "private", "private/var"),
    )
)
_WINDOWS = ("SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramData")


def unfit(
    roots: Iterable[tuple[str, Path]], home: Path, kept: Sequence[str] = ()
) -> list[Problem]:
    """One problem for each (name of a source, its real folder) that no source may have. Blocking.
    `kept` are further folders of the home that are not for everybody.

    Sources are named by the settings, so this guards against mistakes, and against a home that
    came with a vault; it does not guard a person against themselves.
    """
    own = [("the home of memory-mcp", real(home))]
    own += [(f"{name} of the home", real(home / name)) for name in (*PRIVATE, *kept)]
    problems = []
    for name, root in roots:
        why = _of_system(root) or _of_home(root, own)
        if why is not None:
            problems.append(Problem(f"sources.{name}.path", f"{root} {why}", "folder"))
    return problems


def _of_system(root: Path) -> str | None:
    if root == root.parent:
        return "is the root of a whole file system; name the folder of your notes in it"
    if any(root.is_relative_to(folder) for folder in _virtual()):
        return "belongs to the system, whose files are no notes; name the folder of your notes"
    if root in _SYSTEM:
        return "is a folder of the system; name the folder of your notes in it"
    return None


def _virtual() -> Sequence[Path]:
    if sys.platform == "win32":
        return [Path(os.environ[name]) for name in _WINDOWS if os.environ.get(name)]
    return _VIRTUAL


def _of_home(root: Path, own: Sequence[tuple[str, Path]]) -> str | None:
    home = own[0][1]
    if root == home:
        return (
            "is the home of memory-mcp itself, with its settings and every agent's inbox; name a"
            " folder in it, such as wiki"
        )
    for what, folder in own:
        if folder != home and root.is_relative_to(folder):
            return f"lies in {what} ({folder}), which holds copies of note text; name another"
        if _shows(root, folder):
            return (
                f"holds {what} ({folder}), which would be listed, and synced, with these notes;"
                " put the home beside the notes (MEMORY_MCP_HOME), and let sources.memory.path"
                " or sources.wiki.path name a folder among them"
            )
    return None


def _shows(root: Path, folder: Path) -> bool:
    """Whether a folder lies in a source, and not behind a name that is never entered. The private
    folders of a home that lies in one are found by their home."""
    if not folder.is_relative_to(root) or folder == root:
        return False
    return not any(map(is_skipped_folder, folder.relative_to(root).parts))
