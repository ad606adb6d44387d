"""Small sources on a real disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from memory_mcp.notes.history import History
from memory_mcp.notes.sources import Source

NOW = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
PROJECT = Path(__file__).parents[2]


def source_at(
    root: Path,
    *,
    name: str = "vault",
    exclude: tuple[str, ...] = (),
    max_depth: int = 12,
    max_files: int = 20_000,
    inner: tuple[Path, ...] = (),
) -> Source:
    """A source whose folder is made where it is missing."""
    root.mkdir(parents=True, exist_ok=True)
    real = Path(os.path.realpath(root))
    return Source(name, name, "vault", real, 0.65, exclude, max_depth, max_files, inner)


def write(source: Source, disk: str, text: str = "text\n") -> Path:
    """A file below a source, with its folders."""
    path = source.root / disk
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def history_at(tmp_path: Path) -> History:
    """The history of a home in a test's folder."""
    return History(tmp_path / "home" / ".history")


def script(text: str, *arguments: str) -> list[str]:
    """The command that runs a script with our package in a process of its own."""
    return [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n{text}",
        *arguments,
    ]


def run(command: Sequence[str], timeout: float = 25) -> str:
    """What a command prints; fails the test where the command fails."""
    done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8")


def leftovers(folder: Path) -> list[str]:
    """Temporary files that somebody forgot below a folder."""
    return sorted(str(path) for path in folder.rglob("*") if path.name.endswith(".tmp"))
