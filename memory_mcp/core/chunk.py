"""A note cut into passages: at headings of level 1 to 3, then to about `target_tokens`.

A passage's `heading` is the trail that holds for all of its text; its `context` (title, trail,
date and the note's opening paragraph) goes in front for both legs of the search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.markdown import Block, Outline
from memory_mcp.core.note import Heading, Passage
from memory_mcp.core.opening import Opening, opening
from memory_mcp.core.plain import clip
from memory_mcp.core.segments import Segment, segments
from memory_mcp.core.tokens import tokens

__all__ = ["Facts", "passages", "tokens"]

_CUT_LEVEL = 3
_OPENING = 200  # characters of the opening paragraph in the context
_FACTS_INLINE = 48  # tokens of header values that go into the context; more get a passage
_SLACK = 1.15  # a passage may grow by this rather than leave a crumb

Trail = tuple[int, ...]  # indices of headings


@dataclass(frozen=True, slots=True)
class Facts:
    """What the header says and no other part of a note shows. Lines are 1-based in the file."""

    summary: str = ""
    """Description, names and tags, one line: in front of the first passage."""
    rest: str = ""
    """The other keys and values, one a line."""
    first: int = 1
    last: int = 1


@dataclass(frozen=True, slots=True)
class _Unit:
    segment: Segment
    trail: Trail


def passages(
    title: str,
    outline: Outline,
    first_line: int,
    settings: ChunkSettings,
    *,
    created: str | None = None,
    facts: Facts | None = None,
    begin: Opening | None = None,
) -> tuple[Passage, ...]:
    """The passages of a note, in its order.

    `title` never is empty, `first_line` is the line of the file where the body starts. A note
    with only headings, or only a header, has one passage; one without any text has none.
    """
    begin = begin or opening(outline)
    maker = _Maker(title, outline, first_line, created, begin, settings.target_tokens)
    facts = facts or Facts()
    found = [
        maker.passage(group)
        for section in _sections(outline, settings.overlap, maker.limit)
        for group in _packed(section, maker.limit(section[0].trail), settings.overlap)
    ]
    if not found:
        return maker.stand_in(facts)
    found = maker.with_bare_headings(found)
    own: list[Passage] = []
    line = facts.summary
    if tokens(facts.rest) <= _FACTS_INLINE:
        line = " ".join(part for part in (line, "; ".join(facts.rest.split("\n"))) if part)
    else:
        own = maker.of_facts(facts)
    if line:
        found[0] = maker.extended(found[0], line)
    return (*own, *found)


class _Maker:
    """Builds the passages of one note."""

    def __init__(
        self,
        title: str,
        outline: Outline,
        first_line: int,
        created: str | None,
        begin: Opening,
        target: int,
    ) -> None:
        self._title = title
        self._outline = outline
        self._shift = first_line - 1
        self._date = f" ({created[:10]})" if created else ""
        self._opening = clip(begin.text, _OPENING)
        self._opening_line = begin.line
        self._used: set[int] = set()
        self._target = target
        self._over = tokens(f"{title}{self._date} {self._opening}")
        self._limits: dict[Trail, int] = {}

    def limit(self, trail: Trail) -> int:
        """How many tokens a passage may have. The context counts: without that, LoCoMo's H@1 is
        two points lower, and the model would cut the end off."""
        known = self._limits.get(trail)
        if known is None:
            over = self._over + tokens(" ".join(self._names(trail)))
            known = self._limits[trail] = max(self._target // 2, self._target - over)
        return known

    def passage(self, group: Sequence[_Unit]) -> Passage:
        """The passage of these units, which follow each other."""
        for unit in group:
            self._used.update(unit.trail)
        trail = self._names(_common([unit.trail for unit in group]))
        parts = [group[0].segment.text]
        for unit in group[1:]:
            parts += (unit.segment.glue, unit.segment.text)
        first = min(unit.segment.first for unit in group)
        last = max(unit.segment.last for unit in group)
        context = [self._head(trail)]
        if self._opening and not first <= self._opening_line <= last:
            context.append(self._opening)
        text = "".join(parts).strip("\n").rstrip()
        heading = " > ".join(trail) or self._title
        return _passage(heading, text, first + self._shift, last + self._shift, "\n".join(context))

    def extended(self, passage: Passage, line: str) -> Passage:
        """The passage with one more line of context."""
        context = f"{passage.context}\n{line}"
        return replace(passage, context=context, key=_key(context, passage.text))

    def with_bare_headings(self, found: list[Passage]) -> list[Passage]:
        """Headings without any text below them stay searchable, in the passage before them."""
        for index, heading in enumerate(self._outline.headings):
            if index in self._used:
                continue
            line = heading.line + self._shift
            at = max((n for n, passage in enumerate(found) if passage.first <= line), default=0)
            found[at] = self.extended(found[at], heading.text)
        return found

    def of_facts(self, facts: Facts) -> list[Passage]:
        """Passages of a long header."""
        lines = facts.rest.split("\n")
        block = Block("definition", 1, len(lines))
        units = [_Unit(segment, ()) for segment in segments(block, lines, self._target, 0)]
        height = facts.last - facts.first
        context = self._head(())
        made: list[Passage] = []
        for group in _packed(units, self._target, 0):
            text = "\n".join(unit.segment.text for unit in group).strip()
            first = facts.first + min(group[0].segment.first - 1, height)
            last = facts.first + min(group[-1].segment.last - 1, height)
            made.append(_passage(self._title, text, first, last, context))
        return made

    def stand_in(self, facts: Facts) -> tuple[Passage, ...]:
        """The one passage of a note that has only headings or only a header."""
        headings = self._outline.headings
        header = [part for part in (facts.summary, facts.rest) if part]
        context = self._head(())
        if headings:
            lines = self._outline.lines
            text = "\n".join(lines[heading.line - 1].strip() for heading in headings)
            context = "\n".join([context, *header])
            first, last = headings[0].line + self._shift, headings[-1].line + self._shift
            return (_passage(self._title, text, first, last, context),)
        if not header and facts == Facts():
            return ()
        text = "\n".join([self._title, *header])
        return (_passage(self._title, text, facts.first, facts.last, ""),)

    def _names(self, trail: Trail) -> tuple[str, ...]:
        return tuple(self._outline.headings[index].text for index in trail)

    def _head(self, trail: Sequence[str]) -> str:
        names = " > ".join(trail)
        if trail and trail[0] == self._title:
            return names + self._date
        return self._title + self._date + (f": {names}" if names else "")


def _sections(
    outline: Outline, overlap: int, limits: Callable[[Trail], int]
) -> Iterator[list[_Unit]]:
    """The units below each heading that cuts; sections without text are left out."""
    at_line = {heading.line: index for index, heading in enumerate(outline.headings)}
    trail: Trail = ()
    units: list[_Unit] = []
    pending: list[Segment] = []
    for block in outline.blocks:
        index = at_line.get(block.first) if block.kind == "heading" else None
        if index is not None:
            deeper = outline.headings[index].level > _CUT_LEVEL
            if not deeper:
                yield from _closed(units, pending)
                units, pending = [], []
            trail = _next_trail(outline.headings, trail, index)
            if deeper:
                pending += segments(block, outline.lines, limits(trail), 0)
        elif block.kind not in ("comment", "rule"):
            for segment in segments(block, outline.lines, limits(trail), overlap):
                if segment.text.strip():
                    units.append(_Unit(_joined([*pending, segment]), trail))
                    pending = []
    yield from _closed(units, pending)


def _closed(units: list[_Unit], pending: list[Segment]) -> Iterator[list[_Unit]]:
    """A finished section; deep headings at its end, with no text, stay with the last unit."""
    if units and pending:
        last = units[-1]
        units = [*units[:-1], _Unit(_joined([last.segment, *pending]), last.trail)]
    if units:
        yield units


def _joined(parts: Sequence[Segment]) -> Segment:
    if len(parts) == 1:
        return parts[0]
    text = parts[0].text + "".join(part.glue + part.text for part in parts[1:])
    size = sum(part.size for part in parts)
    return Segment(text, parts[0].first, parts[-1].last, parts[0].glue, size)


def _next_trail(headings: Sequence[Heading], trail: Trail, index: int) -> Trail:
    level = headings[index].level
    return (*takewhile(lambda above: headings[above].level < level, trail), index)


def _packed(units: Sequence[_Unit], limit: int, overlap: int) -> Iterator[list[_Unit]]:
    """Groups of at most `limit` tokens; each begins with the end of the one before."""
    left = sum(unit.segment.size for unit in units)
    group: list[_Unit] = []
    size = fresh = 0
    for unit in units:
        own = unit.segment.size
        if fresh and size + own > limit and size + left > limit * _SLACK:
            yield group
            group = _overlap(group, limit, own, overlap)
            size, fresh = sum(kept.segment.size for kept in group), 0
        group = [*group, unit]
        size += own
        left -= own
        fresh += 1
    if fresh:
        yield group


def _overlap(group: Sequence[_Unit], limit: int, coming: int, overlap: int) -> list[_Unit]:
    kept: list[_Unit] = []
    size = 0
    for unit in reversed(group[-overlap:] if overlap else []):
        size += unit.segment.size
        if size > limit // 4 or size + coming > limit:
            break
        kept.insert(0, unit)
    return kept


def _common(trails: Sequence[Trail]) -> Trail:
    shortest = min(trails, key=len)
    for place, index in enumerate(shortest):
        if any(trail[place] != index for trail in trails):
            return shortest[:place]
    return shortest


def _passage(heading: str, text: str, first: int, last: int, context: str) -> Passage:
    return Passage(heading, text, first, last, context, _key(context, text))


def _key(context: str, text: str) -> str:
    embedded = f"{context}\n{text}" if context else text
    return hashlib.sha256(embedded.encode("utf-8", "surrogatepass")).hexdigest()
