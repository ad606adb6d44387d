"""Parts of a note as offsets of characters: a section by its heading, a page of a long text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from memory_mcp.core.errors import AmbiguousError, NotFoundError
from memory_mcp.core.section import Section, sections

LISTED = 40
"""Headings that an error lists."""
LINE_SHARE = 0.5
"""A page ends at a line's end where that keeps at least this share of it."""
GRAPHEME_WINDOW = 200
"""Characters around a cut in which graphemes are looked for; a longer one is cut like a text."""

_LINE = re.compile(r"\r\n|\r|\n")
_GRAPHEME = regex.compile(r"\X")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a text, from `start` up to and without `end`."""

    start: int
    end: int


def section(body: str, wanted: str) -> Span:
    """The section under a heading, the heading's own line included.

    `wanted` is a heading's text, its whole trail, or the end of a trail, with or without `#`; an
    exact spelling goes before another case. Raises NotFoundError listing the headings,
    AmbiguousError listing the trails.
    """
    known = sections(body)
    found = _fitting(known, wanted)
    if not found:
        raise NotFoundError(_missing(wanted, known))
    if len(found) > 1:
        listed = "; ".join(f"{item.trail!r}" for item in found[:LISTED])
        raise AmbiguousError(
            f"{len(found)} headings fit {wanted!r}: {listed}. Give the whole trail; where trails"
            " are equal, read the note without heading, with offset."
        )
    starts = [0, *(match.end() for match in _LINE.finditer(body)), len(body)]
    return Span(starts[found[0].line - 1], starts[min(found[0].end, len(starts) - 1)])


def _fitting(known: Sequence[Section], wanted: str) -> list[Section]:
    """The closest reading that fits anything: whole trail, then text or end of a trail; exact
    first."""
    asked = " ".join(wanted.strip().lstrip("#").split())
    for even in (_spaced, _folded):
        whole = [item for item in known if even(item.trail) == even(asked)]
        ends = [item for item in known if f" > {even(item.trail)}".endswith(f" > {even(asked)}")]
        if asked and (whole or ends):
            return whole if len(whole) == 1 else ends
    return []


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    return _spaced(text).casefold()


def _missing(wanted: str, known: Sequence[Section]) -> str:
    if not known:
        return f"There is no heading {wanted!r}: the note has none. Leave heading out."
    listed = "; ".join(item.trail for item in known[:LISTED])
    more = f"; and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"There is no heading {wanted!r}. Headings: {listed}{more}."


def shown_offset(offset: int, shown: str, parts: Sequence[str]) -> int:
    """Where a character of the original stands once its private parts are replaced by marks.

    `shown` and `parts` are what `core.private.hide` gives. A place inside a part becomes its
    start.
    """
    at = original = 0
    for number, part in enumerate(parts, start=1):
        mark = f"<private id={number}/>"
        start = shown.index(mark, at)
        if original + (start - at) >= offset:
            break
        original += start - at
        if offset < original + len(part):
            return start
        original += len(part)
        at = start + len(mark)
    return at + offset - original


def page_end(text: str, start: int, end: int, limit: int) -> int:
    """Where a page of at most `limit` characters from `start` ends; `end` where all of it fits.

    At the end of a line where one is near enough, and not inside a letter with its marks or a
    joined emoji of up to GRAPHEME_WINDOW characters; a page has at least one of those, so that
    paging always gets on.
    """
    cut = start + limit
    if cut >= end:
        return end
    newline = text.rfind("\n", start, cut)
    if newline >= start + limit * LINE_SHARE:
        return newline + 1
    first = max(start, cut - GRAPHEME_WINDOW)
    last = start
    for match in _GRAPHEME.finditer(text, first, min(end, cut + GRAPHEME_WINDOW + 1)):
        if match.end() > cut:
            whole = match.end() if match.end() - start <= GRAPHEME_WINDOW else cut
            return last if last > start else whole
        last = match.end()
    return end
