"""JSON in what a model wrote: found between fences and talk, and never completed by guessing.

A library that repairs JSON would close the brackets of an answer that was cut, and half a list
would pass for the whole. What is not JSON goes back to the model instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from memory_mcp.core.errors import AnswerError
from memory_mcp.core.framing import one_line

LONGEST = 200_000
"""Characters of an answer; a page that a person reads has a tenth of it."""

DEEPEST = 32
"""Levels of an answer; what we ask for has four or five."""

_STARTS = 64
_BEGINS = re.compile(r"[{\[]")
_MEANT = re.compile(r'\{\s*["}]|\[\s*[{\["]')
"""What begins a value, and is no bracket of prose such as `[1]` or `{name}`."""


def read_json(text: str) -> Any:
    """The one JSON value of an answer, which may stand in a fence or between talk.

    Raises AnswerError, which names what is wrong: empty, too long, not JSON, several values, too
    deep, a number or text that no file can hold.
    """
    if len(text) > LONGEST:
        raise AnswerError(f"the answer is too long: {len(text):,} characters of {LONGEST:,}")
    text = text.strip("\ufeff \t\r\n")
    if not text:
        raise AnswerError("the answer is empty")
    return _whole_or_inside(text)


def object_of(arguments: str) -> dict[str, Any]:
    """The arguments of a call; none at all are an empty object. Raises AnswerError."""
    if not arguments.strip():
        return {}
    value = read_json(arguments)
    if not isinstance(value, dict):
        raise AnswerError(f"the arguments are no JSON object but {_kind(value)}")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once each: of two values one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise AnswerError(f"the answer has an object with {one_line(twice, 40)!r} twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _whole_or_inside(text: str) -> Any:
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        whole = error
    else:
        _check(value)
        return value
    found = list(_values(text))
    telling = [value for value in found if _tells(value)]
    different = [value for n, value in enumerate(telling) if value not in telling[:n]]
    if len(different) > 1:
        raise AnswerError(
            f"the answer holds {len(different)} JSON values where one is expected; write one"
        )
    if different or found:
        return (different or found)[0]
    raise AnswerError(f"the answer is not JSON ({_reason(whole)})")


def _values(text: str) -> Iterator[Any]:
    """The values in a text, the outermost only. Raises AnswerError where one breaks off."""
    at, tried = 0, 0
    while (match := _BEGINS.search(text, at)) and tried < _STARTS:
        tried += 1
        try:
            value, at = _DECODER.raw_decode(text, match.start())
        except RecursionError as error:
            raise _too_deep() from error
        except ValueError as error:
            if _MEANT.match(text, match.start()):
                raise AnswerError(f"the answer is not JSON ({_reason(error)})") from error
            at = match.end()
        else:
            _check(value)
            yield value


def _tells(value: Any) -> bool:
    return isinstance(value, dict) or any(isinstance(item, dict) for item in value)


def _reason(error: ValueError) -> str:
    """Where JSON breaks off, without the text itself."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, line {error.lineno}, column {error.colno}"
    return "a number is too long"


def _check(value: Any, level: int = 0) -> None:
    if level > DEEPEST:
        raise _too_deep()
    if isinstance(value, float) and not isfinite(value):
        raise AnswerError("the answer holds a number that is not finite (NaN or Infinity)")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check(item, level + 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, level + 1)


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise AnswerError("the answer holds half a character (a lone surrogate)") from error


def _too_deep() -> AnswerError:
    return AnswerError(f"the answer is nested too deep: more than {DEEPEST} levels")


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
