"""Folders of which each agent has its own: those whose path in the settings names `{agent}`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.agent import PATTERN, check_agent
from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError, Problem
from memory_mcp.notes.names import from_system, to_system
from memory_mcp.settings.project import PROJECTS

AGENT = "{agent}"

_PROJECT_INBOX = "memory@"  # before the project's id; no source can have such a name
_NAME = PATTERN.strip("^$")
_MARK = "\ue000"  # in place of the agent's name; no agent can have it


def is_own(path: str) -> bool:
    """Whether a source with this path is another folder for each agent."""
    return AGENT in os.path.normpath(path)


def source_id(name: str, path: str, agent: str) -> str:
    """The id of a source: its name; `<name>:<agent>` where each agent has its own."""
    return f"{name}:{agent}" if is_own(path) else name


def project_source_id(project: str) -> str:
    """The id of a project's inbox as a source."""
    return f"{_PROJECT_INBOX}{project}"


def project_keeper(project: str) -> str:
    """Under whose name the old texts of a project's inbox are kept; no agent can have it."""
    return f"@{project}"


def keeper(config: Config) -> str:
    """The agent under whose name the old texts of the inbox are kept: that of the settings;
    `default` where all share one inbox."""
    return config.agent if is_own(config.sources["memory"].path) else "default"


def expanded(path: str, home: Path, agent: str) -> Path:
    """The folder that a path in the settings names: `~` and `{agent}` expanded, from the home."""
    text = os.path.expanduser(path.replace(AGENT, agent))  # noqa: PTH111 - text, not a Path
    return Path(os.path.normpath(home / text))


def real(root: Path) -> Path:
    """A folder without links on the way to it, which need not exist."""
    found = os.path.realpath(to_system(str(root)))
    return Path(from_system(found) or found)


def may_exist(config: Config, source_id: str) -> bool:
    """Whether there is, or may be again, a source of this id: it is configured, and an agent's own
    folder in the home is there. What lies elsewhere may be on a disk that is away. Blocking."""
    if source_id.startswith(_PROJECT_INBOX):
        inbox = Path(config.home) / PROJECTS / source_id.removeprefix(_PROJECT_INBOX) / "memory"
        return inbox.is_dir()
    name, colon, agent = source_id.partition(":")
    item = config.sources.get(name)
    if item is None or is_own(item.path) != bool(colon):
        return False
    if not colon:
        return True
    try:
        root = real(expanded(item.path, Path(config.home), check_agent(agent)))
    except ValueError:
        return False
    return root.exists() or not root.is_relative_to(real(Path(config.home)))


def config_of(config: Config, agent: str) -> Config:
    """The settings for one agent. Raises ConfigError for a name that no agent can have, or one
    that this disk takes for another agent's."""
    try:
        check_agent(agent)
    except ValueError as error:
        raise ConfigError([Problem("agent", str(error), "agent")]) from error
    for item in config.sources.values():
        known = other_spelling(item.path, Path(config.home), agent) if is_own(item.path) else None
        if known is not None:
            message = (
                f"{agent!r} would get the folder {known!r}: this disk does not tell capital"
                " letters from small ones; use that spelling, or another name"
            )
            raise ConfigError([Problem("agent", message, "folder")])
    return config.model_copy(update={"agent": agent})


def other_spelling(path: str, home: Path, agent: str) -> str | None:
    """How the disk spells the name of an agent whose folder it takes for this one's: it does not
    tell capital letters from small ones. None where the spelling is the disk's, or new."""
    head, part = _head(path, home)
    folder = Path(to_system(str(head / part.replace(_MARK, agent))))
    if not folder.exists():
        return None
    names = {entry.name for entry in folder.parent.iterdir()}
    if folder.name in names:
        return None
    same = [name for name in names if name.casefold() == folder.name.casefold()]
    return same[0] if same else None


@dataclass(frozen=True, slots=True)
class Rooms:
    """The folders that a path with `{agent}` can mean: one agent's each, and nobody else's."""

    head: Path
    """The real folder in which the part with the agent's name stands."""
    pattern: str
    """Matches the whole path of each."""
    bare: bool
    """Whether every folder in `head` is one."""
    known: tuple[Path, ...]
    """Those that are there now, and lie elsewhere because a link leads there."""


def rooms(path: str, home: Path) -> Rooms:
    """What other agents' folders look like, for a path that names `{agent}`. Blocking."""
    head, part = _head(path, home)
    whole = re.escape(str(expanded(path, home, _MARK)))
    below = whole[len(re.escape(str(head))) :]
    below = below.replace(_MARK, f"(?P<agent>{_NAME})", 1).replace(_MARK, "(?P=agent)")
    known = [real(expanded(path, home, name)) for name in _names(head, part)]
    start = real(head)
    pattern = re.escape(str(start).rstrip("/")) + below
    away = tuple(root for root in known if not re.fullmatch(pattern, str(root)))
    bare = expanded(path, home, _MARK) == head / _MARK
    return Rooms(start, pattern, bare, away)


def within(root: Path, all_rooms: Iterable[Rooms]) -> tuple[str, ...]:
    """The patterns of the agents' folders that may lie below a root."""
    return tuple(
        one.pattern
        for one in all_rooms
        if one.head.is_relative_to(root) or root.is_relative_to(one.head)
    )


def _head(path: str, home: Path) -> tuple[Path, str]:
    """The folder above the first part that names the agent, and that part with the mark."""
    marked = expanded(path, home, _MARK)
    parts = marked.parts
    at = next(place for place, part in enumerate(parts) if _MARK in part)
    return Path(*parts[:at]), parts[at]


def _names(head: Path, part: str) -> list[str]:
    """The agents that have a folder."""
    before, _, after = part.partition(_MARK)
    try:
        there = [from_system(name) for name in os.listdir(to_system(str(head)))]  # noqa: PTH208
    except OSError:
        return []
    found = []
    for name in there:
        if name and name.startswith(before) and name.endswith(after):
            agent = name[len(before) : len(name) - len(after)]
            try:
                found.append(check_agent(agent))
            except ValueError:
                continue
    return found
