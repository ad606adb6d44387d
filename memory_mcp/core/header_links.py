"""Where the links of a header stand in its YAML: wikilinks in any value, and values that are the
name of a note."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import yaml

from memory_mcp.core.links import RELATIONS, addressed_links, named_note
from memory_mcp.core.note import HeaderState, Link
from memory_mcp.core.yaml_reader import compose, key_text

Form = Literal["wikilink", "address", "scalar", "flow"]
"""How a note is named: between `[[` and `]]`, by a Markdown address, or by a value of YAML as a
whole (`flow`: inside of brackets or braces)."""

Found = tuple[Link, int, int, Form]
"""(link, start, end, form)"""


def header_places(header: str, state: HeaderState) -> Iterator[Found]:
    """Each link, and where what names its note stands between the fences."""
    if state == "broken":
        yield from _in_text(header, 0)
    elif state == "good" and header.strip():
        root = compose(header)
        if isinstance(root, yaml.MappingNode):
            yield from _Walk(header).top(root)


class _Walk:
    """Goes through the nodes of a header as `links.header_links` goes through its values."""

    def __init__(self, header: str) -> None:
        self._header = header
        self._done: set[int] = set()

    def top(self, root: yaml.MappingNode) -> Iterator[Found]:
        for key_node, value in root.value:
            key = key_text(self._header, key_node)
            name = key.strip().lower().replace("-", "_").replace(" ", "_")
            if name == "links" or name in RELATIONS:
                yield from self._listed(value, flow=bool(root.flow_style))
            else:
                yield from self._value(value)

    def _new(self, node: yaml.Node) -> bool:
        """Whether a node comes for the first time: an alias is the node that it names."""
        at = node.start_mark.index
        if at in self._done and not isinstance(node, yaml.CollectionNode):
            return False
        self._done.add(at)
        return True

    def _listed(self, node: yaml.Node, *, flow: bool) -> Iterator[Found]:
        if isinstance(node, yaml.SequenceNode) and not self._is_wikilink(node):
            for item in node.value:
                yield from self._listed(item, flow=flow or bool(node.flow_style))
        elif isinstance(node, yaml.MappingNode):
            for key_node, value in node.value:
                if key_text(self._header, key_node) in ("to", "target"):
                    yield from self._named(value, flow=flow or bool(node.flow_style))
        else:
            yield from self._named(node, flow=flow)

    def _named(self, node: yaml.Node, *, flow: bool) -> Iterator[Found]:
        """A value that names a note: by links in it, else by itself."""
        start, end = node.start_mark.index, node.end_mark.index
        inner = list(_in_text(self._header[start:end], start))
        if inner:
            if self._new(node):
                for link, first, last, form in inner:
                    yield Link(link.target, "relation", link.relation), first, last, form
        elif isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
            named = named_note(str(node.value))
            if named is not None and self._new(node):
                yield named, start, end, "flow" if flow else "scalar"

    def _value(self, node: yaml.Node) -> Iterator[Found]:
        if isinstance(node, yaml.ScalarNode) or self._is_wikilink(node):
            if self._new(node):
                start, end = node.start_mark.index, node.end_mark.index
                yield from _in_text(self._header[start:end], start)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                yield from self._value(item)
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield from self._value(key)
                yield from self._value(value)

    def _is_wikilink(self, node: yaml.Node) -> bool:
        """`[[Note]]` without quotes, which YAML takes for a list in a list."""
        source = self._header[node.start_mark.index : node.end_mark.index]
        return source.startswith("[[") and any(
            end == len(source) - 2 for _, _, end, _ in _in_text(source, 0)
        )


def _in_text(text: str, offset: int) -> Iterator[Found]:
    for start, end, link in addressed_links(text):
        form: Form = "wikilink" if text[start - 2 : start] == "[[" else "address"
        yield link, offset + start, offset + end, form
