"""Whose memory is this? The project of the folder in which a client works, and what it may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memory_mcp.core.config import Config
from memory_mcp.core.errors import Problem, StorageError
from memory_mcp.front.hello import FOLDER_VARIABLE
from memory_mcp.settings import Loaded
from memory_mcp.settings.project_file import NAME, ProjectFile, parsed, read_bytes
from memory_mcp.settings.repository import repository_of
from memory_mcp.settings.trust import Trust, digest_of

PROJECTS = "projects"
"""The folder of the home with the projects' inboxes."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project that has an inbox. Work trees of one repository are the same project."""

    id: str
    file: ProjectFile | None = None
    """What its own file says, where that is trusted."""
    folder: Path | None = field(default=None, compare=False)
    """The top of the work tree; None where only the id is known."""
    repository: Path | None = field(default=None, compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def inbox(self, home: Path) -> Path:
        """The folder of the project's notes."""
        return home / PROJECTS / self.id / "memory"


def project_of(config: Config, folder: str | Path, environ: Mapping[str, str]) -> Project | None:
    """The project of a client that works in `folder`; None where `projects` is off, where the
    folder is in no work tree of git, and in a person's whole home folder. Blocking.

    Never fails: what is wrong with the project's file is among the warnings.
    """
    if config.projects == "off" or not str(folder):
        return None
    found = repository_of(folder)
    if found is None or _holds_everything(found.root, config, environ):
        return None
    warnings: list[str] = []
    file = _trusted(found.root, Path(config.home), warnings)
    chosen = file.project if file is not None and file.project else found.id
    return Project(chosen, file, found.root, found.identity, tuple(warnings))


def working_folder(environ: Mapping[str, str]) -> str:
    """The folder in which this process works for its user; empty where it was deleted."""
    try:
        return environ.get(FOLDER_VARIABLE) or str(Path.cwd())
    except OSError:
        return ""


def settled(loaded: Loaded, project: Project | None) -> Config:
    """The settings of a client in a project: those of the home, and what a trusted file of the
    project says. Who was named by a flag or a variable stays the agent; read-only stays so."""
    config, file = loaded.config, None if project is None else project.file
    if file is None:
        return config
    origin = loaded.origins.get("agent", "default")
    named = origin.startswith(("--", "MEMORY_MCP_"))
    agent = config.agent if named or file.agent is None else file.agent
    return layered(config.model_copy(update={"agent": agent}), project)


def layered(config: Config, project: Project | None) -> Config:
    """The settings of a memory with those that a project's file may change, but for the agent."""
    file = None if project is None else project.file
    if file is None:
        return config
    writing = config.writing.model_copy(
        update={"read_only": config.writing.read_only or file.read_only}
    )
    return config.model_copy(update={"writing": writing, "recall": file.recall or config.recall})


def _holds_everything(root: Path, config: Config, environ: Mapping[str, str]) -> bool:
    """Whether a work tree is that of a person's home folder (settings kept with git), or of the
    memory itself: whatever lies in there belongs to no one project."""
    own = Path(environ.get("HOME") or Path.home()).resolve()
    memory = Path(config.home).resolve()
    return own.is_relative_to(root) or root.is_relative_to(memory)


def _trusted(root: Path, home: Path, warnings: list[str]) -> ProjectFile | None:
    path = root / NAME
    try:
        data = read_bytes(path)
        if data is None:
            return None
        if not Trust(home).holds(path, data):
            warnings.append(
                f"{path} does not count: it is not trusted, or changed since; read it, then:"
                f" memory-mcp trust {root}"
            )
            return None
    except (OSError, StorageError) as error:
        reason = getattr(error, "strerror", None) or error
        warnings.append(f"{path} does not count: {reason}")
        return None
    file, problems = parsed(root, data, digest_of(data))
    if problems:
        warnings.append(f"{path} does not count: {'; '.join(map(_text, problems))}")
    return file


def _text(problem: Problem) -> str:
    return f"{problem.key}: {problem.message}"
