"""Editing TOML: a table is put at the end or taken out, all else stays byte for byte.

The parser of the standard library says where each statement ends: a statement is the fewest lines
that parse. So there is no second grammar. tomlkit, which keeps comments, does not keep bytes: it
writes LF into a file with CRLF, and leaves blank lines where a table was taken out.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_mcp.cli.install.json_edit import newline_of
from memory_mcp.cli.install.json_tree import BrokenError

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_LINE_OF = re.compile(r"line (\d+)")


@dataclass(frozen=True, slots=True)
class _Statement:
    start: int
    end: int
    path: tuple[str, ...]
    """The keys from the root to what it defines, as far as it says one thing only."""
    header: bool


def parsed(text: str) -> dict[str, Any]:
    """What the document says. Raises BrokenError."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        found = _LINE_OF.search(str(error))
        raise BrokenError(
            str(error) or "it is nested too deeply", int(found[1]) if found else 0
        ) from error


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with the table at this path, at the end of the file; an older one is taken out."""
    if isinstance(_at(parsed(text), path), dict):
        text = take(text, path)
    newline = newline_of(text)
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {literal(item)}" for name, item in value.items()]
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join([*lines, ""])


def take(text: str, path: Sequence[str]) -> str:
    """The text without the table at this path, and the blank line before it."""
    target = tuple(path)
    kept = text
    for start, end in reversed(list(_spans(text, target))):
        if kept[:start].endswith(("\n\n", "\n\r\n")) and not kept[end:].strip("\r\n"):
            start -= 2 if kept[:start].endswith("\r\n") else 1
        kept = kept[:start] + kept[end:]
    return kept


def literal(value: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = [f"{_key(key)} = {literal(item)}" for key, item in value.items()]
        return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, int | float):
        return repr(value)
    return str(value.isoformat())


def _key(name: str) -> str:
    return name if _BARE.match(name) else literal(name)


def _at(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _spans(text: str, target: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Start and end of each run of lines that belongs to the target, comments between its
    statements included."""
    run: tuple[int, int] | None = None
    for statement in _statements(text):
        if statement.path[: len(target)] == target:
            run = (run[0] if run else statement.start, statement.end)
        elif run:
            yield run
            run = None
    if run:
        yield run


def _statements(text: str) -> Iterator[_Statement]:
    table: tuple[str, ...] = ()
    at = 0
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)  # U+2028 and the like end no line here
    number = 0
    while number < len(lines):
        start, chunk = at, lines[number]
        number += 1
        while (said := _said(chunk)) is None and number < len(lines):
            chunk += lines[number]
            number += 1
        at = start + len(chunk)
        if not said:
            continue
        header = chunk.lstrip().startswith("[")
        path = tuple(_only(said))
        table = path if header else table
        yield _Statement(start, at, path if header else table + path, header)


def _said(chunk: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(chunk)
    except tomllib.TOMLDecodeError:
        return None


def _only(values: Any) -> Iterator[str]:
    """The keys down to where there is a choice."""
    while True:
        if isinstance(values, list) and len(values) == 1:
            values = values[0]
        if not isinstance(values, dict) or len(values) != 1:
            return
        ((key, values),) = values.items()
        yield key
