"""What settings there are: read off the model, so that it cannot differ from it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from memory_mcp.core.config import Config


def section(kind: Any) -> type[BaseModel] | None:
    """The model behind a type, None where it is no section."""
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def below(kind: Any, part: str | int) -> Any:
    """The type of a part of a type: a section's field, an item of a list or of a mapping.

    None where there is no such part.
    """
    model = section(kind)
    if model is not None:
        known = model.model_fields.get(str(part))
        return None if known is None else known.annotation
    for option in _options(kind):
        origin, arguments = get_origin(option), get_args(option)
        if origin is dict:
            return arguments[1]
        if origin is tuple and isinstance(part, int):
            return arguments[0]
    return None


def type_at(path: Sequence[str | int]) -> Any:
    """The type of the setting at a path, None where there is none."""
    kind: Any = Config
    for part in path:
        kind = below(kind, part)
        if kind is None:
            return None
    return kind


def is_text(kind: Any) -> bool:
    """Whether a setting is text and nothing else: then no word in it has a meaning of its own."""
    options = list(_options(kind))
    return all(option in (str, type(None)) or _is_words(option) for option in options)


def allows_text(kind: Any) -> bool:
    """Whether a setting can be text, among other things."""
    return str in _options(kind)


def is_list(kind: Any) -> bool:
    """Whether a setting can be a list."""
    return any(get_origin(option) is tuple for option in _options(kind))


def names_in(path: Sequence[str | int]) -> list[str]:
    """The known names in the section at a path; none where names are free."""
    model = section(type_at(path)) if path else Config
    return sorted(set(model.model_fields) - {"home"}) if model is not None else []


def keys() -> Iterator[str]:
    """The dotted keys of all settings outside of sources."""
    for name, known in Config.model_fields.items():
        model = section(known.annotation)
        if model is not None:
            yield from (f"{name}.{inner}" for inner in model.model_fields)
        elif name not in ("home", "sources"):
            yield name


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a wrong one probably meant."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def _options(kind: Any) -> Iterator[Any]:
    """The types that a type allows, without annotations."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _options(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for option in get_args(kind):
            yield from _options(option)
    else:
        yield kind


def _is_words(kind: Any) -> bool:
    return get_origin(kind) is Literal and all(isinstance(word, str) for word in get_args(kind))
