"""What a command knows when it starts: the flags, and the settings that follow from them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from memory_mcp.cli import render
from memory_mcp.cli.clients import default_home
from memory_mcp.core.config import Config
from memory_mcp.core.errors import NotFoundError
from memory_mcp.settings import Loaded, load
from memory_mcp.settings.project import Project, project_of, settled, working_folder


@dataclass(frozen=True, slots=True)
class Setup:
    """The flags that stand before the command, by the names of the settings."""

    flags: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        home: str | None,
        agent: str | None,
        read_only: bool,
        tools: str | None,
        in_process: bool,
    ) -> Setup:
        """Only what was given: a flag that was left out overrides nothing."""
        given: dict[str, object] = {
            "home": home,
            "agent": agent,
            "read_only": read_only or None,
            "tools": tools,
            "in_process": in_process or None,
        }
        return cls({name: value for name, value in given.items() if value is not None})

    def load(self) -> Loaded:
        """The settings with their origins; ConfigError with everything that is wrong."""
        return load(os.environ, self.flags)

    def config(self) -> Config:
        """The settings, in this folder; what is odd but no error is said on stderr."""
        loaded = self._said()
        return settled(loaded, project_here(loaded.config))

    def shared(self) -> Config:
        """The settings wherever one is: for what serves clients of any folder."""
        return self._said().config

    def _said(self) -> Loaded:
        loaded = self.load()
        for warning in loaded.warnings:
            render.remark(str(warning))
        return loaded

    def existing(self) -> Config:
        """The settings of a home that is there: for commands that must not make one.

        Raises NotFoundError where there is none."""
        config = self.config()
        if not Path(config.home).is_dir():
            raise NotFoundError(no_memory(config.home))
        return config

    def for_clients(self, loaded: Loaded) -> list[str]:
        """The flags a client has to give to get what this command has: those that were given,
        and what the environment says, which a client does not have. The home goes its own way."""
        config = loaded.config
        flags = {name: value for name, value in self.flags.items() if name != "home"}
        values = {
            "agent": ("agent", config.agent),
            "read_only": ("writing.read_only", config.writing.read_only),
            "tools": ("tools", ",".join(config.tools)),
        }
        for name, (key, value) in values.items():
            if value and loaded.origins.get(key, "").startswith("MEMORY_MCP_"):
                flags.setdefault(name, value)
        return words_of(flags)


def project_here(config: Config) -> Project | None:
    """The project of the folder in which the command runs, where `projects` is auto."""
    return project_of(config, working_folder(os.environ), os.environ)


def words_of(flags: Mapping[str, object]) -> list[str]:
    """Flags by the names of the settings, as words of a command line."""
    words: list[str] = []
    for name, value in flags.items():
        flag = f"--{name.replace('_', '-')}"
        words += [flag] if value is True else [flag, str(value)]
    return words


def no_memory(home: str) -> str:
    """What is said where there is no home."""
    return f"there is no memory at {home}; {init_line(home)} makes it"


def init_line(home: str) -> str:
    """The command that makes this very home."""
    words = [] if Path(home) == default_home() else ["--home", home]
    return shlex.join(["memory-mcp", *words, "init"])


pass_setup = click.make_pass_decorator(Setup)
as_json = click.option("--json", "json_", is_flag=True, help="Print JSON.")
