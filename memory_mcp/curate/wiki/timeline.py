"""Text on a page that must not vanish or pass for something else: what newer statements replaced,
and what came from outside. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.frontmatter import split
from memory_mcp.core.markdown import Block, normalised, outline
from memory_mcp.core.private import strip
from memory_mcp.core.section import sections
from memory_mcp.core.wording import ENGLISH, GERMAN, wording
from memory_mcp.curate.compare.loss import absent, seen

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_HASHES = re.compile(r"^#{1,6}[ \t]+|^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_LINES = ("paragraph", "quote")
_BELOW = ("code", "table", "html", "definition")


def replaced_lines(before: str, after: str, *held: str) -> tuple[str, ...]:
    """The lines of a page of which something is neither on the new page nor in the other texts, or
    which only a comment still says."""
    was, here = (strip(split(text).body) for text in (before, after))
    shown = set(seen(was).splitlines())
    texts = (here, *held)
    open_ = tuple(map(seen, texts))
    lines, open_lines = set(here.splitlines()), set(open_[0].splitlines())

    def is_lost(line: str) -> bool:
        if line in shown:
            return line not in open_lines and bool(absent(line, *open_))
        return line not in lines and bool(absent(line, *texts))

    return tuple(line.strip() for line in was.splitlines() if line.strip() and is_lost(line))


def keep_older(text: str, lines: Sequence[str], day: str, language: str) -> str:
    """The page with statements that newer ones replaced in its section of the past, each with the
    day for which it stood. Raises RefusedError where the page has no place for a section."""
    if not lines:
        return text
    parts = split(text)
    items = [f"- {day}: {_plain(line)}" if day else f"- {_plain(line)}" for line in lines]
    body = _appended(parts.body, wording(language).timeline, items, parts.newline)
    return parts.bom + parts.raw_header_with_fences + body


def mark_outside(before: str, after: str, origin: str, language: str) -> str:
    """The page with a mark behind what was added to it, which says that it came from outside.

    A heading carries none; code, tables and HTML have it in a line of their own below.
    """
    parts = split(after)
    mark = f"*({outside(language)}: {origin})*"
    known = Counter(_bare(line) for line in _lines(split(before).body))
    lines = _lines(parts.body)
    added = set[int]()
    for number, line in enumerate(map(_bare, lines), 1):
        if line.strip() and not known[line]:
            added.add(number)
        known[line] -= 1
    for block in reversed(outline(normalised(parts.body)).blocks):
        _mark(lines, block, added, mark, parts.newline)
    return parts.bom + parts.raw_header_with_fences + "".join(lines)


def outside(language: str) -> str:
    """How a text is called that is not the person's own."""
    return "von außen" if wording(language) is GERMAN else "from outside"


def _mark(lines: list[str], block: Block, added: set[int], mark: str, newline: str) -> None:
    own = [number for number in range(block.first, block.last + 1) if number in added]
    if not own:
        return
    if block.kind in _LINES:
        marked = own[-1:]
    elif block.kind == "list":
        marked = [number for number in own if _ITEM.match(lines[number - 1])] or own[-1:]
    elif block.kind in _BELOW:
        last = _bare(lines[block.last - 1]) + newline
        lines[block.last - 1 : block.last] = [last, newline, mark + newline]
        return
    else:
        return
    for number in marked:
        text = _bare(lines[number - 1])
        lines[number - 1] = f"{text} {mark}{lines[number - 1][len(text) :]}"


def _appended(body: str, heading: str, items: Sequence[str], newline: str) -> str:
    """The body with items at the end of its section of the past, which is made where there is
    none."""
    wanted = {ENGLISH.timeline.casefold(), GERMAN.timeline.casefold()}
    section = next((one for one in sections(body) if one.text.casefold() in wanted), None)
    if section is None:
        made = newline.join([body.rstrip(), "", f"## {heading}", "", *items, ""])
        if not any(one.text == heading for one in sections(made)):
            raise RefusedError(
                "The page ends inside a code block or comment, so that nothing can be put below"
                " it; close it."
            )
        return made
    lines = _lines(body)
    end = section.end
    while end > section.first - 1 and not lines[end - 1].strip():
        end -= 1
    new = [f"{item}{newline}" for item in items]
    if end < section.first:  # nothing below the heading yet
        new = [newline, *new]
    if lines[end - 1] == _bare(lines[end - 1]):
        lines[end - 1] += newline
    return "".join([*lines[:end], *new, *lines[end:]])


def _lines(text: str) -> list[str]:
    """Lines with their ends."""
    return _LINE.findall(text)


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _plain(line: str) -> str:
    return _HASHES.sub("", line.strip(), count=1)
