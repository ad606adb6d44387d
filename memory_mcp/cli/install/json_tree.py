"""JSON with comments and trailing commas as a tree that knows where everything stands.

No Python library that is kept edits such files in place: they drop the comments, or start Node.js.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from memory_mcp.core.note import Json

TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_DEEPEST = 200
BOM = "\ufeff"


class BrokenError(ValueError):
    """A text that is not what it should be. `line` is 1-based; 0 where not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        self.reason = reason
        self.line = line
        super().__init__(f"{reason} (line {line})" if line else reason)


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object, or an element of an array, whose key is its number."""

    key: str | int
    start: int
    """Where the key begins, or the value of an element."""
    node: Node
    comma: int | None
    """Where the comma behind it stands."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the offsets of its first and behind its last character."""

    value: Json
    start: int
    end: int
    items: tuple[Item, ...] = ()

    def find(self, key: str | int) -> Item | None:
        """The item of this key; the last one where it is there several times, as parsers do."""
        return next((item for item in reversed(self.items) if item.key == key), None)


def tree(text: str) -> Node | None:
    """The tree of a document; None where it holds nothing but blanks and comments.

    Raises BrokenError."""
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = len(BOM) if text.startswith(BOM) else 0

    def document(self) -> Node | None:
        self._skip()
        if self.at == len(self.text):
            return None
        node = self._value(0)
        self._skip()
        if self.at < len(self.text):
            self._broken("there is something behind the end of the document")
        return node

    def _skip(self) -> None:
        found = TRIVIA.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _broken(self, reason: str) -> NoReturn:
        raise BrokenError(reason, self.text.count("\n", 0, self.at) + 1)

    def _value(self, depth: int) -> Node:
        start = self.at
        mark = self.text[start : start + 1]
        if depth > _DEEPEST:
            self._broken(f"it is nested more than {_DEEPEST} deep")
        if mark == "{":
            return self._container("}", depth)
        if mark == "[":
            return self._container("]", depth)
        return Node(self._scalar(), start, self.at)

    def _scalar(self) -> Json:
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        for pattern in (_STRING, _NUMBER):
            if found := pattern.match(self.text, self.at):
                self.at = found.end()
                return _loaded(found[0])
        self._broken("a value is missing or malformed")

    def _container(self, closing: str, depth: int) -> Node:
        start = self.at
        self.at += 1
        items: list[Item] = []
        self._skip()
        while not self.text.startswith(closing, self.at):
            if items and items[-1].comma is None:
                self._broken(f"a comma or {closing} is missing")
            items.append(self._item(closing, len(items), depth))
        self.at += 1
        value: Json
        if closing == "}":
            value = {str(item.key): item.node.value for item in items}
        else:
            value = [item.node.value for item in items]
        return Node(value, start, self.at, tuple(items))

    def _item(self, closing: str, number: int, depth: int) -> Item:
        start = self.at
        key: str | int = number
        if closing == "}":
            key = self._key()
        node = self._value(depth + 1)
        self._skip()
        comma = None
        if self.text.startswith(",", self.at):
            comma = self.at
            self.at += 1
            self._skip()
        return Item(key, start, node, comma)

    def _key(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            self._broken("a key in double quotes is missing")
        self.at = found.end()
        self._skip()
        if not self.text.startswith(":", self.at):
            self._broken("a colon is missing")
        self.at += 1
        self._skip()
        return str(json.loads(found[0]))


def _loaded(raw: str) -> Json:
    try:
        value: Json = json.loads(raw)
    except ValueError:  # a number of more digits than Python reads
        return raw
    return value
