"""The sources that only the clients of one project see: its inbox, and vaults in its folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.core.config import SOURCE_DEFAULTS, Config, SourceSettings
from memory_mcp.core.reference import INBOX
from memory_mcp.notes.own import project_source_id, real
from memory_mcp.notes.roots import unfit
from memory_mcp.notes.sources import Source, is_same_folder
from memory_mcp.settings.project import PROJECTS, Project


@dataclass(frozen=True, slots=True)
class KnownProject:
    """A project that has notes in this home."""

    id: str
    folder: Path
    notes: int


def project_inbox(config: Config, project: Project) -> Source:
    """The inbox of a project, whatever its folder says. It is made by the first note."""
    known = SourceSettings.model_validate({**SOURCE_DEFAULTS[INBOX], "path": "projects"})
    configured = config.sources.get(INBOX, known)
    return Source(
        name=INBOX,
        id=project_source_id(project.id),
        kind="memory",
        root=real(project.inbox(Path(config.home))),
        boost=configured.boost,
        exclude=(*config.index.exclude, *configured.exclude),
        max_depth=configured.max_depth,
        max_files=configured.max_files,
        project=project.id,
    )


def project_vaults(
    config: Config, project: Project, others: Sequence[Source]
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The vaults that a trusted file of the project names, and why some are left out. Blocking.

    One is left out where a link leads it out of the project's folder, where `others` have its name
    or its notes, or where it would show the home.
    """
    opened: list[Source] = []
    warnings: list[str] = []
    file = project.file
    for name, item in () if file is None else sorted(file.sources.items()):
        assert file is not None
        root = real(file.root / item.path)
        why = _unfit(name, root, file.root, config, (*others, *opened))
        if why is None:
            opened.append(_vault(name, item, root, config, project))
        else:
            warnings.append(f"sources.{name} of {file.root} is left out: {why}")
    return tuple(opened), tuple(warnings)


def known_projects(home: Path) -> tuple[KnownProject, ...]:
    """The projects that have an inbox in this home, by id. Blocking."""
    found = []
    try:
        names = sorted(os.listdir(home / PROJECTS))  # noqa: PTH208 - names, and no Path of each
    except OSError:
        return ()
    for name in names:
        inbox = home / PROJECTS / name / INBOX
        if inbox.is_dir():
            found.append(KnownProject(name, inbox, sum(1 for _ in inbox.rglob("*.md"))))
    return tuple(found)


def _unfit(
    name: str, root: Path, folder: Path, config: Config, others: Sequence[Source]
) -> str | None:
    if not root.is_relative_to(folder):
        return f"a link leads to {root}, out of the project's folder"
    for problem in unfit([(name, root)], Path(config.home), (PROJECTS,)):
        return problem.message
    for other in others:
        if other.name.casefold() == name.casefold():
            return f"there is a source {other.name} already; choose another name"
        if root.is_relative_to(other.root) or is_same_folder(root, other.root):
            return f"the notes of {root} are those of the source {other.name} already"
        if other.root.is_relative_to(root):
            return f"{root} holds the folder of the source {other.name}; name one beside it"
    return None


def _vault(
    name: str, item: SourceSettings, root: Path, config: Config, project: Project
) -> Source:
    mark = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return Source(
        name=name,
        id=f"{name}@{mark}",
        kind="vault",
        root=root,
        boost=item.boost,
        exclude=(*config.index.exclude, *item.exclude),
        max_depth=item.max_depth,
        max_files=item.max_files,
        project=project.id,
    )
