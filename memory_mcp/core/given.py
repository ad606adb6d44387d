"""What callers hand in to be written: text made safe, header values checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_mcp.core.errors import InputError
from memory_mcp.core.note import Json
from memory_mcp.core.slug import shown
from memory_mcp.core.yaml_reader import number

MAX_BYTES = 2_000_000
"""The largest note that is written: beyond it is a data file, not a memory."""
_MAX_DEPTH = 20
_LISTS = ("tags", "aliases")
_PROVENANCE = ("url", "kind", "by", "at")


@dataclass(frozen=True, slots=True)
class Given:
    """A text that can be written as UTF-8, and what had to be changed for it."""

    text: str
    warnings: tuple[str, ...] = ()


def given_text(text: str, name: str) -> Given:
    """Make a text fit for a file. Half letters (lone surrogates) become U+FFFD, NUL is left out.

    Each change is a warning. `name` is the argument's, for errors. Raises InputError for more than
    2 MB.
    """
    warnings: list[str] = []
    if not text.isascii():
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if whole != text:
            warnings.append(f"{name} held half of a letter (a lone surrogate); it is now U+FFFD.")
        text = whole
    if "\0" in text:
        warnings.append(f"{name} held NUL characters; they were left out.")
        text = text.replace("\0", "")
    size = len(text.encode("utf-8"))
    if size > MAX_BYTES:
        raise InputError(
            f"{name} has {size:,} bytes and a note may have {MAX_BYTES:,}; write several notes."
        )
    return Given(text, tuple(warnings))


def given_header(values: Mapping[Any, Any] | None) -> dict[str, Json]:
    """Checked header values; tags and aliases given as text become lists, null stays null.

    Raises InputError with the dotted key of what has the wrong type.
    """
    checked: dict[str, Json] = {}
    for key, value in (values or {}).items():
        if not isinstance(key, str) or not key.strip():
            raise InputError(f"frontmatter has the key {key!r}; keys are texts, and not empty.")
        checked[_clean_key(key)] = _json(value, f"frontmatter.{key}", 0)
    for key in _LISTS:
        if isinstance(text := checked.get(key), str):
            checked[key] = _listed(text)
    _check_provenance(checked)
    _check_links(checked.get("links"))
    _expect(checked, "pinned", bool, "true or false")
    return checked


def _clean_key(key: str) -> str:
    if len(key) > 200 or not key.isprintable():
        raise InputError(
            f"frontmatter has the key {shown(key)}; a key is one line of at most 200 characters."
        )
    return key


def _json(value: object, where: str, depth: int) -> Json:
    if depth > _MAX_DEPTH:
        raise InputError(f"{where} is nested more than {_MAX_DEPTH} levels deep.")
    match value:
        case None | bool():
            return value
        case int() | float():
            return _number(value, where)
        case str():
            return given_text(value, where).text
        case list() | tuple():
            return [_json(item, f"{where}[{n}]", depth + 1) for n, item in enumerate(value)]
        case Mapping():
            return {
                _clean_key(str(key)): _json(item, f"{where}.{key}", depth + 1)
                for key, item in value.items()
            }
        case _:
            raise InputError(
                f"{where} is a {type(value).__name__}; use text, a number, true or false, a list"
                " or an object."
            )


def _number(value: float, where: str) -> Json:
    """A number as it will be read again: text where it has more digits than JSON can tell apart,
    or no plain spelling."""
    if not math.isfinite(value):
        raise InputError(f"{where} is {value}, which is no JSON number.")
    return number(repr(value))


def _listed(text: str) -> Json:
    """`[\"red\", \"blue\"]` or `red, blue` as a list of texts."""
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list) and all(isinstance(item, str) for item in found):
            return list(found)
    return [item.strip(" []\"'") for item in text.split(",") if item.strip(" []\"'")]


def _check_provenance(values: Mapping[str, Json]) -> None:
    source = values.get("source")
    if source is not None and not isinstance(source, str | dict):
        raise InputError(
            "frontmatter.source is a text or an object with url, kind, by and at; it was"
            f" {_kind(source)}."
        )
    for key in _PROVENANCE if isinstance(source, dict) else ():
        value = source.get(key) if isinstance(source, dict) else None
        if value is not None and not isinstance(value, str):
            raise InputError(f"frontmatter.source.{key} is a text; it was {_kind(value)}.")
    confidence = values.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, str | int | float | None):
        raise InputError(
            f"frontmatter.confidence is a number or a text; it was {_kind(confidence)}."
        )


def _check_links(links: Json) -> None:
    if links is None:
        return
    if not isinstance(links, list):
        raise InputError(
            f"frontmatter.links is a list of {{to, relation}}; it was {_kind(links)}."
        )
    for n, link in enumerate(links):
        if isinstance(link, str):
            continue
        if not isinstance(link, dict) or not isinstance(link.get("to"), str):
            raise InputError(f"frontmatter.links[{n}].to is missing or no text.")
        if not isinstance(link.get("relation", ""), str):
            raise InputError(f"frontmatter.links[{n}].relation is a text.")


def _expect(values: Mapping[str, Json], key: str, kind: type, words: str) -> None:
    value = values.get(key)
    if value is not None and not isinstance(value, kind):
        raise InputError(f"frontmatter.{key} is {words}; it was {_kind(value)}.")


def _kind(value: Json) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
    }
    return names.get(type(value), "an object")
