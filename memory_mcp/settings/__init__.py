"""The settings of a home, put together from defaults, `config.yml`, environment and flags."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError, Problem
from memory_mcp.core.web import shown
from memory_mcp.settings.across import across
from memory_mcp.settings.environment import read_environment
from memory_mcp.settings.explain import explain
from memory_mcp.settings.file import read_file
from memory_mcp.settings.flags import read_flags
from memory_mcp.settings.level import Level, merged

__all__ = ["FILE", "SECRET_KEYS", "Loaded", "disclosed", "load", "validated"]

SECRET_KEYS = frozenset({"api_key"})
"""The last part of keys whose value must never be shown."""
_ADDRESS_KEYS = frozenset({"base_url", "url"})

FILE = "config.yml"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings that can be used, and where each came from."""

    config: Config
    origins: dict[str, str] = field(default_factory=dict)
    """For every dotted key: 'default', the path of the file, `MEMORY_MCP_X`, or `--flag`."""
    warnings: tuple[str, ...] = ()


def load(environ: Mapping[str, str], flags: Mapping[str, object]) -> Loaded:
    """Read the settings. A flag overrides the environment, which overrides the file.

    `flags` maps dotted keys (or `home`, `agent`, `tools`, `read_only`) to values; None is not
    given, and so is a null, or an empty value of file or environment. Raises ConfigError with
    every problem.
    """
    command_line = read_flags(flags)
    home, home_origin = _home(environ, command_line)
    file = read_file(home / FILE)
    environment = read_environment(environ, file.values)
    levels = (file, environment, command_line)
    values = merged(levels)
    values["home"] = str(home)
    problems = [problem for level in levels for problem in level.problems]
    problems += _not_a_folder(home, home_origin)
    config, found = validated(values, levels)
    problems.extend(found)
    if problems or config is None:
        raise ConfigError(sorted(set(problems), key=lambda problem: problem.key))
    origins = {key: _origin(key, levels) for key in _keys(config.model_dump())}
    origins["home"] = home_origin
    return Loaded(config, origins, _warnings(file, home / FILE))


def _home(environ: Mapping[str, str], flags: Level) -> tuple[Path, str]:
    given = flags.values.pop("home", None)
    if given:
        text, origin = str(given), "--home"
    elif environ.get("MEMORY_MCP_HOME"):
        text, origin = environ["MEMORY_MCP_HOME"], "MEMORY_MCP_HOME"
    else:
        text, origin = "~/.memory-mcp", "default"
    if text == "~" or text.startswith("~/"):
        text = (environ.get("HOME") or str(Path.home())) + text[1:]
    return Path(text).expanduser().absolute(), origin


def _not_a_folder(home: Path, origin: str) -> list[Problem]:
    """The problem of a home that is a file, or would have to lie in one."""
    for place in (home, *home.parents):
        try:
            mode = place.stat().st_mode
        except OSError:
            continue  # not there, or below a file: the next one tells
        if stat.S_ISDIR(mode):
            return []
        message = f"{place} is a file, and a home is a folder; name another one"
        return [Problem("home", message, origin)]
    return []


def validated(
    values: dict[str, Any], levels: tuple[Level, ...]
) -> tuple[Config | None, list[Problem]]:
    """The settings, or every problem: of single values, and across the sections that are sound."""
    try:
        config = Config.model_validate(values)
        return config, across(config, levels)
    except ValidationError as error:
        problems = explain(error, levels)
        broken = {str(detail["loc"][0]) for detail in error.errors() if detail["loc"]}
    sound = {key: item for key, item in values.items() if key not in broken}
    return None, problems + across(Config.model_validate(sound), levels)


def _keys(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The dotted keys of all single values; a list is one value."""
    for name, item in values.items():
        if isinstance(item, dict) and item:
            yield from _keys(item, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def _origin(key: str, levels: tuple[Level, ...]) -> str:
    for level in reversed(levels):
        if key in level.origins:
            return level.origins[key]
    return "default"


def disclosed(key: str, value: Any) -> Any:
    """A value as it may be shown: a secret as `***`, an address without name, password and
    query."""
    last = key.rpartition(".")[2]
    if last in SECRET_KEYS:
        return "***" if value else value
    return shown(value) if last in _ADDRESS_KEYS and isinstance(value, str) else value


def _warnings(file: Level, path: Path) -> tuple[str, ...]:
    secrets = [key for key in file.origins if key.rpartition(".")[2] in SECRET_KEYS]
    if secrets and path.stat().st_mode & 0o077:
        return (
            f"{path} holds {', '.join(secrets)} and other users of this machine may read it;"
            " allow only yourself: chmod 600",
        )
    return ()
