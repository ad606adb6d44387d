"""The text of a header as JSON-safe values: nothing is run, nothing expands, nothing is lost.

Scalars follow YAML 1.2's core rules (`yes`, `12:30`, `007` and dates are text), numbers stay
numbers only where they read the same when written again. What is odd becomes text as written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from memory_mcp.core.note import HeaderState, Json

_MAX_HEADER = 256 * 1024  # characters; real headers are below 4,000
_MAX_VALUES = 20_000  # after aliases are followed; a bomb has millions
_MAX_DEPTH = 48
_SAFE_INTEGER = 2**53  # JSON numbers beyond lose digits in many clients

_NULL = frozenset(["", "~", "null", "Null", "NULL"])
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,18})\Z")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][+-]?[0-9]+)?\Z")
_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]\Z")
_TEMPLATE = re.compile(r"\{\{[^{}\n]*\}\}\Z")
_CORE = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(
    _CORE + name for name in ("str", "null", "bool", "int", "float", "timestamp", "value", "merge")
)
_KNOWN_TAGS = _PLAIN_TAGS | {
    _CORE + name for name in ("map", "seq", "set", "omap", "pairs", "binary")
}
_TAB = re.compile(r"^(?:\t+[^\t\n]|[^\s#'\"][^:\n]*:[ ]*\t)")


class NotYamlError(ValueError):
    """The header cannot be read as YAML. `line` is 1-based in the header, 0 where not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        self.reason = reason
        self.line = line
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a header says. `values` are JSON-safe; `warnings` are for the person who wrote it."""

    values: dict[str, Json]
    state: HeaderState
    warnings: tuple[str, ...] = ()


def compose(header: str) -> yaml.Node | None:
    """The node tree of a header, with marks. NotYamlError where it is none."""
    if len(header) > _MAX_HEADER:
        raise NotYamlError(f"its size is {len(header)} characters, more than {_MAX_HEADER}")
    try:
        return yaml.compose(header, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(str(error.problem or error.context or "syntax error").split())
        raise NotYamlError(reason, mark.line + 1 if mark else 0) from error
    except yaml.YAMLError as error:
        raise NotYamlError("it holds characters that are not allowed") from error
    except (RecursionError, ValueError) as error:
        raise NotYamlError("it is nested too deeply or malformed") from error


def read(header: str) -> Loaded:
    """The values of a header that is YAML. NotYamlError where it is not, or expands too far;
    state "none" where it is no mapping."""
    node = compose(header)
    if not isinstance(node, yaml.MappingNode):
        return Loaded({}, "none")
    walk = _Walk(header)
    values = walk.mapping(node, 0, top=True)
    warnings = [*walk.warnings, *_tab_warnings(header)]
    return Loaded(values, "good", tuple(dict.fromkeys(warnings)))


def key_text(header: str, node: yaml.Node) -> str:
    """A key as text: the value of a plain or quoted one, else the source as written."""
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    return source_of(header, node)


def source_of(header: str, node: yaml.Node) -> str:
    """What stands in the header for a node, on one line."""
    text = header[node.start_mark.index : node.end_mark.index]
    return " ".join(text.split())[:500]


class _Walk:
    """Turns nodes into values, and counts them so that aliases cannot multiply without bound."""

    def __init__(self, header: str) -> None:
        self._header = header
        self._count = 0
        self._open: set[int] = set()
        self.warnings: list[str] = []

    def mapping(self, node: yaml.MappingNode, depth: int, top: bool = False) -> dict[str, Json]:
        values: dict[str, Json] = {}
        merged: dict[str, Json] = {}
        with_place = top or depth < 4
        for key_node, value_node in node.value:
            if key_node.tag == _CORE + "merge":
                merged.update(self._merge(value_node, depth))
                continue
            key = key_text(self._header, key_node)
            self._step()
            if key in values and with_place:
                self.warnings.append(
                    f"header: the key {key[:80]!r} is repeated; the last value counts"
                )
                del values[key]  # the order is that of the values that count
            values[key] = self._value(value_node, depth + 1)
        return {**{k: v for k, v in merged.items() if k not in values}, **values}

    def _merge(self, node: yaml.Node, depth: int) -> dict[str, Json]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Json] = {}
        for source in reversed(sources):
            value = self._value(source, depth + 1)
            if isinstance(value, dict):
                merged.update(value)
        return merged

    def _value(self, node: yaml.Node, depth: int) -> Json:
        self._step()
        if depth > _MAX_DEPTH:
            self.warnings.append("header: a value is nested too deeply; it is kept as text")
            return source_of(self._header, node)
        if node.tag not in _KNOWN_TAGS:
            self.warnings.append(
                f"header: the YAML tag {_tag_name(node.tag)!r} is not used; its value is plain"
            )
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self._open:
            self.warnings.append("header: an alias that holds itself is left out")
            return None
        self._open.add(id(node))
        try:
            return self._collection(node, depth)
        finally:
            self._open.discard(id(node))

    def _collection(self, node: yaml.Node, depth: int) -> Json:
        written = self._written(node)
        if written is not None:
            return written
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            if node.tag == _CORE + "set":
                return [key_text(self._header, key) for key, _ in node.value]
            return self.mapping(node, depth)
        return source_of(self._header, node)

    def _written(self, node: yaml.Node) -> str | None:
        """`[[Note]]` and `{{title}}` without quotes: not the nested collections YAML sees."""
        if not getattr(node, "flow_style", False) or len(node.value) != 1:
            return None
        source = self._header[node.start_mark.index : node.end_mark.index]
        if isinstance(node, yaml.MappingNode):
            return source if _TEMPLATE.match(source) else None
        inner = node.value[0]
        if not isinstance(inner, yaml.SequenceNode) or not _WIKILINK.match(source):
            return None
        words = [item for item in inner.value if isinstance(item, yaml.ScalarNode)]
        texts = any(isinstance(_scalar(item), str) and not item.style for item in words)
        return source if texts and len(words) == len(inner.value) else None

    def _step(self) -> None:
        self._count += 1
        if self._count > _MAX_VALUES:
            raise NotYamlError(f"its aliases or its size amount to more than {_MAX_VALUES} values")


def _scalar(node: yaml.ScalarNode) -> Json:
    text = str(node.value)
    if node.tag == _CORE + "binary":
        return "".join(text.split())
    if node.style or node.tag not in _PLAIN_TAGS or node.tag == _CORE + "str":
        return text if node.style else _plain_scalar(text, node.tag)
    return _plain_scalar(text, node.tag)


def _plain_scalar(text: str, tag: str) -> Json:
    if text in _NULL and tag == _CORE + "null":
        return None
    if tag == _CORE + "str" or tag not in _PLAIN_TAGS:
        return text
    if text in _BOOL:
        return _BOOL[text]
    return number(text)


def number(text: str) -> Json:
    """The number that a text is, where it reads the same when written again; else the text."""
    if _INT.match(text):
        number = int(text)
        return number if abs(number) <= _SAFE_INTEGER and str(number) == text else text
    if _FLOAT.match(text) and len(text) < 40:
        real = float(text)
        return real if math.isfinite(real) and repr(real) == text else text
    return text


def _tag_name(tag: str) -> str:
    return tag.replace(_CORE, "!!")[:80]


def _tab_warnings(header: str) -> Iterator[str]:
    if "\t" not in header:
        return
    for number, line in enumerate(header.split("\n"), start=2):
        if _TAB.match(line):
            yield f"header: line {number} has a tab, which YAML does not like; use blanks"
            return
