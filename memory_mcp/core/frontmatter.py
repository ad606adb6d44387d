"""The header of a note: where it stands, what it says, and changing it byte by byte."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.header_edit import set_key
from memory_mcp.core.lenient import fallback, looks_like_header
from memory_mcp.core.note import Json
from memory_mcp.core.yaml_reader import Loaded, NotYamlError, read
from memory_mcp.core.yaml_writer import entry

__all__ = ["Loaded", "Parts", "change", "compose", "load", "split", "split_and_load"]

_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.M)
_NONE = Loaded({}, "none")
_EMPTY = Loaded({}, "good")


@dataclass(frozen=True, slots=True)
class Parts:
    """A note's text in parts: bom + raw_header_with_fences + body is the whole text."""

    bom: str
    header: str | None
    """The text between the fences; None where there is no header."""
    raw_header_with_fences: str
    body: str
    newline: str
    """The line end that the text uses."""


def split(text: str) -> Parts:
    """The parts of a note. Only `---` at the very start, closed by `---` or `...`, is a header,
    and only where a mapping or nothing at all stands between; all else is body."""
    return split_and_load(text)[0]


def split_and_load(text: str) -> tuple[Parts, Loaded]:
    """The parts of a note and what its header says, read once."""
    bom, rest = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    newline = _newline(rest)
    opening = _OPEN.match(rest)
    closing = _CLOSE.search(rest, opening.end()) if opening else None
    if opening is None or closing is None:
        return Parts(bom, None, "", rest, newline), _NONE
    header = rest[opening.end() : closing.start()]
    loaded = load(header)
    # Two rules with nothing between are an empty header; a rule above an ellipsis is not.
    if loaded.state == "none" or (not header.strip() and closing[0].startswith(".")):
        return Parts(bom, None, "", rest, newline), _NONE
    end = closing.end()
    return Parts(bom, header, rest[:end], rest[end:], newline), loaded


def load(header: str) -> Loaded:
    """What the text between the fences says. Never raises: a header that is not valid YAML has
    the state "broken", a warning, and those values that can be read line by line."""
    if not header.strip():
        return _EMPTY
    try:
        return read(header)
    except NotYamlError as error:
        return fallback(header, error) if looks_like_header(header) else _NONE


def compose(values: Mapping[str, Json]) -> str:
    """A fresh header block, fences and final newline included."""
    lines = [line for key, value in values.items() for line in entry(key, value)]
    return "\n".join(["---", *lines, "---", ""])


def change(text: str, values: Mapping[str, Json | None]) -> str:
    """The text with these keys set (None removes a key); every other byte stays. Makes a header
    where there is none. RefusedError where the header is broken or it cannot be done safely."""
    parts, loaded = split_and_load(text)
    if loaded.state == "broken":
        raise RefusedError(f"{loaded.warnings[0]}; nothing was changed, mend the header first")
    if parts.header is None:
        kept = {key: value for key, value in values.items() if value is not None}
        if not kept:
            return text
        return parts.bom + compose(kept).replace("\n", parts.newline) + parts.body
    header = parts.header
    expected = loaded.values
    for key, value in values.items():
        header, expected = set_key(header, expected, key, value, parts.newline)
    if header == parts.header:
        return text
    fenced = _fenced(parts, header)
    changed = parts.bom + fenced + parts.body
    if expected and split(changed).header != header:
        raise RefusedError("the header would not be found again; edit the file by hand")
    return changed


def _fenced(parts: Parts, header: str) -> str:
    """The header between its own fences; no fences around nothing, but where they keep the text
    that follows from being read as a header."""
    if not header.strip() and split(parts.body).header is None:
        return ""
    old = parts.header or ""
    raw = parts.raw_header_with_fences
    opening = _OPEN.match(raw)
    start = opening.end() if opening else 0
    return raw[:start] + header + raw[start + len(old) :]


def _newline(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
