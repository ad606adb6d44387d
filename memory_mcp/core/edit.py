"""Changing the text of a note: one requested edit in, the whole new text out.

Edits work on what a caller saw, so private parts are `<private id=n/>` while they run and come
back at the end. All bytes that an edit does not mean stay: header, line ends, BOM.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memory_mcp.core import frontmatter
from memory_mcp.core.edit_check import (
    check_header_kept,
    check_header_shown,
    check_nothing_swallowed,
    check_open_part,
    check_revealed,
    check_size,
    header_state,
)
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.core.given import given_header, given_text
from memory_mcp.core.newline import as_in, line_of
from memory_mcp.core.note import Json
from memory_mcp.core.private import hide, reveal
from memory_mcp.core.section import replace_section
from memory_mcp.core.slug import shown

EditKind = Literal["content", "text", "append", "section", "header"]
_WAYS = (
    "give content, or old_text with new_text, or append, or heading with content (one of these),"
    " and/or frontmatter"
)
_WINDOWS_END = re.compile(r"\r\n")
_MOST_PLACES = 1000  # places that are counted
_MAX_PLACES = 10
_MAX_COMPARED = 4000  # lines looked at for the nearest one
_MAX_SHOWN = 120


@dataclass(frozen=True, slots=True)
class EditRequest:
    """One edit: exactly one of content | old_text + new_text | append | heading + content, and/or
    frontmatter (a None value removes its key). Raises InputError for any other combination."""

    content: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    append: str | None = None
    heading: str | None = None
    frontmatter: Mapping[str, Json] | None = None

    def __post_init__(self) -> None:
        ways = [
            self.content is not None or self.heading is not None,
            self.old_text is not None or self.new_text is not None,
            self.append is not None,
        ]
        if sum(ways) > 1:
            raise InputError(f"More than one kind of edit was given; {_WAYS}.")
        if sum(ways) == 0 and not self.frontmatter:
            raise InputError(f"Nothing to change was given; {_WAYS}.")
        self._check_texts()

    def _check_texts(self) -> None:
        if self.heading is not None and not self.heading.strip():
            raise InputError("heading is empty; give the text of a heading, without #.")
        if self.heading is not None and self.content is None:
            raise InputError("heading needs content, the new text of that section.")
        if self.content is not None and not self.content.strip():
            raise InputError("content is empty; to remove a note use memory_delete.")
        if self.append is not None and not self.append.strip():
            raise InputError("append is empty; give the text to add at the end.")
        if self.new_text is not None and self.old_text is None:
            raise InputError("new_text needs old_text, the text that it replaces.")
        if self.old_text is not None and self.new_text is None:
            raise InputError('old_text needs new_text; "" deletes the text.')
        if self.old_text == "":
            raise InputError("old_text is empty; give the exact text that is to be replaced.")

    @property
    def kind(self) -> EditKind:
        """What is changed; `header` where only frontmatter was given."""
        if self.heading is not None:
            return "section"
        if self.content is not None:
            return "content"
        if self.old_text is not None:
            return "text"
        return "header" if self.append is None else "append"


@dataclass(frozen=True, slots=True)
class Edited:
    """The new text of a note, and what the caller should know about it."""

    text: str
    warnings: tuple[str, ...] = ()


def apply(request: EditRequest, text: str, updated: str | None = None) -> Edited:
    """The text of a note after an edit; the same text where nothing changes.

    `text` is the file's text, BOM and line ends included. `updated` (ISO time) is set where the
    text changed and has a readable header. Raises InputError (text absent or not unique),
    NotFoundError (no such heading), RefusedError (a private part or a broken header is at stake).
    """
    check_size(text)
    values = given_header(request.frontmatter)
    shown_text, parts = hide(text)
    edited = _edit(request, shown_text)
    changed, warnings = edited.text, list(edited.warnings)
    if values:
        check_header_shown(text, shown_text)
        changed = frontmatter.change(changed, values)
    if changed == shown_text:
        return Edited(text, tuple(warnings))
    if request.kind in ("text", "section"):
        check_nothing_swallowed(changed)
    check_open_part(text, changed, parts)
    changed, noted = _stamped(changed, updated)
    if "\n" not in shown_text:  # the private parts alone say which line ends are used
        changed = as_in(text, changed)
    revealed = reveal(changed, parts)
    check_revealed(text, changed, revealed)
    check_size(revealed)
    return Edited(revealed, (*warnings, *noted))


def _stamped(text: str, updated: str | None) -> tuple[str, tuple[str, ...]]:
    """Set `updated` where there is a readable header, and say why where that cannot be done."""
    state = header_state(text)
    if state == "broken":
        return text, ("The header of this note cannot be read as YAML; it was left as it is.",)
    if state == "none" or updated is None:
        return text, ()
    try:
        return frontmatter.change(text, {"updated": updated}), ()
    except RefusedError as error:
        return text, (f"`updated` was not set: {error}.",)


def replace_body(text: str, content: str) -> Edited:
    """Put a new body below the header; a header block in front of it replaces the header.

    Raises InputError where that block cannot be read.
    """
    given = given_text(content, "content")
    old, new = frontmatter.split(text), frontmatter.split(given.text)
    if new.header is not None:
        return Edited(_with_new_header(text, given.text), given.warnings)
    body = as_in(text, new.body)
    if old.header is None and old.bom == "":
        return Edited(_end_as(text, body), given.warnings)
    head = old.bom + old.raw_header_with_fences
    if old.header is not None and not head.endswith(("\n", "\r")):
        head += old.newline
    return Edited(_end_as(text, head + _leading_blank(old.body, body) + body), given.warnings)


def replace_text(text: str, old: str, new: str) -> Edited:
    """Replace the one place where `old` stands. Line ends need not be spelled the same.

    Raises InputError where `old` is absent (naming the nearest line) or stands in several places.
    """
    given = given_text(new, "new_text")
    places = _places(text, old)
    if not places:
        raise InputError(_absent(text, old))
    if len(places) > 1:
        raise InputError(_not_unique(text, old, places))
    start, end = places[0]
    changed = text[:start] + as_in(text, given.text) + text[end:]
    check_header_kept(text, changed)
    return Edited(changed, given.warnings)


def _places(text: str, old: str) -> list[tuple[int, int]]:
    """Where `old` stands in the text, as (start, end): the first of these places."""
    even, wanted = text.replace("\r\n", "\n"), old.replace("\r\n", "\n")
    shorter = [match.start() - n for n, match in enumerate(_WINDOWS_END.finditer(text))]
    found: list[tuple[int, int]] = []
    at = even.find(wanted)
    while at >= 0 and len(found) < _MOST_PLACES:
        start, end = (place + bisect_left(shorter, place) for place in (at, at + len(wanted)))
        found.append((start, end))
        at = even.find(wanted, at + 1)
    return found


def append(text: str, addition: str) -> Edited:
    """Add lines at the end: never glued to the last line, always with a line end of their own."""
    given = given_text(addition, "append")
    newline = frontmatter.split(text).newline
    glue = "" if not text or text.endswith(("\n", "\r")) else newline
    added = as_in(text, given.text)
    end = "" if added.endswith(("\n", "\r")) else newline
    changed = text + glue + added + end
    check_header_kept(text, changed)
    return Edited(changed, given.warnings)


def _edit(request: EditRequest, text: str) -> Edited:
    match request.kind:
        case "content":
            return replace_body(text, request.content or "")
        case "text":
            return replace_text(text, request.old_text or "", request.new_text or "")
        case "append":
            return append(text, request.append or "")
        case "section":
            return _section(request, text)
        case "header":
            return Edited(text)


def _section(request: EditRequest, text: str) -> Edited:
    given = given_text(request.content or "", "content")
    old = frontmatter.split(text)
    head = text[: len(text) - len(old.body)]
    body, warnings = replace_section(
        old.body, request.heading or "", as_in(text, given.text), old.newline
    )
    check_header_kept(text, head + body)
    return Edited(head + body, (*given.warnings, *warnings))


def _with_new_header(text: str, content: str) -> str:
    old, new = frontmatter.split(text), frontmatter.split(content)
    loaded = frontmatter.load(new.header or "")
    if loaded.state != "good" and new.header != old.header:
        reason = "; ".join(loaded.warnings) or "it is no YAML mapping"
        raise InputError(f"The header block at the start of content cannot be read: {reason}.")
    changed = as_in(text, content.removeprefix(new.bom))
    known = frontmatter.load(old.header).values if old.header is not None else {}
    if "created" in known and loaded.state == "good" and "created" not in loaded.values:
        changed = frontmatter.change(changed, {"created": known["created"]})
    return _end_as(text, old.bom + changed)


def _leading_blank(old_body: str, new_body: str) -> str:
    """The blank lines between header and body, unless the new body brings its own."""
    if new_body[:1] in ("\n", "\r"):
        return ""
    match = re.match(r"(?:[ \t]*\r?\n)+", old_body)
    return match[0] if match else ""


def _end_as(old: str, new: str) -> str:
    """End with a line end where the old text did."""
    if old.endswith("\n") and not new.endswith("\n"):
        return new + frontmatter.split(old).newline
    return new


def _absent(text: str, old: str) -> str:
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), old)
    lines = text.split("\n")[:_MAX_COMPARED]
    stripped = [line.strip() for line in lines]
    near = difflib.get_close_matches(
        wanted[:500], [line[:500] for line in stripped if line], 1, 0.6
    )
    said = f"old_text {shown(old, _MAX_SHOWN)} is not in the note; nothing was changed."
    if not near:
        return f"{said} Read the note again with memory_get and copy the text exactly."
    number = next(n for n, line in enumerate(stripped, 1) if line[:500] == near[0])
    return f"{said} The nearest line is {number}: {shown(lines[number - 1].strip(), _MAX_SHOWN)}"


def _not_unique(text: str, old: str, places: list[tuple[int, int]]) -> str:
    lines = ", ".join(str(line_of(text, start)) for start, _ in places[:_MAX_PLACES])
    more = ", …" if len(places) > _MAX_PLACES else ""
    count = f"{len(places)} places" if len(places) < _MOST_PLACES else "very many places"
    return (
        f"old_text {shown(old, _MAX_SHOWN)} is not unique: it stands in {count}"
        f" (lines {lines}{more}); nothing was changed. Take more of the text around it."
    )
