"""The folders of notes that a configuration names, as real places on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from memory_mcp.core.config import Config, SourceSettings
from memory_mcp.core.errors import ConfigError, Problem
from memory_mcp.core.note import Scope, SourceKind
from memory_mcp.notes.failure import plain_reason
from memory_mcp.notes.names import Excludes, to_system
from memory_mcp.notes.own import AGENT, Rooms, expanded, is_own, real, rooms, source_id, within
from memory_mcp.notes.roots import unfit
from memory_mcp.settings.project import PROJECTS


@dataclass(frozen=True, slots=True)
class Source:
    """One folder of notes. `root` is absolute and real: a link was followed once, at start."""

    name: str
    id: str
    """The name; `<name>:<agent>` where each agent has its own, as of the inbox: one engine may
    hold several."""
    kind: SourceKind
    root: Path
    boost: float
    exclude: tuple[str, ...]
    """Patterns as in a `.gitignore`, those of `index.exclude` first."""
    max_depth: int
    """Folders deeper than this below the root are not entered."""
    max_files: int
    inner: tuple[Path, ...] = ()
    """Roots of other sources that lie inside this one: their files are theirs."""
    rooms: tuple[str, ...] = ()
    """Patterns of whole paths: folders inside this source that are one agent's each. Their files
    are theirs, whether that agent is there or not."""
    project: str | None = None
    """The id of the project whose clients alone see this source."""

    @property
    def scope(self) -> Scope | None:
        """Whose inbox this is; None where it is none."""
        if self.kind != "memory":
            return None
        return "global" if self.project is None else "project"

    def is_foreign(self, disk: str) -> bool:
        """Whether a folder of this source, by its relative path, belongs to another source."""
        if not self.inner and not self.rooms:
            return False
        folder = self.root / disk
        if folder in self.inner:
            return True
        return any(re.fullmatch(pattern, str(folder)) for pattern in self.rooms)


def open_sources(config: Config, *, create: bool = True, own: bool = True) -> tuple[Source, ...]:
    """The sources of a configuration: inbox, wiki, then the vaults by name.

    `~` and `{agent}` are expanded, relative paths start at the home. Folders of the inbox and the
    wiki are created where they lie below the home, unless `create` is false; no other folder ever
    is. Without `own`, only those that all agents share. Raises ConfigError where two sources are
    one folder, one is the system's or shows the home itself, a pattern cannot be read, or a folder
    cannot be created.
    """
    home = Path(config.home)
    problems: list[Problem] = []
    opened: list[Source] = []
    others: dict[str, Rooms] = {}
    for name in sorted(config.sources, key=_order):
        item = config.sources[name]
        if is_own(item.path):
            others[name] = rooms(item.path, home)
            if not own:
                continue
        root = expanded(item.path, home, config.agent)
        if create and name in ("memory", "wiki") and _is_below(root, home):
            _create(root, name, problems)
        exclude = (*config.index.exclude, *item.exclude)
        _check(name, exclude, problems)
        opened.append(_source(name, item, real(root), exclude, config.agent))
    problems += [*_same_folder(opened), *_all_agents(opened, others)]
    kept = (PROJECTS,) if config.projects == "auto" else ()
    problems += unfit(((source.name, source.root) for source in opened), home, kept)
    if problems:
        raise ConfigError(problems)
    return tuple(_with_inner(source, opened, others.values()) for source in opened)


def _order(name: str) -> tuple[int, str]:
    return ({"memory": 0, "wiki": 1}.get(name, 2), name)


def _is_below(path: Path, home: Path) -> bool:
    return path.is_relative_to(os.path.normpath(home))


def _create(root: Path, name: str, problems: list[Problem]) -> None:
    try:
        _make_private(Path(to_system(str(root))))
    except OSError as error:
        reason = plain_reason(error)
        problems.append(
            Problem(f"sources.{name}.path", f"{root} cannot be created: {reason}", "folder")
        )


def _make_private(path: Path) -> None:
    """Create a folder and its parents; only the owner may look into those that are new."""
    if path.is_dir():
        return
    if not path.parent.exists():
        _make_private(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def _check(name: str, patterns: tuple[str, ...], problems: list[Problem]) -> None:
    for pattern in patterns:
        try:
            Excludes((pattern,))
        except ValueError:
            problems.append(
                Problem(
                    f"sources.{name}.exclude",
                    f"{pattern!r} is not a pattern; write it as in a .gitignore,"
                    " for example 'Templates/**'",
                    "pattern",
                )
            )


def _source(
    name: str, item: SourceSettings, root: Path, exclude: tuple[str, ...], agent: str
) -> Source:
    kind: SourceKind = "vault"
    if name == "memory":
        kind = "memory"
    elif name == "wiki":
        kind = "wiki"
    return Source(
        name=name,
        id=source_id(name, item.path, agent),
        kind=kind,
        root=root,
        boost=item.boost,
        exclude=exclude,
        max_depth=item.max_depth,
        max_files=item.max_files,
    )


def _same_folder(sources: list[Source]) -> list[Problem]:
    """One problem for each source whose folder an earlier one has already."""
    problems: list[Problem] = []
    for index, source in enumerate(sources):
        for other in sources[:index]:
            if is_same_folder(other.root, source.root):
                problems.append(
                    Problem(
                        f"sources.{source.name}.path",
                        f"{source.root} is the folder of sources.{other.name}.path too;"
                        " give each source a folder of its own",
                        "folder",
                    )
                )
                break
    return problems


def is_same_folder(root: Path, other: Path) -> bool:
    """Whether two roots are one folder, in whatever spelling. Blocking."""
    return _identity(root) == _identity(other)


def _identity(root: Path) -> object:
    """What makes two spellings one folder: the folder itself where it exists, else its name."""
    try:
        state = os.stat(to_system(str(root)))  # noqa: PTH116 - the text for the system, not the Path
    except OSError:
        return os.path.normcase(root)
    return (state.st_dev, state.st_ino)


def _all_agents(sources: list[Source], others: Mapping[str, Rooms]) -> list[Problem]:
    """One problem for each source whose every folder could be an agent's."""
    return [
        Problem(
            f"sources.{name}.path",
            f"every folder in {source.root}, the folder of sources.{source.name}.path, could be"
            " that of an agent; use a folder for all of them, such as"
            f" {room.head / 'agents' / AGENT}",
            "folder",
        )
        for name, room in others.items()
        for source in sources
        if room.bare and room.head == source.root
    ]


def _with_inner(source: Source, sources: list[Source], others: Collection[Rooms]) -> Source:
    roots = [other.root for other in sources]
    roots += [root for room in others for root in room.known]
    inner = dict.fromkeys(
        root for root in roots if root != source.root and root.is_relative_to(source.root)
    )
    return replace(source, inner=tuple(inner), rooms=within(source.root, others))
