"""Sections of a note: finding one by its heading, and giving it a new text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_mcp.core.errors import InputError, NotFoundError
from memory_mcp.core.fold import fold, normal
from memory_mcp.core.markdown import outline
from memory_mcp.core.note import Heading
from memory_mcp.core.plain import plain
from memory_mcp.core.private import strip
from memory_mcp.core.slug import shown

_MAX_LISTED = 30
_LONGEST = 12_000  # characters of a heading with those above it; no longer one is kept
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HASHES = re.compile(r"#{1,6}\s+")
_BLANK_START = re.compile(r"(?:[ \t]*\r?\n)+")
_BLANK_END = re.compile(r"(?:\r?\n[ \t]*)*\Z")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its place. Lines are 1-based in the body; `end` is the last line."""

    text: str
    level: int
    trail: str
    line: int
    first: int
    """First line after the heading (after both lines of an underlined one)."""
    end: int
    """Last line of the section, sub-sections included; below `first` where it is empty."""


def sections(body: str) -> tuple[Section, ...]:
    """All sections of a body, in order."""
    shape = outline(strip(body))  # the mark of a private part would be an HTML block of its own
    after = {block.first: block.last + 1 for block in shape.blocks if block.kind == "heading"}
    ends = _ends(shape.headings, len(_lines(body)))
    found: list[Section] = []
    trail: list[tuple[int, str]] = []
    for heading, end in zip(shape.headings, ends, strict=True):
        trail = [item for item in trail if item[0] < heading.level]
        trail.append((heading.level, heading.text))
        found.append(
            Section(
                text=heading.text,
                level=heading.level,
                trail=" > ".join(text for _, text in trail),
                line=heading.line,
                first=after.get(heading.line, heading.line + 1),
                end=end,
            )
        )
    return tuple(found)


def _ends(headings: Sequence[Heading], last_line: int) -> list[int]:
    """The last line of each heading's section: that before the next one which is not below it."""
    ends = [last_line] * len(headings)
    open_: list[int] = []
    for number, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            ends[open_.pop()] = heading.line - 1
        open_.append(number)
    return ends


def find_section(body: str, heading: str) -> Section:
    """The one section with this heading, or with a trail that ends so (`A > B`).

    The exact text goes before other spellings of it. Raises NotFoundError, or InputError with the
    trails where several fit.
    """
    known = sections(body)
    for spell in (str.strip, _loose):
        fitting = [section for section in known if _fits(section, heading, spell)]
        if len(fitting) > 1:
            raise InputError(_not_unique(heading, fitting))
        if fitting:
            return fitting[0]
    listed = ", ".join(shown(section.trail, 100) for section in known[:_MAX_LISTED]) or "none"
    raise NotFoundError(
        f"There is no heading {shown(heading, 200)} in this note. Its headings: {listed}."
    )


def replace_section(
    body: str, heading: str, content: str, newline: str = "\n"
) -> tuple[str, tuple[str, ...]]:
    """The body with a new text for one section, and warnings; the heading's own line stays.

    `newline` is what ends a line that must be ended, or a blank one that must be put.

    `content` may begin with the heading. Blank lines around the section stay as they are. Raises
    as `find_section`, and InputError where `content` would swallow what follows it.
    """
    section = find_section(body, heading)
    lines = _lines(body)
    head = "".join(lines[: section.first - 1])
    old = "".join(lines[section.first - 1 : section.end])
    rest = "".join(lines[section.end :])
    text = _without_heading(content, section)
    if not head.endswith("\n"):
        head += newline
    changed = head + _padded(old, text, newline, bool(rest)) + rest
    _check_rest(body, changed, section)
    return changed, (*_doubled(text, body, section), *_gone(text, body, section))


def _not_unique(heading: str, fitting: Sequence[Section]) -> str:
    trails = "; ".join(
        f"{shown(section.trail, 200)} (line {section.line} of the body)"
        for section in fitting[:_MAX_LISTED]
    )
    return (
        f"The heading {shown(heading, 200)} is not unique: {trails}. Give the whole trail, or use"
        " old_text and new_text."
    )


def _loose(text: str) -> str:
    """Without markup, accents and differences of case, as one would say it."""
    return " ".join(fold(normal(plain(_HASHES.sub("", text.strip()[:_LONGEST], count=1)))).split())


def _fits(section: Section, heading: str, spell: Callable[[str], str]) -> bool:
    text, trail, asked = spell(section.text), spell(section.trail), spell(heading)
    return asked in (text, trail) or (" > " in asked and trail.endswith(f" > {asked}"))


def _lines(text: str) -> list[str]:
    """Lines with their ends; only CR and LF end a line, as in the outline."""
    return _LINE.findall(text)


def _without_heading(content: str, section: Section) -> str:
    """The text without a first heading that repeats the section's own."""
    own = sections(content)
    if not own or _loose(own[0].text) != _loose(section.text):
        return content
    lines = _lines(content)
    if any(line.strip() for line in lines[: own[0].line - 1]):
        return content
    return "".join(lines[own[0].first - 1 :])


def _padded(old: str, text: str, newline: str, followed: bool) -> str:
    """The new text between the blank lines that the old one had around it."""
    stripped = text.strip("\r\n")
    if not stripped.strip():
        raise InputError("content has only the heading; give the section's new text.")
    start = _BLANK_START.match(old)
    lead = start[0] if start else ""
    if old.strip():
        end = _BLANK_END.search(old)
        trail = end[0] if end else ""
        return lead + stripped + trail
    return (lead or newline) + stripped + newline + (newline if followed else "")


def _check_rest(before: str, after: str, section: Section) -> None:
    """What comes after the section must still be there as it was, headings and all."""
    rest = [(item.level, item.text) for item in sections(before) if item.line > section.end]
    now = [(item.level, item.text) for item in sections(after)]
    if rest and now[-len(rest) :] != rest:
        raise InputError(
            "content opens a code fence or comment and does not close it: the sections that follow"
            " would become part of it. Close it."
        )


def _doubled(text: str, body: str, section: Section) -> tuple[str, ...]:
    """A warning for each heading in the new text that also stands elsewhere in the note."""
    elsewhere = {
        _loose(item.text) for item in sections(body) if not section.line < item.line <= section.end
    }
    brought = [item.text for item in sections(text) if _loose(item.text) in elsewhere]
    return tuple(f"The note now has the heading {shown(text)} twice." for text in brought)


def _gone(text: str, body: str, section: Section) -> tuple[str, ...]:
    """A warning where headings below the section's own went with its old text."""
    brought = {_loose(item.text) for item in sections(text)}
    below = [item for item in sections(body) if section.line < item.line <= section.end]
    gone = [shown(item.text) for item in below if _loose(item.text) not in brought]
    if not gone:
        return ()
    more = ", …" if len(gone) > _MAX_LISTED else ""
    return (
        f"The sections below it were replaced, too: {', '.join(gone[:_MAX_LISTED])}{more}. If that"
        " was not meant, put them back: the older text can be restored.",
    )
