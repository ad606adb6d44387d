"""Putting away transcripts that nobody needs any more: moved to the history, never deleted."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

log = logging.getLogger(__name__)

FOLDER = Path(".history") / "transcripts"
"""Below the home."""


@dataclass(frozen=True, slots=True)
class PutAway:
    """How many were moved, and how many are as old and stay, since they are not done with."""

    moved: int = 0
    stay: int = 0


def put_away(
    paths: Iterable[str],
    home: Path,
    now: datetime,
    days: int,
    is_settled: Callable[[str], bool],
) -> PutAway:
    """Move the transcripts that were last written more than `days` ago, and of which all is
    decided, below the home's history. Blocking.

    What cannot be moved stays where it is, and so does a link.
    """
    before = (now - timedelta(days=days)).timestamp()
    moved = stay = 0
    for path in map(Path, paths):
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_mtime >= before:
                continue
            if not is_settled(str(path)):
                stay += 1
                continue
            _move(path, _free(home / FOLDER, path))
            moved += 1
        except OSError as error:
            log.warning("%s was not put away: %s", path.name, error.strerror or error)
            stay += 1
    return PutAway(moved, stay)


def _free(folder: Path, path: Path) -> Path:
    """A name in the folder that nothing has: project folder and file, with a number if needed."""
    place = folder / path.parent.name
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = (f"{path.stem}{f'-{n}' if n else ''}{path.suffix}" for n in range(10_000))
    return next(place / name for name in names if not (place / name).exists())


def _move(path: Path, aim: Path) -> None:
    """In one step; to another disk by a synced copy first."""
    try:
        path.rename(aim)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = aim.with_name(f".{aim.name}.tmp")
        shutil.copy2(path, beside)
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(aim)
        path.unlink()
