"""Setting one key of a header: only that value's bytes change, and the result is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.header_list import changed_list
from memory_mcp.core.header_parts import comments, content_end, line_end, same
from memory_mcp.core.note import Json
from memory_mcp.core.yaml_reader import NotYamlError, compose, key_text, read, source_of
from memory_mcp.core.yaml_writer import entry, inline

Values = dict[str, Json]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a key stands in the header: character offsets."""

    key: yaml.Node
    value: yaml.Node
    first: int
    """Start of the line of the key."""
    last: int
    """End of the last line of the value, its line end included."""


def set_key(
    header: str, known: Values, key: str, value: Json | None, newline: str
) -> tuple[str, Values]:
    """The header with one key set, or removed where the value is None, and what it then says.

    `known` is what the header says now. RefusedError where no way leaves all else as it is.
    """
    if value is None and key not in known:
        return header, known
    if value is not None and key in known and same(known[key], value):
        return header, known
    root = _root(header, key)
    place = _find(header, root, key)
    expected = {name: item for name, item in known.items() if name != key or value is not None}
    if value is not None:
        expected[key] = value
    for attempt in _attempts(header, root, place, key, value, newline, known.get(key)):
        changed = attempt()
        if changed is not None and _says(changed, expected):
            return changed, expected
    raise RefusedError(
        f"the key {key!r} cannot be changed without touching the rest of the header; edit the file"
        " by hand"
    )


def _attempts(
    header: str,
    root: yaml.MappingNode | None,
    place: _Place | None,
    key: str,
    value: Json | None,
    newline: str,
    known: Json,
) -> Iterator[Callable[[], str | None]]:
    indent = " " * root.start_mark.column if root is not None else ""
    if place is None:
        if value is not None:
            added = newline.join(indent + line for line in entry(key, value))
            yield lambda: _added(header, added, newline)
        return
    if value is None:
        yield lambda: header[: place.first] + header[place.last :]
        return
    yield lambda: _spliced(header, place, value)
    yield lambda: changed_list(header, place.value, known, value, newline)
    block = isinstance(place.value, yaml.SequenceNode) and not place.value.flow_style
    lines = [indent + line for line in entry(key, value, block or None)]
    yield lambda: _replaced(header, place, lines, indent, newline)


def _spliced(header: str, place: _Place, value: Json) -> str | None:
    """Only the bytes of the value: where the old one stands on one line behind its key, and the
    new one does not want lines of its own."""
    old = place.value
    start, end = old.start_mark.index, old.end_mark.index
    if start == end or "\n" in header[start:end] or "\r" in header[start:end]:
        return None
    if isinstance(old, yaml.CollectionNode) and not old.flow_style:
        return None
    if not isinstance(old, yaml.CollectionNode) and isinstance(value, list | dict) and value:
        return None
    return header[:start] + inline(value, top=True) + header[end:]


def _replaced(header: str, place: _Place, lines: list[str], indent: str, newline: str) -> str:
    """New lines for the key and its value; comments among the old ones stay."""
    kept = comments(header, place.first, place.last)
    if len(kept) == len(lines) == 1:
        lines = [f"{lines[0]} {kept[0]}"]
    else:
        lines = [*(indent + comment for comment in kept), *lines]
    ended = header[place.first : place.last].endswith(("\n", "\r"))
    text = newline.join(lines) + (newline if ended else "")
    return header[: place.first] + text + header[place.last :]


def _added(header: str, lines: str, newline: str) -> str:
    if header and not header.endswith(("\n", "\r")):
        header += newline
    return header + lines + newline


def _root(header: str, key: str) -> yaml.MappingNode | None:
    """The mapping that the header is; None where no key is left in it."""
    try:
        root = compose(header)
    except NotYamlError as error:
        raise RefusedError(
            f"the header is not valid YAML ({error.reason}); mend it first"
        ) from error
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise RefusedError(
            f"the header is written in braces; {key!r} cannot be set there, put each key on a line"
        )
    return root


def _find(header: str, root: yaml.MappingNode | None, key: str) -> _Place | None:
    pairs = root.value if root is not None else []
    found = [(k, v) for k, v in pairs if key_text(header, k) == key]
    if not found:
        return None
    if len(found) > 1:
        raise RefusedError(
            f"the key {key!r} is in the header {len(found)} times; remove all but one"
        )
    key_node, value_node = found[0]
    first = max(header.rfind("\n", 0, key_node.start_mark.index), -1) + 1
    last = line_end(header, content_end(header, value_node))
    place = _Place(key_node, value_node, first, last)
    # The node of an alias is that of its anchor, which stands before the key.
    aliased = value_node.start_mark.index < key_node.end_mark.index
    if aliased or _is_anchored(header, key_node.start_mark.index, last):
        raise RefusedError(
            f"the key {key!r} holds an anchor or an alias ({source_of(header, value_node)[:60]});"
            " edit the file by hand"
        )
    return place


def _is_anchored(header: str, start: int, end: int) -> bool:
    if "&" not in header and "*" not in header:
        return False
    for event in yaml.parse(header, Loader=yaml.CSafeLoader):
        mark = event.start_mark
        if getattr(event, "anchor", None) and mark and start <= mark.index < end:
            return True
    return False


def _says(header: str, expected: Values) -> bool:
    try:
        loaded = read(header)
    except NotYamlError:
        return False
    if not expected:
        return loaded.values == {}
    return loaded.state == "good" and same(loaded.values, expected)
