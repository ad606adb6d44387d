"""Values as YAML that reads back the same, in plain style where that is safe."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

import yaml

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.note import Json

_WIDTH = 80  # a flow list longer than this stands on lines of its own
_SAFE_START = re.compile(r"[^\W_]|[(/+.]", re.UNICODE)
_UNSAFE = re.compile(r":(?:\s|$)|\s#|[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ue000-\uf8ff]|^\s|\s$")
_FLOW = re.compile(r"[,\[\]{}:]")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\Z"
)
_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_TEXT_TAG = "tag:yaml.org,2002:str"
_RESOLVER = yaml.resolver.Resolver()


def entry(key: str, value: Json, block: bool | None = None) -> list[str]:
    """The lines of `key: value` at the left margin. `block` puts a list on lines of its own; None
    decides by length and content."""
    name = scalar(key, flow=False)
    if isinstance(value, list) and value and _as_block(name, value, block):
        return [f"{name}:", *(f"  - {inline(item)}" for item in value)]
    if isinstance(value, dict) and value:
        return [f"{name}:", *_nested(value)]
    return [f"{name}: {inline(value, top=True)}"]


def inline(value: Json, top: bool = False) -> str:
    """The value on one line: scalars plain or quoted, collections in flow style."""
    if isinstance(value, Mapping):
        pairs = (f"{scalar(str(key), flow=True)}: {inline(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):  # unquoted it would be a wikilink
            return f"[[{', '.join(_quoted_text(item) for item in value[0])}]]"
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return scalar(value, flow=not top)


def _quoted_text(value: Json) -> str:
    return _quoted(value) if isinstance(value, str) else inline(value)


def scalar(value: object, flow: bool) -> str:
    """One scalar. RefusedError for what is no JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else _quoted(str(value))
    if not isinstance(value, str):
        raise RefusedError(f"{type(value).__name__} cannot stand in a header; use text or a list")
    return value if _is_plain(value, flow) else _quoted(value)


def _as_block(name: str, value: Sequence[Json], block: bool | None) -> bool:
    if block is not None:
        return block
    nested = any(isinstance(item, dict | list) for item in value)
    return nested or len(name) + 2 + len(inline(list(value))) > _WIDTH


def _nested(value: Mapping[str, Json]) -> list[str]:
    lines: list[str] = []
    for key, item in value.items():
        lines += ("  " + line for line in entry(key, item))
    return lines


def _is_plain(text: str, flow: bool) -> bool:
    if not _SAFE_START.match(text) or _UNSAFE.search(text) or len(text) > 2000:
        return False
    if text.startswith(("...", "---")) or not text.isprintable():
        return False
    if flow and _FLOW.search(text) and not _DATE.match(text):
        return False
    return _DATE.match(text) is not None or _reads_as_text(text)


def _reads_as_text(text: str) -> bool:
    """Under YAML 1.1 as well as 1.2: `no`, `1e3`, `12:30` and `0x1F` are quoted."""
    if text[0] in "0123456789+.":
        return re.match(r"[\d+.][\d_.,:eExXoOa-fA-F+-]*\Z", text) is None
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return bool(tag == _TEXT_TAG)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
