"""Changing a list that stands in lines of its own: the items that stay keep their bytes."""

from __future__ import annotations

import difflib
import json

import yaml

from memory_mcp.core.header_parts import content_end, line_end
from memory_mcp.core.note import Json
from memory_mcp.core.yaml_writer import inline


def changed_list(
    header: str, node: yaml.Node, known: Json, value: Json, newline: str
) -> str | None:
    """The header with the lines of those items changed that are new or gone.

    `known` is what the list says now. None where it has no lines of its own, or where no item
    stays. The caller must check that the result says what was wanted.
    """
    if not isinstance(node, yaml.SequenceNode) or node.flow_style:
        return None
    if not isinstance(known, list) or not isinstance(value, list) or not value:
        return None
    lines = _item_lines(header, node)
    if lines is None or len(lines) != len(known):
        return None
    matcher = difflib.SequenceMatcher(None, _spelled(known), _spelled(value), autojunk=False)
    steps = matcher.get_opcodes()
    if not any(step[0] == "equal" for step in steps):
        return None
    dash = header[lines[0][0] : header.index("-", lines[0][0])] + "- "
    for kind, i, end, j, stop in reversed(steps):
        if kind != "equal":
            new = "".join(f"{dash}{inline(item)}{newline}" for item in value[j:stop])
            header = _exchanged(header, lines, slice(i, end), new, newline)
    return header


def _exchanged(
    header: str, lines: list[tuple[int, int]], gone: slice, new: str, newline: str
) -> str:
    """The header with new lines in place of those of some items, or where these would begin."""
    i = gone.start
    place = lines[i][0] if i < gone.stop else lines[i - 1][1] if i else lines[0][0]
    if new and place and header[place - 1] not in "\r\n":
        new = newline + new
    for start, end in reversed(lines[gone]):
        header = header[:start] + header[end:]
    return header[:place] + new + header[place:]


def _item_lines(header: str, node: yaml.SequenceNode) -> list[tuple[int, int]] | None:
    """(start, end) of the lines of each item; None where a dash does not begin its own line."""
    found: list[tuple[int, int]] = []
    for item in node.value:
        start = header.rfind("\n", 0, item.start_mark.index) + 1
        if not header[start : item.start_mark.index].lstrip(" ").startswith("-"):
            return None
        if found and start < found[-1][1]:
            return None
        found.append((start, line_end(header, content_end(header, item))))
    return found or None


def _spelled(items: list[Json]) -> list[str]:
    return [json.dumps(item, sort_keys=True) for item in items]
