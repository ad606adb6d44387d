"""Where things stand in the text of a header: ends of values, comments; and what is equal."""

from __future__ import annotations

import re

import yaml

from memory_mcp.core.note import Json

_COMMENT = re.compile(r"#[^\r\n]*")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*[ \t]+(#[^\r\n]*)")


def content_end(header: str, node: yaml.Node) -> int:
    """The end of what belongs to a value: without the blank lines and comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return content_end(header, last[1] if isinstance(last, tuple) else last)
    end = node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        text = header[node.start_mark.index : end]
        return node.start_mark.index + len(text.rstrip())
    return int(end)


def line_end(header: str, index: int) -> int:
    """The start of the next line."""
    end = header.find("\n", index)
    return len(header) if end < 0 else end + 1


def comments(header: str, first: int, last: int) -> list[str]:
    """The comments between two offsets of a header that is YAML, without what is text."""
    if "#" not in header[first:last]:
        return []
    found: list[tuple[int, str]] = []
    at = 0
    for token in yaml.scan(header, Loader=yaml.CSafeLoader):
        start, end = token.start_mark.index, token.end_mark.index
        found += ((at + match.start(), match[0]) for match in _COMMENT.finditer(header[at:start]))
        if isinstance(token, yaml.ScalarToken) and (match := _BLOCK_SCALAR.match(header, start)):
            found.append((match.start(1), match[1]))
        at = max(at, end)
    return [text.rstrip() for place, text in found if first <= place < last]


def same(left: Json, right: Json) -> bool:
    """Equal, and of the same types: True is not 1, and 1 is not 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right
