"""What the keys of a header mean: title, description, tags, aliases, dates, provenance.

Our own form, Claude Code's auto-memory (`name`, `description`, `metadata`) and Obsidian's are
read alike. A value of the wrong type is a warning and otherwise ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_mcp.core.languages import language_code
from memory_mcp.core.links import header_links
from memory_mcp.core.note import Json, Link, Provenance
from memory_mcp.core.plain import clip, one_line, plain

LIMIT = 200
"""Characters that a title or a description may have."""

_KINDS = {dict: "a mapping", list: "a list", bool: "true or false", str: "a text"}
_SEPARATOR = re.compile(r"\s*,\s*")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|www\.|mailto:", re.I)
_LONGEST = 4000  # characters of a description that may hold markup
_OUTSIDE = frozenset(["web", "compaction", "import"])
_ORIGIN = frozenset(["kind", "by", "at"])
_ABOUT_NOTE = frozenset(["confidence", "wiki_promote"])
_LIFTED = ("title", "name", "description", "tags", "aliases", "created", "updated")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The meaning of a header. Texts are plain and on one line."""

    title: str | None = None
    name: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: str | None = None
    updated: str | None = None
    pinned: bool = False
    seed: bool = False
    triggers: tuple[str, ...] = ()
    provenance: Provenance | None = None
    language: str | None = None
    """ISO 639-1 code of a natural language; None where the header names none, or another kind."""
    links: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = ()


def metadata(values: Mapping[str, Json]) -> Metadata:
    """The meaning of a header's values."""
    reader = _Reader(_lifted(values))
    name = reader.text("name")
    seed, triggers = _arrival(reader)
    return Metadata(
        title=clip(one_line(reader.text("title") or ""), LIMIT) or None,
        name=clip(one_line(name or ""), LIMIT) or None,
        description=_description(reader.text("description") or ""),
        tags=_distinct(_tag(word) for word in reader.words("tags", "tag", blanks=True)),
        aliases=_distinct(one_line(word) for word in reader.words("aliases", "alias")),
        created=reader.date("created"),
        updated=reader.date("updated"),
        pinned=reader.flag("pinned"),
        seed=seed,
        triggers=triggers,
        provenance=_provenance(reader),
        language=_language(values),
        links=reader.links(),
        warnings=tuple(reader.warnings),
    )


def subject(values: Mapping[str, Json]) -> dict[str, Json]:
    """A header without what tools and agents write in it of themselves and of the note ("import",
    "default", how sure they are): a question with such a word is not about the note."""
    kept = {key: value for key, value in values.items() if key not in _ABOUT_NOTE}
    origin = kept.get("source")
    if isinstance(origin, dict):
        told = [value for key, value in origin.items() if key not in _ORIGIN]
        kept["source"] = told[0] if len(told) == 1 else told
    return kept


