"""Editing JSON, with comments or without: a member is put in or taken out, all else stays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from memory_mcp.cli.install.json_tree import COMMENT, TRIVIA, BrokenError, Item, Node, tree
from memory_mcp.core.note import Json

Path = Sequence[str | int]
_INDENT = re.compile(r"\n([ \t]+)\S")
_LINE = re.compile(r"[^\r\n]*")


def put(text: str, path: Path, value: Json) -> str:
    """The text with the value at this path; objects that are missing on the way are made.

    A number of an array that is its length appends. Raises BrokenError where something on the way
    is no object."""
    root = tree(text)
    if root is None:
        end = "" if not text or text.endswith("\n") else newline_of(text)
        return text + end + _rendered(_wrapped(path, value), "", "  ", newline_of(text)) + "\n"
    node = root
    for place, key in enumerate(path):
        _check_container(node, key, path[:place])
        item = node.find(key)
        if item is None:
            return _inserted(text, node, key, _wrapped(path[place + 1 :], value))
        node = item.node
    margin = _margin(text, node.start)
    new = _rendered(value, margin, unit_of(text), newline_of(text))
    return text[: node.start] + new + text[node.end :]


def take(text: str, path: Path) -> str:
    """The text without what stands at this path; unchanged where nothing does. BrokenError."""
    node = tree(text)
    if node is None:
        return text
    for key in path[:-1]:
        item = node.find(key)
        if item is None:
            return text
        node = item.node
    return _without(text, node, path[-1])


def newline_of(text: str) -> str:
    """The line end that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def unit_of(text: str) -> str:
    """One step of indentation: that of the first line which is indented."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _check_container(node: Node, key: str | int, path: Path) -> None:
    wanted = dict if isinstance(key, str) else list
    if not isinstance(node.value, wanted):
        what = "an object" if wanted is dict else "a list"
        where = ".".join(map(str, path)) or "the document"
        raise BrokenError(f"{where} is not {what}")


def _wrapped(path: Path, value: Json) -> Json:
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _rendered(value: Json, margin: str, unit: str, newline: str) -> str:
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    return text.replace("\n", newline + margin)


def _margin(text: str, at: int) -> str:
    """The blanks at the start of the line in which an offset lies."""
    start = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, start)
    return found[0] if found else ""


def _inserted(text: str, node: Node, key: str | int, value: Json) -> str:
    if not node.items:
        return _first(text, node, key, value)
    last = node.items[-1]
    newline = newline_of(text)
    if "\n" not in text[node.start : last.start]:  # all on one line: so is the new one
        new = _member(key, json.dumps(value, ensure_ascii=False))
        return _behind(text, last, last.node.end, f" {new}")
    margin = _margin(text, last.start)
    new = _member(key, _rendered(value, margin, unit_of(text), newline))
    return _behind(text, last, _line_end(text, last), f"{newline}{margin}{new}")


def _behind(text: str, last: Item, at: int, new: str) -> str:
    """The new member behind the last one, and the comma between them."""
    if last.comma is not None:  # a trailing one, and so it is after the new member
        at = max(at, last.comma + 1)
        return text[:at] + new + "," + text[at:]
    end = last.node.end
    return text[:end] + "," + text[end:at] + new + text[at:]


def _line_end(text: str, item: Item) -> int:
    """The end of the comments that stand behind an item on its last line."""
    at = item.node.end if item.comma is None else item.comma + 1
    while found := re.compile(r"[ \t]*(//[^\r\n]*|/\*[^\r\n]*?\*/)").match(text, at):
        at = found.end()
    return at


def _first(text: str, node: Node, key: str | int, value: Json) -> str:
    """The first member, behind the comments that the empty container may hold."""
    newline, outer, unit = newline_of(text), _margin(text, node.start), unit_of(text)
    at = node.start + 1
    for comment in COMMENT.finditer(text, at, node.end - 1):
        at = comment.end()
    new = _member(key, _rendered(value, outer + unit, unit, newline))
    rest = text[at : node.end - 1]
    closing = "" if "\n" in rest else newline + outer
    return text[:at] + newline + outer + unit + new + closing + text[at:]


def _member(key: str | int, value: str) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {value}" if isinstance(key, str) else value


def _without(text: str, node: Node, key: str | int) -> str:
    item = node.find(key)
    if item is None:
        return text
    number = node.items.index(item)
    if len(node.items) == 1:
        return _emptied(text, node, item)
    start = _start(text, item)
    if item.comma is not None and number + 1 < len(node.items):
        following = node.items[number + 1].start
        end = item.comma + 1
        if start == item.start:  # in the middle of a line
            end = following if "\n" not in text[end:following] else end
        return text[:start] + text[end:]
    before = node.items[number - 1]
    end = item.node.end if item.comma is None else item.comma + 1
    if item.comma is not None or before.comma is None:
        return text[:start] + text[end:]
    return text[: before.comma] + text[before.comma + 1 : start] + text[end:]


def _start(text: str, item: Item) -> int:
    """Where an item begins with the line end and the blanks before it."""
    at = item.start
    while at and text[at - 1] in " \t":
        at -= 1
    if at and text[at - 1] == "\n":
        at -= 1
        return at - 1 if at and text[at - 1] == "\r" else at
    return at if at < item.start and text[at - 1] == "," else item.start


def _emptied(text: str, node: Node, item: Item) -> str:
    """The container without its only item; comments stay."""
    end = item.node.end if item.comma is None else item.comma + 1
    head, tail = text[node.start + 1 : item.start], text[end : node.end - 1]
    if not TRIVIA.fullmatch(head) or head.strip() or tail.strip():
        return text[: _start(text, item)] + text[end:]
    return text[: node.start + 1] + text[node.end - 1 :]
