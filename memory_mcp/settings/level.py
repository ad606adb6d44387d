"""One level of settings: what a file, the environment or the command line says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_mcp.core.errors import Problem


@dataclass(slots=True)
class Level:
    """Values of one level, nested by section."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    """Dotted key to where it was given, for sections and single values."""
    lines: dict[str, int] = field(default_factory=dict)
    """Dotted key to its line, where the level is a file."""
    problems: list[Problem] = field(default_factory=list)

    def put(self, path: Iterable[str], value: Any, origin: str) -> None:
        """Set one value, with its sections on the way."""
        *sections, name = path
        place = self.values
        for section in sections:
            below = place.setdefault(section, {})
            if not isinstance(below, dict):
                below = place[section] = {}
            place = below
        place[name] = value
        self.origins[".".join([*sections, name])] = origin


def merged(levels: Iterable[Level]) -> dict[str, Any]:
    """The values of all levels, later ones first in rank; null gives the default back."""
    result: dict[str, Any] = {}
    for level in levels:
        result = _over(result, level.values)
    sources = result.get("sources")
    if isinstance(sources, dict):  # a source with nothing below it lacks its path: say so
        result["sources"] = {name: {} if item is None else item for name, item in sources.items()}
    return _without_nulls(result)


def place_of(key: str, levels: Iterable[Level]) -> str:
    """Where a key, or the section it is missing from, was given last."""
    ranked = list(levels)[::-1]
    parts = key.split(".")
    for end in range(len(parts), 0, -1):
        known = ".".join(parts[:end])
        for level in ranked:
            if known in level.origins:
                line = level.lines.get(known)
                return level.origins[known] + (f", line {line}" if line else "")
    return "default"


def _over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, item in top.items():
        known = result.get(key)
        both = isinstance(item, dict) and isinstance(known, dict)
        result[key] = _over(known, item) if both and known is not None else item
    return result


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_nulls(item) if isinstance(item, dict) else item
        for key, item in values.items()
        if item is not None
    }
