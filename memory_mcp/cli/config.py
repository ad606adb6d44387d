"""The settings: `config show`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, pass_setup, project_here
from memory_mcp.core.config import Config
from memory_mcp.settings import disclosed
from memory_mcp.settings.project import settled
from memory_mcp.settings.project_file import NAME


@click.group()
def config() -> None:
    """The settings."""


@config.command("show")
@as_json
@pass_setup
def show_config(setup: Setup, json_: bool) -> None:
    """Every setting in force here, and where it comes from."""
    loaded = setup.load()
    everywhere = dict(flatten(loaded.config))
    origins = {key: loaded.origins.get(key, "default") for key in everywhere}
    project = project_here(loaded.config)
    here = settled(loaded, project)
    if project is not None and project.file is not None:
        here = here.model_copy(update={"sources": {**here.sources, **project.file.sources}})
        changed = (key for key, value in flatten(here) if everywhere.get(key) != value)
        origins |= dict.fromkeys(changed, str(project.file.root / NAME))
    values = dict(flatten(here))
    if json_:
        render.as_json(
            {key: {"value": value, "origin": origins[key]} for key, value in values.items()}
        )
        return
    rows = [[key, as_text(value), origins[key]] for key, value in values.items()]
    render.table(["setting", "value", "from"], rows)
    for warning in loaded.warnings:
        render.remark(str(warning))


def flatten(settings: Config) -> Iterator[tuple[str, Any]]:
    """(dotted key, JSON value) of every setting; secrets as `***`, addresses without them."""
    yield from _flat("", settings.model_dump(mode="json"))


def _flat(prefix: str, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            yield from _flat(f"{dotted}.", value)
        else:
            yield dotted, _hidden(key, value)


def _hidden(key: str, value: Any) -> Any:
    """The value, with every secret inside it as `***`."""
    if isinstance(value, dict):
        return {inner: _hidden(inner, item) for inner, item in value.items()}
    if isinstance(value, list):
        return [_hidden("", item) for item in value]
    return disclosed(key, value)


def as_text(value: Any) -> str:
    """A value as it would stand in config.yml, on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
