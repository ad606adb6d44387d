"""Variables `MEMORY_MCP_<SECTION>__<KEY>` as a level of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory_mcp.core.config import SOURCE_DEFAULTS, SourceSettings
from memory_mcp.core.errors import Problem
from memory_mcp.settings.level import Level
from memory_mcp.settings.schema import keys, nearest, type_at
from memory_mcp.settings.text import value_of

PREFIX = "MEMORY_MCP_"
NO_SETTINGS = frozenset(
    {
        "MEMORY_MCP_HOME",
        "MEMORY_MCP_TOKEN",
        "MEMORY_MCP_DEBUG",
        "MEMORY_MCP_FOLDER",
        "MEMORY_MCP_REASONER",
    }
)
"""Variables that are ours and no settings."""


def read_environment(environ: Mapping[str, str], file: Mapping[str, Any]) -> Level:
    """Read the variables. `file` tells the names of sources, and which variables hold secrets."""
    level = Level()
    excused = NO_SETTINGS | _named_in(file) | _named_by(environ)
    sources = [*SOURCE_DEFAULTS, *_mapping(file.get("sources"))]
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in excused or not environ[name].strip():
            continue
        path = _path(name, sources)
        kind = type_at(path)
        if kind is None or path == ["home"]:
            level.problems.append(Problem(name, _unknown(name, sources), "environment"))
        else:
            level.put(path, value_of(kind, environ[name]), name)
    return level


def _path(name: str, sources: list[str]) -> list[str]:
    """The path of a setting; a source is meant by its known spelling."""
    path = name.removeprefix(PREFIX).lower().split("__")
    if path[0] == "sources" and len(path) > 1:
        path[1] = next((known for known in sources if _variable(known) == path[1]), path[1])
    return path


def _variable(source: str) -> str:
    return source.lower().replace("-", "_")


def _unknown(name: str, sources: list[str]) -> str:
    inner = [
        f"sources.{_variable(s)}.{key}" for s in sources for key in SourceSettings.model_fields
    ]
    known = [PREFIX + key.upper().replace(".", "__") for key in [*keys(), *inner]]
    near = nearest(name, [*known, "MEMORY_MCP_HOME"])
    hint = f"did you mean {near}?" if near else "unset it, or see `memory-mcp config show`"
    return f"is no setting; {hint}"


def _named_in(values: Any) -> frozenset[str]:
    """The variables that settings name: values of `token_env` and `api_key_env`."""
    return frozenset(_names(values))


def _names(values: Any) -> Iterator[str]:
    if isinstance(values, list):
        for item in values:
            yield from _names(item)
    for key, item in _mapping(values).items():
        if key.endswith("_env") and isinstance(item, str):
            yield item
        else:
            yield from _names(item)


def _named_by(environ: Mapping[str, str]) -> frozenset[str]:
    return frozenset(
        value
        for name, value in environ.items()
        if name.startswith(PREFIX) and name.endswith("_ENV")
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
