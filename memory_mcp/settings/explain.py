"""What is wrong with a value, in words a person can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memory_mcp.core.config import Config
from memory_mcp.core.errors import Problem
from memory_mcp.settings.level import Level, place_of
from memory_mcp.settings.schema import below, keys, names_in, nearest

_SECRET = ("api_key", "token")


def explain(error: ValidationError, levels: Sequence[Level]) -> list[Problem]:
    """One problem for each key that is wrong, however many ways there are to make it right."""
    found: dict[tuple[str | int, ...], list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        found.setdefault(_path(detail), []).append(detail)
    problems = []
    for path, details in found.items():
        key = ".".join(map(str, path))
        problems.append(Problem(key, _message(path, details), place_of(key, levels)))
    return problems


def _path(detail: ErrorDetails) -> tuple[str | int, ...]:
    """The location of an error without the names of the types that were tried."""
    path: list[str | int] = []
    kind: Any = Config
    for part in detail["loc"]:
        kind = below(kind, part)
        if kind is None and detail["type"] != "extra_forbidden":
            break
        path.append(part)
    return tuple(path)


def _message(path: tuple[str | int, ...], details: Iterable[ErrorDetails]) -> str:
    first, *others = details
    if first["type"] == "missing":
        return "is missing, and has no default"
    if first["type"] == "extra_forbidden":
        return _unknown(path)
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    value = "its value" if path[-1] in _SECRET else _shown(first["input"])
    if others and _is_group(first["input"]):
        return f"{value} is neither a text nor a list of texts"
    return f"{value} {' and '.join(_phrase(detail) for detail in (first, *others))}"


def _unknown(path: tuple[str | int, ...]) -> str:
    name = str(path[-1])
    near = nearest(name, names_in(path[:-1]))
    elsewhere = [key for key in keys() if key.rpartition(".")[2] == name]
    if near is None and elsewhere:
        return f"is no setting here; did you mean {elsewhere[0]}?"
    if near is not None:
        return f"is no setting; did you mean {near}?"
    return f"is no setting; known here are {', '.join(names_in(path[:-1]))}"


def _phrase(detail: ErrorDetails) -> str:
    make = _PHRASES.get(detail["type"])
    return make(detail.get("ctx", {}), detail["input"]) if make else detail["msg"].lower()


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _is_group(value: Any) -> bool:
    return isinstance(value, dict)


def _literal(context: dict[str, Any], value: Any) -> str:
    words = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
    near = nearest(str(value), words)
    hint = f"; did you mean {near}?" if near else ""
    return f"is none of {', '.join(words)}{hint}" if len(words) > 1 else f"is not {words[0]}{hint}"


def _says(text: str) -> Callable[[dict[str, Any], Any], str]:
    return lambda context, value: text.format(**context)


def _listed(context: dict[str, Any], value: Any) -> str:
    return f"is not a list; write [{value}]"


_PHRASES: dict[str, Callable[[dict[str, Any], Any], str]] = {
    "literal_error": _literal,
    "tuple_type": _listed,
    "string_type": _says("is not text; put it in quotes"),
    "string_pattern_mismatch": _says(
        "cannot be a name; use at most 64 letters a-z, digits, - and _, a letter or digit first"
    ),
    "model_type": _says("is not a group of settings; write its keys below it, indented"),
    "dict_type": _says("is not a group of settings; write its keys below it, indented"),
    "greater_than_equal": _says("is less than {ge}, the least that is allowed"),
    "less_than_equal": _says("is more than {le}, the most that is allowed"),
    **dict.fromkeys(
        ("int_parsing", "int_type", "int_from_float", "int_parsing_size"),
        _says("is not a whole number"),
    ),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), _says("is not a number")),
    **dict.fromkeys(("bool_parsing", "bool_type"), _says("is neither true nor false")),
}
