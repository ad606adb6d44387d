"""Arguments as clients send them, made into what the schema of the tool says."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from memory_mcp.core.errors import InputError

Schema = Mapping[str, Any]

_SHOWN = 60
_NOTHING = (None, "", "null")
"""What clients send for an argument that they leave out."""

_WHOLE = re.compile(r"[+-]?\d{1,15}(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][+-]?\d{1,3})?")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

# What agents call an argument → what it may be here; the first that the tool has is meant.
_MEANT: dict[str, tuple[str, ...]] = {
    "limit": ("max_results", "top_k", "topk", "k", "n", "count", "num_results", "size", "results"),
    "slug": ("path", "name", "note", "id", "key", "file", "filename", "reference", "title", "uri"),
    "reference": ("path", "name", "note", "id", "key", "file", "filename", "slug", "title", "uri"),
    "query": ("q", "question", "text", "search", "keywords", "prompt"),
    "content": ("body", "text", "value", "data", "markdown", "message", "note_content"),
    "old_text": ("old", "old_str", "old_string", "find", "search"),
    "new_text": ("new", "new_str", "new_string", "replace", "replacement", "replace_with"),
    "path_prefix": ("folder", "directory", "dir", "prefix", "path"),
    "tag": ("tags", "label"),
    "source": ("sources", "from", "collection", "vault", "scope"),
    "target": ("to", "dest", "destination"),
    "relation": ("type", "kind", "rel", "relationship"),
    "min_score": ("threshold", "minimum_score", "score", "cutoff"),
    "if_revision": ("revision", "etag", "expected_revision", "version"),
    "frontmatter": ("metadata", "properties", "meta", "header", "tags", "yaml"),
    "heading": ("section", "header"),
    "max_chars": ("length", "max_length", "max_tokens", "limit"),
    "cursor": ("page", "after", "next_cursor", "next"),
    "source_url": ("url", "link", "origin"),
    "job_id": ("job", "id"),
}


def prepare(tool: str, schema: Schema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under their own names and in their own types; what was left out is absent.

    Raises InputError naming an unknown, missing or unusable argument and what would be right.
    """
    properties: Mapping[str, Schema] = schema.get("properties", {})
    required: Collection[str] = schema.get("required", ())
    named = _named(tool, properties, arguments)
    given = {
        name: value
        for name, value in named.items()
        if name in required or not _left_out(name, value, named)
    }
    missing = [name for name in required if given.get(name) is None]
    if missing:
        raise InputError(f"{tool} needs {_listed(missing)}. It takes: {_listed(properties)}.")
    return {name: _typed(name, properties[name], value) for name, value in given.items()}


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that a wrong one most likely means, None if none is near."""
    wrong = snake(name)
    for right, wrongs in _MEANT.items():
        if wrong in wrongs and right in known:
            return right
    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.6)
    return close[0] if close else None


def snake(name: str) -> str:
    """camelCase and kebab-case as snake_case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:_SHOWN]).replace("-", "_").lower()


