"""`.memory-mcp.yml`: what the folder of a project may say, and nothing beyond.

It comes with the folder, perhaps from strangers. So it can name notes of its own, choose an inbox
and make the memory do less; it cannot name a command, an endpoint, a key or another home.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from memory_mcp.core.config import SOURCE_DEFAULTS, RecallSettings, SourceSettings
from memory_mcp.core.errors import Problem, SlugError, StorageError
from memory_mcp.core.reference import GLOBAL, PROJECT
from memory_mcp.core.slug import check_slug
from memory_mcp.settings import validated
from memory_mcp.settings.file import read_text
from memory_mcp.settings.level import Level, merged, place_of

NAME = ".memory-mcp.yml"
KEYS = ("agent", "project", "read_only", "recall", "sources")
LARGEST = 64 * 1024
"""Bytes. A longer one is no file of settings."""

_OWN = frozenset(("project", "read_only"))
_TAKEN = frozenset((*SOURCE_DEFAULTS, "all", GLOBAL, PROJECT))


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """What a project's file says. Two are the same where folder and bytes are."""

    root: Path
    digest: str
    agent: str | None = field(default=None, compare=False)
    project: str | None = field(default=None, compare=False)
    """The id of the inbox, in place of the one that follows from the repository."""
    read_only: bool = field(default=False, compare=False)
    recall: RecallSettings | None = field(default=None, compare=False)
    """None: as the home's."""
    sources: Mapping[str, SourceSettings] = field(default_factory=dict, compare=False)
    """Vaults, each path relative and below the folder."""


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a project's file; None where there is none.

    Raises StorageError for what is no plain file (a link could lead anywhere) or too large, and
    OSError.
    """
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        raise StorageError("it is no plain file; put the file itself there")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise StorageError(f"it has more than {LARGEST:,} bytes; shorten it")
    return data


def parsed(root: Path, data: bytes, digest: str) -> tuple[ProjectFile | None, list[Problem]]:
    """What the bytes of the file in `root` say: the settings, or every problem."""
    path, level = root / NAME, Level()
    try:
        read_text(data.decode("utf-8-sig"), path, level)
    except UnicodeDecodeError:
        level.problems.append(Problem(NAME, "is not UTF-8; save it as UTF-8", str(path)))
    values = merged((level,))
    problems = [*level.problems, *_placed(_wrong(values), level)]
    rest = {key: item for key, item in values.items() if key in KEYS and key not in _OWN}
    config, found = validated({"home": str(root), **rest}, (level,))
    problems += found
    if problems or config is None:
        return None, problems
    recall = values.get("recall")
    file = ProjectFile(
        root=root,
        digest=digest,
        agent=values.get("agent"),
        project=values.get("project"),
        read_only=values.get("read_only", False),
        recall=config.recall if recall else None,
        sources={name: config.sources[name] for name in values.get("sources", {})},
    )
    return file, []


def _placed(found: Iterator[tuple[str, str]], level: Level) -> Iterator[Problem]:
    for key, message in found:
        yield Problem(key, message, place_of(key, (level,)))


def _wrong(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in values:
        if key not in KEYS:
            yield key, f"cannot be set by a project; its file may hold {', '.join(KEYS)}"
    if not isinstance(values.get("read_only", False), bool):
        yield "read_only", "is neither true nor false"
    if "project" in values:
        try:
            check_slug(str(values["project"]))
        except SlugError as error:
            yield "project", f"cannot be the id of a project: {error}"
    sources = values.get("sources")
    for name, item in sources.items() if isinstance(sources, dict) else ():
        yield from _wrong_source(str(name), item)


def _wrong_source(name: str, item: Any) -> Iterator[tuple[str, str]]:
    key = f"sources.{name}"
    if name.casefold() in _TAKEN:
        yield key, "is a name that the memory itself uses; choose another"
    path = item.get("path") if isinstance(item, dict) else None
    if isinstance(path, str) and not _is_below(path):
        yield (
            f"{key}.path",
            f"{path!r} leads out of the project's folder; name a folder in it, such as docs",
        )


def _is_below(path: str) -> bool:
    """Whether a path as written stays in the folder; where links lead is seen when it is used."""
    pure = PurePosixPath(path.replace("\\", "/"))
    odd = path.startswith("~") or "{" in path or ":" in path
    return not (odd or pure.is_absolute() or ".." in pure.parts)
