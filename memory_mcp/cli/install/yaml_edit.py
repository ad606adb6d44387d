"""Editing YAML: an entry of a mapping is put in or taken out, all else stays byte for byte.

The library that reads the file says where each node stands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from memory_mcp.cli.install.json_edit import newline_of
from memory_mcp.cli.install.json_tree import BrokenError
from memory_mcp.core.header_parts import content_end, line_end


def parsed(text: str) -> dict[str, Any]:
    """What the document says. Raises BrokenError."""
    try:
        values = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BrokenError(
            str(error.problem or "it is malformed"), mark.line + 1 if mark else 0
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        raise BrokenError("it is malformed") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BrokenError("the document is not a mapping")
    return values


def put(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """The text with the entry `section.name`, as the last one of its section; an older one is
    taken out. Raises BrokenError where the section is no mapping."""
    section, name = path
    text = take(text, path)
    newline = newline_of(text)
    found = _entry(_root(text), section)
    if found is None:
        return _ended(text, newline) + newline.join(
            [f"{section}:", *_lines(name, value, "  "), ""]
        )
    key, node = found
    if not isinstance(node, yaml.MappingNode):
        return _filled(text, key, node, name, value)
    if node.flow_style:
        at = node.end_mark.index - 1
        comma = ", " if node.value else ""
        return text[:at].rstrip(" ") + comma + _flow(name, value) + text[at:]
    at = line_end(text, content_end(text, node))
    lines = newline.join([*_lines(name, value, " " * node.start_mark.column), ""])
    return _ended(text[:at], newline) + lines + text[at:]


def take(text: str, path: Sequence[str]) -> str:
    """The text without the entry; unchanged where there is none."""
    section, name = path
    found = _entry(_root(text), section)
    inner = _entry(found[1], name) if found else None
    if found is None or inner is None:
        return text
    key, value = inner
    if isinstance(found[1], yaml.MappingNode) and found[1].flow_style:
        return _without_flow(text, found[1], key)
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    return text[:start] + text[line_end(text, content_end(text, value)) :]


def _root(text: str) -> yaml.Node | None:
    parsed(text)
    return yaml.compose(text, Loader=yaml.CSafeLoader)


def _entry(node: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in reversed(node.value) if pair[0].value == key), None)


def _filled(text: str, key: yaml.Node, node: yaml.Node, name: str, value: dict[str, Any]) -> str:
    """A section that says nothing gets its first entry."""
    if node.value not in ("", "~", "null"):
        raise BrokenError(f"{key.value} is not a mapping", node.start_mark.line + 1)
    newline = newline_of(text)
    if node.value:
        at = node.start_mark.index
        return text[:at] + "{" + _flow(name, value) + "}" + text[node.end_mark.index :]
    at = line_end(text, key.end_mark.index)
    margin = " " * (key.start_mark.column + 2)
    lines = newline.join([*_lines(name, value, margin), ""])
    return _ended(text[:at], newline) + lines + text[at:]


def _ended(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline


def _flow(name: str, value: Any) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"


def _lines(name: str, value: dict[str, Any], margin: str) -> list[str]:
    """The entry, one key on each line; lists and mappings in braces, which is YAML, too."""
    rows = [f"{key}: {_scalar(item)}" for key, item in value.items()]
    return [f"{margin}{_scalar(name)}:", *(f"{margin}  {row}" for row in rows)]


def _scalar(value: Any) -> str:
    plain = isinstance(value, str) and value.replace("-", "").replace("_", "").isalpha()
    if plain and value.lower() not in (
        "y",
        "n",
        "yes",
        "no",
        "on",
        "off",
        "true",
        "false",
        "null",
    ):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _without_flow(text: str, node: yaml.MappingNode, key: yaml.Node) -> str:
    number = next(place for place, pair in enumerate(node.value) if pair[0] is key)
    start, end = key.start_mark.index, node.value[number][1].end_mark.index
    if number + 1 < len(node.value):
        end = node.value[number + 1][0].start_mark.index
    elif number:
        start = node.value[number - 1][1].end_mark.index
    return text[:start] + text[end:]