def _named(
    tool: str, properties: Mapping[str, Schema], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, value in arguments.items():
        known = name if name in properties else snake(name)
        if known not in properties:
            raise InputError(_unknown(tool, name, properties))
        if known in named and value in _NOTHING:
            continue
        if named.get(known) not in (*_NOTHING, value):
            raise InputError(f"{known!r} was given twice with different values; give it once.")
        named[known] = value
    return named


def _unknown(tool: str, name: str, known: Collection[str]) -> str:
    near = nearest(name, known)
    meant = f" Did you mean {near!r}?" if near else ""
    takes = _listed(known)
    return f"{tool} has no argument {_cut(name)}.{meant} It takes: {takes}. Nothing was done."


def _left_out(name: str, value: Any, named: Mapping[str, Any]) -> bool:
    """Whether an optional argument counts as not given: null, "null" and "" do.

    An empty new_text beside an old_text deletes, and its "null" is a text like any other. So is
    an old_text "null" beside a new_text, which would mean nothing alone.
    """
    if name == "new_text" and named.get("old_text") not in _NOTHING:
        return value is None
    if name == "old_text" and value == "null" and named.get("new_text") not in _NOTHING:
        return False
    return value in _NOTHING


def _typed(name: str, schema: Schema, value: Any) -> Any:
    kinds = _kinds(schema)
    if "array" in kinds:
        items: Schema = kinds["array"].get("items", {})
        return _list(name, value) if items.get("type") == "string" else _objects(name, value)
    if "object" in kinds:
        return _object(name, value)
    if "boolean" in kinds:
        return _flag(name, value)
    if "integer" in kinds or "number" in kinds:
        return _number(name, kinds, value)
    return _text(name, kinds.get("string", {}), value)


def _kinds(schema: Schema) -> dict[str, Schema]:
    """JSON type → the part of the schema that allows it."""
    parts = schema.get("anyOf", [schema])
    return {str(part.get("type", "string")): part for part in parts if part.get("type") != "null"}


def _list(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        value = split_list(value)
    if not isinstance(value, list):
        raise InputError(f"{name} must be a text or a list of texts, not {_cut(value)}.")
    items = [_text(f"each of {name}", {}, item) for item in value if item not in (None, "")]
    return list(dict.fromkeys(items))


def _objects(name: str, value: Any) -> list[Any]:
    """A list of objects, as such or as JSON; what is in them is the tool's to check."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = [value]
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list of objects, not {_cut(value)}.")
    return [item for item in value if item not in (None, "", {})]


def split_list(text: str) -> list[Any]:
    """A list sent as text: JSON, or items between commas."""
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            parsed = json.loads(stripped)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, list):
            return parsed
    return [item.strip() for item in stripped.strip("[]").split(",") if item.strip()]


def _object(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} must be an object, or JSON of one: {error}.") from None
    if not isinstance(value, dict):
        raise InputError(f'{name} must be an object such as {{"tags": ["a"]}}, not {_cut(value)}.')
    return {key: _header_value(key, item) for key, item in value.items()}


def _header_value(key: str, value: Any) -> Any:
    """Values of a header that are lists or flags by their meaning, where they came as text."""
    if not isinstance(value, str):
        return value
    if key in ("tags", "aliases"):
        return split_list(value)
    if key == "links" and value.lstrip().startswith("["):
        return split_list(value)
    if key == "pinned":
        return _FLAGS.get(value.strip().lower(), value)
    return value


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = _FLAGS.get(str(value).strip().lower()) if isinstance(value, (str, int)) else None
    if known is None:
        raise InputError(f"{name} must be true or false, not {_cut(value)}.")
    return known


def _number(name: str, kinds: Mapping[str, Schema], value: Any) -> int | float:
    whole = "integer" in kinds
    schema = kinds["integer" if whole else "number"]
    number = _whole(value) if whole else _real(value)
    low, high = schema.get("minimum"), schema.get("maximum")
    if (
        number is None
        or (low is not None and number < low)
        or (high is not None and number > high)
    ):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"{name} must be {kind}{_range(low, high)}, not {_cut(value)}.")
    return number


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(float(value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _real(value: Any) -> int | float | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, int):  # of any length: only floats can be infinite
        return None if isinstance(value, bool) else value
    return value if isinstance(value, float) and math.isfinite(value) else None


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    return f" of at least {low:g}" if low is not None else ""


def _text(name: str, schema: Schema, value: Any) -> str:
    if isinstance(value, (bool, int, float)):
        value = json.dumps(value)
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, not {_cut(value)}.")
    allowed = schema.get("enum")
    if allowed is not None and value not in allowed:
        raise InputError(f"{name} must be one of {_listed(allowed)}, not {_cut(value)}.")
    return value


def _listed(names: Collection[str]) -> str:
    return ", ".join(names)


def _cut(value: Any) -> str:
    """A value in an error: as JSON, on one line, short."""
    try:
        shown = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        shown = type(value).__name__
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
