"""What a command knows when it starts: the flags, and the settings that follow from them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import click

from memory_mcp.cli import render
from memory_mcp.core.config import Config
from memory_mcp.settings import Loaded, load


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
        """The settings; what is odd but no error is said on stderr."""
        loaded = self.load()
        for warning in loaded.warnings:
            render.remark(str(warning))
        return loaded.config


pass_setup = click.make_pass_decorator(Setup)
as_json = click.option("--json", "json_", is_flag=True, help="Print JSON.")
