"""Where the links of a note stand in its text: those that the outline and the header have, each
with the characters that name its note."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.core.header_links import Form, header_places
from memory_mcp.core.inline import silence
from memory_mcp.core.links import addressed_links, header_links, local_link, raw_header_links
from memory_mcp.core.markdown import Outline, outline
from memory_mcp.core.note import Link
from memory_mcp.core.private import spans

__all__ = ["CONTROL", "Form", "LinkPlace", "link_places"]

CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
"""Characters that are left out where a note is read, as in a class of a pattern."""

_LEFT_OUT = re.compile(rf"\r\n?|[{CONTROL}]+")
_BREAK = re.compile(r"\r\n|\r|\n")
_MARKS = r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+[ \t>]*)*"
_DEFINITION = re.compile(rf"{_MARKS}\[[^\[\]]+\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|[^\s<>]+)", re.M)
_FENCE = re.compile(rf"{_MARKS}(`{{3,}}|~{{3,}})")
_HIDDEN = frozenset(["code", "html"])
_NESTING = frozenset(["list", "quote"])


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """A link, and where what names its note stands in the whole text of the file."""

    link: Link
    start: int
    end: int
    form: Form


def link_places(text: str) -> tuple[LinkPlace, ...]:
    """The links of a note's text, in order. Code, comments and private parts have none."""
    read = _Read.of(text)
    parts, loaded = split_and_load(read.text)
    header = parts.header or ""
    head = len(parts.bom) + parts.raw_header_with_fences.find(header) if header else 0
    known = frozenset(
        (link.target, link.kind)
        for link in (
            *header_links(loaded.values),
            *(raw_header_links(header) if loaded.state == "broken" else ()),
        )
    )
    found = [
        LinkPlace(link, head + start, head + end, form)
        for link, start, end, form in header_places(header, loaded.state)
        if (link.target, link.kind) in known
    ]
    body = len(parts.bom) + len(parts.raw_header_with_fences)
    found += (
        replace(place, start=body + place.start, end=body + place.end)
        for place in _in_body(parts.body)
    )
    return tuple(
        replace(place, start=read.at(place.start), end=read.at(place.end - 1) + 1)
        for place in sorted(found, key=lambda place: place.start)
        if place.end > place.start
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as it is read (without private parts, with even line ends), and the way back."""

    text: str
    starts: tuple[int, ...]
    """Where the runs that were kept begin in `text`."""
    origins: tuple[int, ...]
    """Where they begin in the file's text."""

    @classmethod
    def of(cls, text: str) -> _Read:
        kept: list[str] = []
        starts, origins = [0], [0]
        size = at = 0
        for start, end, instead in _replaced(text):
            kept += (text[at:start], instead)
            size += start - at + len(instead)
            at = end
            starts.append(size)
            origins.append(end)
        return cls("".join([*kept, text[at:]]), tuple(starts), tuple(origins))

    def at(self, index: int) -> int:
        run = bisect_right(self.starts, index) - 1
        return self.origins[run] + index - self.starts[run]


def _replaced(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, what is read in its place), in order."""
    at = 0
    for start, end in [*spans(text), (len(text), len(text))]:
        for match in _LEFT_OUT.finditer(text, at, start):
            yield match.start(), match.end(), "\n" if match[0].startswith("\r") else ""
        if end > start:
            yield start, end, "\n" * len(_BREAK.findall(text, start, end)) or " "
        at = end


def _in_body(body: str) -> list[LinkPlace]:
    seen = outline(body)
    wanted = set(seen.links)
    found = [place for place in _links_in(_visible(body, seen)) if place.link in wanted]
    if wanted <= {place.link for place in found}:
        return found
    # What the blocks inside of lists hide or show is not known exactly: rather one too many.
    bare = "\n".join(seen.lines)
    taken = {place.start for place in found}
    return found + [
        place for place in _links_in(bare) if place.link in wanted and place.start not in taken
    ]


def _links_in(text: str) -> Iterator[LinkPlace]:
    for start, end, link in addressed_links(text):
        form: Form = "wikilink" if text[start - 2 : start] == "[[" else "address"
        yield LinkPlace(link, start, end, form)
    for match in _DEFINITION.finditer(text) if "]:" in text else ():
        link_ = local_link(match[1].removeprefix("<").removesuffix(">"))
        if link_ is not None:
            yield LinkPlace(link_, match.start(1), match.end(1), "address")


def _visible(body: str, seen: Outline) -> str:
    """The body with all that holds no links blanked: of the same length."""
    lines = list(seen.lines)
    for block in seen.blocks:
        first, last = block.first - 1, block.last
        own = lines[first:last]
        if block.kind in _HIDDEN:
            lines[first:last] = [" " * len(line) for line in own]
        elif block.kind in _NESTING:
            lines[first:last] = _without_code(own)
        else:
            lines[first:last] = silence("\n".join(own)).split("\n")
    return "\n".join(lines)


def _without_code(lines: list[str]) -> list[str]:
    """The lines of a list or a quote without the code in it."""
    fence = ""
    shown: list[str] = []
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1].startswith(fence) else fence
            shown.append(" " * len(line))
        elif match:
            fence = match[1]
            shown.append(" " * len(line))
        else:
            shown.append(silence(line))
    return shown
