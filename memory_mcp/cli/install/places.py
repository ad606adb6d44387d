"""Where each client keeps its files, on each platform, and in a project."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides about places: platform as in sys.platform, environment, folders."""

    platform: str = sys.platform
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    home: Path = field(default_factory=Path.home)
    project: Path | None = None
    """The project whose files are meant; None: the person's own."""

    def variable(self, name: str, otherwise: Path) -> Path:
        """The folder that a variable names; what is empty or relative does not count."""
        given = Path(self.environment.get(name) or "").expanduser()
        return given if given.is_absolute() else otherwise

    @property
    def xdg(self) -> Path:
        """`~/.config`, or what the person has said instead."""
        return self.variable("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def application(self) -> Path:
        """Where programs with a window keep their settings."""
        if self.platform == "win32":
            return self.variable("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.xdg


Place = Callable[[Machine], Path]


def claude_folder(machine: Machine) -> Path:
    """The folder of Claude Code."""
    return machine.variable("CLAUDE_CONFIG_DIR", machine.home / ".claude")


def claude_state(machine: Machine) -> Path:
    """The file with Claude Code's own MCP servers: beside its folder, unless that was moved."""
    return machine.variable("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"


def codex_folder(machine: Machine) -> Path:
    """The folder of Codex."""
    return machine.variable("CODEX_HOME", machine.home / ".codex")


def goose_folder(machine: Machine) -> Path:
    """The folder of goose."""
    if machine.platform == "win32":
        return machine.application / "Block" / "goose" / "config"
    return machine.xdg / "goose"


def zed_folder(machine: Machine) -> Path:
    """The folder of Zed; on macOS it is in `~/.config`, too."""
    if machine.platform == "win32":
        return machine.application / "Zed"
    return (machine.home / ".config" if machine.platform == "darwin" else machine.xdg) / "zed"


def in_home(*parts: str) -> Place:
    """A place below the person's folder."""
    return lambda machine: machine.home.joinpath(*parts)


def in_application(*parts: str) -> Place:
    """A place among the settings of programs with a window."""
    return lambda machine: machine.application.joinpath(*parts)


def below(folder: Place, *parts: str) -> Place:
    """A place in the folder of a client."""
    return lambda machine: folder(machine).joinpath(*parts)
