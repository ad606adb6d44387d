"""Flags of the command line as a level of settings."""

from __future__ import annotations

from collections.abc import Mapping

from memory_mcp.core.errors import Problem
from memory_mcp.settings.level import Level
from memory_mcp.settings.schema import type_at
from memory_mcp.settings.text import value_of

_SHORT = {"read_only": "writing.read_only"}
_NO_SETTINGS = frozenset({"in_process"})
"""Flags that say how to start, not what to do."""


def read_flags(flags: Mapping[str, object]) -> Level:
    """Read flags by dotted key; None was not given. A text is read as what the setting wants.

    An empty text is a problem: it is what a shell makes of a variable that is not set."""
    level = Level()
    for name, given in flags.items():
        if given is None or name in _NO_SETTINGS:
            continue
        path = _SHORT.get(name, name).split(".")
        flag = "--" + path[-1].replace("_", "-")
        if isinstance(given, str) and not given.strip():
            message = f"is empty; give {flag} a value, or leave it out"
            level.problems.append(Problem(".".join(path), message, flag))
            continue
        value = list(given) if isinstance(given, tuple) else given
        if isinstance(value, str):
            value = value_of(type_at(path), value)
        level.put(path, value, flag)
    return level
