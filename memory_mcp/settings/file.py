"""`config.yml` as a level of settings, each value with its line."""

from __future__ import annotations

import errno
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from memory_mcp.core.errors import Problem
from memory_mcp.settings.level import Level
from memory_mcp.settings.text import Reader

_DEEPEST = 12
"""Settings are four levels deep; what is deeper is an alias that holds itself, or a mistake."""


def read_file(path: Path) -> Level:
    """Read a file of settings; one that is missing or empty says nothing. Problems are in it."""
    level = Level()
    text = _text(path, level)
    if text is not None:
        read_text(text, path, level)
    return level


def read_text(text: str, path: Path, level: Level) -> None:
    """Take the settings in a text into a level. Problems are in it, with `path` as the place."""
    reader = Reader(text)
    try:
        node = reader.get_single_node()
        if node is None:
            return
        _note_places(level, node, path)
        values = _plain(reader.construct_document(node))
    except yaml.YAMLError as error:
        level.problems.append(_broken(error, path))
    except (ValueError, RecursionError) as error:
        level.problems.append(Problem(path.name, f"cannot be read: {error}", str(path)))
    else:
        _take(level, values, path)


def _text(path: Path, level: Level) -> str | None:
    try:
        if stat.S_ISFIFO(path.stat().st_mode):
            raise OSError(errno.EINVAL, "a pipe would be waited for")
        return path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        message, where = "is not UTF-8; save it as UTF-8 in your editor", f"{path}, line {line}"
    except IsADirectoryError:
        message, where = "is a folder; move it away", str(path)
    except OSError:
        message, where = "cannot be read; check its kind, owner and mode", str(path)
    level.problems.append(Problem(path.name, message, where))
    return None


def _take(level: Level, values: Any, path: Path) -> None:
    if values is None:
        return
    if not isinstance(values, dict):
        level.problems.append(
            Problem(
                path.name,
                f"holds a {_kind(values)}, not settings; write `key: value` on lines of their own",
                str(path),
            )
        )
        return
    if values.pop("home", None) is not None:
        level.problems.append(
            Problem(
                "home",
                "cannot be set in the file that lies in it; use --home or MEMORY_MCP_HOME",
                f"{path}, line {level.lines.get('home', 1)}",
            )
        )
    level.values = values


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else f"single value ({str(value)[:40]!r})"


def _broken(error: yaml.YAMLError, path: Path) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
    what = getattr(error, "problem", None) or "it cannot be read"
    return Problem(
        path.name,
        f"is not valid YAML: {what}; check the indentation, and put texts that hold a colon or"
        " begin with a special letter in quotes",
        where,
    )


def _note_places(level: Level, node: yaml.Node, path: Path) -> None:
    """Remember file and line of every key; a key that stands twice is a problem."""
    for key, line, twice in _keys(node, "", 0):
        level.origins[key] = str(path)
        level.lines[key] = line
        if twice:
            message = "stands twice, so one of the two would be lost; keep one"
            level.problems.append(Problem(key, message, f"{path}, line {line}"))


def _keys(node: yaml.Node, prefix: str, depth: int) -> Iterator[tuple[str, int, bool]]:
    if isinstance(node, yaml.SequenceNode) and depth < _DEEPEST:
        for index, item in enumerate(node.value):
            yield from _keys(item, f"{prefix}{index}.", depth + 1)
    if not isinstance(node, yaml.MappingNode) or depth >= _DEEPEST:
        return
    seen: set[str] = set()
    for name, item in node.value:
        key = f"{prefix}{getattr(name, 'value', '')}"
        yield key, name.start_mark.line + 1, key in seen
        seen.add(key)
        yield from _keys(item, f"{key}.", depth + 1)


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with text keys. Raises ValueError where it is nested without end."""
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    return value
