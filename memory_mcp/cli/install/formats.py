"""The formats of clients' files: reading, and edits that are proved by reading again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NoReturn

from memory_mcp.cli.install import json_edit, json_tree, toml_edit, yaml_edit
from memory_mcp.cli.install.json_tree import BrokenError
from memory_mcp.core.errors import RefusedError

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one kind are read and edited."""

    name: str
    parse: Callable[[str], dict[str, Any]]
    """What a text says; BrokenError where it is not of this format."""
    _put: Callable[[str, Any, Any], str]
    _take: Callable[[str, Any], str]

    def put(self, text: str, path: Path, value: Any) -> str:
        """The text with a value at the path. Raises RefusedError where it cannot be had without
        touching something else, BrokenError."""
        before = self.parse(text)
        _check(before, path)
        after = self._put(text, path, value)
        return self._proved(after, _with(before, path, value), path)

    def take(self, text: str, path: Path) -> str:
        """The text without the value at the path. Raises as `put`."""
        before = self.parse(text)
        if at(before, path) is None:
            return text
        after = self._take(text, path)
        return self._proved(after, _without(before, path), path)

    def _proved(self, after: str, expected: Any, path: Path) -> str:
        try:
            said = self.parse(after)
        except BrokenError:
            said = {}
        if not _same(_bare(said), _bare(expected)):
            where = ".".join(map(str, path))
            raise RefusedError(
                f"{where} is written in a way that cannot be changed without touching the rest;"
                " change it by hand (--print shows what belongs there)"
            )
        return after


def at(values: Any, path: Sequence[str | int]) -> Any:
    """The value at a path; None where there is none."""
    for key in path:
        if isinstance(key, str) and isinstance(values, dict):
            values = values.get(key)
        elif isinstance(key, int) and isinstance(values, list) and key < len(values):
            values = values[key]
        else:
            return None
    return values


def _check(values: Any, path: Path) -> None:
    """Raises BrokenError where something on the way is neither missing nor a container."""
    for place, key in enumerate(path):
        wanted = dict if isinstance(key, str) else list
        if not isinstance(values, wanted):
            what = "an object" if wanted is dict else "a list"
            where = ".".join(map(str, path[:place])) or "the document"
            raise BrokenError(f"{where} is not {what}")
        values = at(values, (key,))
        if values is None:
            return


def _with(values: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items = list(values or [])
        found = items[key] if key < len(items) else None
        return [*items[:key], _with(found, rest, value), *items[key + 1 :]]
    return {**(values or {}), key: _with((values or {}).get(key), rest, value)}


def _without(values: Any, path: Path) -> Any:
    values = deepcopy(values)
    del at(values, path[:-1])[path[-1]]
    return values


def _bare(values: Any) -> Any:
    """Values without empty tables: where a table ends, formats differ."""
    if isinstance(values, dict):
        pairs = ((key, _bare(value)) for key, value in values.items())
        return {key: value for key, value in pairs if value != {} and value is not None}
    return [_bare(item) for item in values] if isinstance(values, list) else values


def _same(left: Any, right: Any) -> bool:
    """Equal and of the same types; what is no number (nan) is the same as itself."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right or (left != left and right != right))


def _lenient(text: str) -> dict[str, Any]:
    try:
        values = _plain(text)  # in C: files of clients can be megabytes long
    except RecursionError:
        raise BrokenError("it is nested too deeply") from None
    except ValueError:
        node = json_tree.tree(text)
        values = {} if node is None else node.value
    if not isinstance(values, dict):
        raise BrokenError("the document is not an object")
    return values


def _strict(text: str) -> dict[str, Any]:
    """As JSON alone: what its client would not read is refused, not mended."""
    values = _lenient(text)
    try:
        if text.strip():
            _plain(text)
    except json.JSONDecodeError as error:
        raise BrokenError(f"its client reads plain JSON: {error.msg}", error.lineno) from error
    except ValueError:
        pass  # a number of more digits than Python reads
    return values


def _plain(text: str) -> Any:
    return json.loads(text.removeprefix(json_tree.BOM), parse_constant=_refused)


def _refused(word: str) -> NoReturn:
    raise json.JSONDecodeError(f"{word} is no value of JSON", "", 0)


JSON = Format("JSON", _strict, json_edit.put, json_edit.take)
JSONC = Format("JSON", _lenient, json_edit.put, json_edit.take)
TOML = Format("TOML", toml_edit.parsed, toml_edit.put, toml_edit.take)
YAML = Format("YAML", yaml_edit.parsed, yaml_edit.put, yaml_edit.take)