def merged_tags(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Both lists without repeats; upper and lower case are the same, the first spelling stays."""
    return _distinct((*first, *second))


def _lifted(values: Mapping[str, Json]) -> Mapping[str, Json]:
    """What some programs write below `metadata` counts where the header itself does not say it."""
    below = values.get("metadata")
    if not isinstance(below, dict):
        return values
    lacking = [key for key in _LIFTED if values.get(key) in (None, "") and key in below]
    return {**values, **{key: below[key] for key in lacking}}


class _Reader:
    """Reads keys by type, and notes what has the wrong one."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self.values = values
        self.warnings: list[str] = []

    def text(self, key: str) -> str | None:
        """A text; numbers count as text."""
        value = self.values.get(key)
        if isinstance(value, str):
            return value if value.strip() else None
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(key, "a text", value)
            return None
        return str(value)

    def date(self, key: str) -> str | None:
        text = self.text(key)
        return clip(one_line(text), LIMIT) if text else None

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value is True
        self.wrong(key, "true or false", value)
        return False

    def words(self, *keys: str, blanks: bool = False) -> Iterator[str]:
        """Words of the first key that is there, and of its other spelling."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, str):
                value = _listed(value, blanks)
            if isinstance(value, list):
                for item in value:
                    yield from self._word(key, item)
            elif isinstance(value, bool | dict):
                self.wrong(key, "a list of words", value)
            elif value is not None:
                yield str(value)

    def links(self) -> tuple[Link, ...]:
        """The links of the header; a warning for a `links` that is no list of {to, relation}."""
        value = self.values.get("links")
        items = value if isinstance(value, list) else [value]
        fits = all(
            item is None
            or isinstance(item, str | list)
            or (isinstance(item, dict) and "to" in item)
            for item in items
        )
        if not fits:
            self.wrong("links", "a list of {to, relation}", value)
        return header_links(self.values)

    def wrong(self, key: str, wanted: str, value: Json) -> None:
        """Notes that a key has a value of another type."""
        self.warnings.append(f"{key} should be {wanted}, is {_KINDS.get(type(value), 'a number')}")

    def _word(self, key: str, item: Json) -> Iterator[str]:
        if isinstance(item, dict | list):
            self.wrong(f"an item of {key}", "a word", item)
        elif item is not None:
            yield str(item).lower() if isinstance(item, bool) else str(item)


def _listed(text: str, blanks: bool) -> Json:
    """The words of a text: a JSON list is read as one, else commas part, or blanks."""
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, list):
            return value
        text = text.strip().strip("[]")
    if "," in text or not blanks:
        return [word for word in _SEPARATOR.split(text) if word]
    return [word for word in text.split() if word]


def _description(text: str) -> str | None:
    return (plain(text) if len(text) <= _LONGEST else one_line(text)) or None


def _language(values: Mapping[str, Json]) -> str | None:
    """From `language` or `lang`. Notes on code name its language there too: that says nothing."""
    given = (values.get(key) for key in ("language", "lang"))
    codes = (language_code(value) for value in given if isinstance(value, str))
    return next((code for code in codes if code), None)


def _tag(word: str) -> str:
    return one_line(word).strip("\"'").lstrip("#").strip().strip("/")


def _distinct(words: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for word in words:
        if word:
            found.setdefault(word.casefold(), clip(word, LIMIT))
    return tuple(found.values())


def _arrival(reader: _Reader) -> tuple[bool, tuple[str, ...]]:
    """`metadata.seed` and `metadata.triggers`: how a note comes into a conversation unasked."""
    given = reader.values.get("metadata")
    if not isinstance(given, dict):
        return False, ()
    inner = _Reader(given)
    found = inner.flag("seed"), _distinct(one_line(word) for word in inner.words("triggers"))
    reader.warnings += (f"metadata.{warning}" for warning in inner.warnings)
    return found


def _provenance(reader: _Reader) -> Provenance | None:
    confidence = reader.values.get("confidence")
    if isinstance(confidence, bool | list | dict):
        reader.wrong("confidence", "a number or a word", confidence)
        confidence = None
    source = reader.values.get("source")
    if isinstance(source, list):  # clippers write a list of addresses
        texts = [item for item in source if isinstance(item, str)]
        source = texts[0] if texts else None
    fields: dict[str, str | None] = {}
    if isinstance(source, str) and source.strip():
        fields = _named(one_line(source))
    elif isinstance(source, dict):
        inner = _Reader(source)
        fields = {key: inner.date(key) for key in ("url", "kind", "by", "at")}
        reader.warnings += (f"source.{warning}" for warning in inner.warnings)
    elif source is not None and not isinstance(source, str):
        reader.wrong("source", "a mapping {url, kind, by, at}", source)
    if confidence is None and not any(fields.values()):
        return None
    return Provenance(
        fields.get("url"), fields.get("kind"), fields.get("by"), fields.get("at"), confidence
    )


def _named(source: str) -> dict[str, str | None]:
    if _ADDRESS.match(source):
        return {"url": source}
    return {"kind": source.lower()} if source.lower() in _OUTSIDE else {"by": clip(source, LIMIT)}
