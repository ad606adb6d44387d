"""Cutting one block of Markdown into segments that fit a passage.

Paragraphs and lists are cut at items, lines and sentences, code and tables at lines (each piece
is a code block or a table again), what has no blanks between graphemes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from memory_mcp.core.markdown import Block
from memory_mcp.core.plain import pieces
from memory_mcp.core.tokens import tokens

_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’»)\]*_]*\s+(?=\S)|(?<=[。！？｡])(?=\S)|\n+")
_SENTENCE_ONLY = re.compile(r"(?<=[.!?…])[\"'”’»)\]*_]*\s+(?=\S)|(?<=[。！？｡])(?=\S)")
_LINE_END = re.compile(r"[.!?…:;。！？)\"'”»][*_]*[ \t]*$", re.M)
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a block. Lines are 1-based in the body; `glue` stands before it when it follows
    another segment in the same passage; `size` is in tokens."""

    text: str
    first: int
    last: int
    glue: str
    size: int


def segments(block: Block, lines: Sequence[str], limit: int, overlap: int) -> list[Segment]:
    """The block as one segment where it fits into `limit` tokens, else in several."""
    own = list(lines[block.first - 1 : block.last])
    text = "\n".join(own)
    glue = "\n\n" if block.first > 1 and not lines[block.first - 2].strip() else "\n"
    size = tokens(text)
    if size <= limit:
        return [Segment(text.rstrip(), block.first, block.last, glue, size)]
    cut = _Cut(limit, size / len(text))
    if block.kind == "code":
        return list(cut.code(own, block.first, glue, overlap))
    if block.kind == "table":
        return list(cut.table(own, block.first, glue))
    if block.kind == "list":
        return list(cut.items(own, block.first, glue))
    return list(cut.prose(text, block.first, glue))


class _Cut:
    """Cuts one block. ASCII parts have their share of its size, only others are counted again."""

    def __init__(self, limit: int, rate: float) -> None:
        self._limit = limit
        self._rate = rate
        self._unbroken = max(int(limit / rate), 1)
        """Characters that make about `limit` tokens."""

    def code(self, lines: list[str], first: int, glue: str, overlap: int) -> Iterator[Segment]:
        """Pieces at line bounds, each between fences of its own: none leaves a fence open."""
        fence = _FENCE.match(lines[0])
        opening, closing = "```", "```"
        start, end = 0, len(lines)
        if fence:
            opening, closing = lines[0].strip()[:80], fence[1]
            start = 1
            last = lines[-1].strip()
            end -= len(lines) > 1 and last.startswith(closing) and not last.strip(closing[0])
        room = max(self._limit - tokens(opening) - 3, self._limit // 2)
        for group in self._grouped(lines, start, end, room, overlap):
            text = "\n".join([opening, *(text for _, text in group), closing])
            yield self._segment(text, first + group[0][0], first + group[-1][0], glue)

    def table(self, lines: list[str], first: int, glue: str) -> Iterator[Segment]:
        """Pieces at row bounds, each under the head of the table."""
        head = lines[:2]
        room = max(self._limit - self._size("\n".join(head)), self._limit // 4)
        for group in self._grouped(lines, 2, len(lines), room, 0):
            text = "\n".join([*head, *(text for _, text in group)])
            start = 0 if group[0][0] == 2 else group[0][0]
            yield self._segment(text, first + start, first + group[-1][0], glue)

    def items(self, lines: list[str], first: int, glue: str) -> Iterator[Segment]:
        """The items of a list, nested ones too, each with the lines that belong to it."""
        starts = [index for index, line in enumerate(lines) if _ITEM.match(line)] or [0]
        starts[0] = 0
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            text = "\n".join(lines[start:end]).rstrip()
            between = glue
            if start:
                between = "\n\n" if not lines[start - 1].strip() else "\n"
            if self._size(text) <= self._limit:
                yield self._segment(text, first + start, first + start + text.count("\n"), between)
            elif text.strip():
                yield from self.prose(text, first + start, between)

    def prose(self, text: str, first: int, glue: str) -> Iterator[Segment]:
        """Sentences, or lines where the text is written line by line; longer ones at blanks."""
        between, line, at = glue, first, 0
        for part, start, after in _atoms(text):
            line, at = line + text.count("\n", at, start), start
            if self._size(part) <= self._limit:
                yield self._segment(part, line, line + part.count("\n"), between)
            else:
                yield from self._long(part, line, between)
            between = after or between

    def _long(self, text: str, line: int, glue: str) -> Iterator[Segment]:
        between, first, at = glue, line, 0
        for part, start in self._runs(text):
            first, at = first + text.count("\n", at, start), start
            if start:
                between = text[start - 1] if text[start - 1].isspace() else ""
            yield self._segment(part, first, first + part.count("\n"), between)

    def _grouped(
        self, lines: list[str], start: int, end: int, room: int, overlap: int
    ) -> Iterator[list[tuple[int, str]]]:
        """Runs of (index, line) of at most `room` tokens; a longer line is cut at blanks."""
        group: list[tuple[int, str]] = []
        size = fresh = 0
        for index in range(start, end):
            for part in self._line_parts(lines[index], room):
                cost = self._size(part)
                if fresh and size + cost > room:
                    yield group
                    group = group[-overlap:] if overlap else []
                    size = sum(self._size(text) for _, text in group)
                    if size + cost > room // 2:
                        group, size = [], 0
                    fresh = 0
                group.append((index, part))
                size += cost
                fresh += 1
        if any(text.strip() for _, text in group):
            yield group

    def _line_parts(self, line: str, room: int) -> list[str]:
        if self._size(line) <= room:
            return [line]
        narrow = _Cut(room, self._rate)
        return [part for part, _ in narrow._runs(line)]

    def _runs(self, text: str) -> Iterator[tuple[str, int]]:
        """(text, offset) of at most about `limit` tokens, cut at blanks where there are any."""
        start = at = 0
        cost = 0.0
        for word, offset in _words(text, self._unbroken if text.isascii() else self._limit):
            own = (len(word) + 1) * self._rate if word.isascii() else tokens(word)
            if cost > self._limit // 8 and cost + own > self._limit:
                yield text[start:at].rstrip(), start
                start, cost = offset, 0
            at, cost = offset + len(word), cost + own
        if text[start:at].strip():
            yield text[start:at].rstrip(), start

    def _segment(self, text: str, first: int, last: int, glue: str) -> Segment:
        return Segment(text, first, last, glue, self._size(text))

    def _size(self, text: str) -> int:
        return ceil(len(text) * self._rate) if text.isascii() else tokens(text)


def _atoms(text: str) -> Iterator[tuple[str, int, str]]:
    """(text, offset, what follows it) of each sentence or line."""
    count = text.count("\n") + 1
    by_line = count > 1 and len(_LINE_END.findall(text)) * 5 >= count * 2
    pattern = _SENTENCE if by_line or not _SENTENCE_ONLY.search(text) else _SENTENCE_ONLY
    start = 0
    for match in pattern.finditer(text):
        gap = match[0]
        closing = len(gap) - len(gap.lstrip("\"'”’»)]*_"))  # quotes belong to their sentence
        end = match.start() + closing
        if text[start:end].strip():
            yield text[start:end], start, text[end : match.end()]
            start = match.end()
    if text[start:].strip():
        yield text[start:].rstrip(), start, ""


def _words(text: str, size: int) -> Iterator[tuple[str, int]]:
    """(run without blanks, offset); longer runs than `size` characters between graphemes."""
    at = 0
    for match in [*_BLANKS.finditer(text), None]:
        end = match.start() if match else len(text)
        for piece in pieces(text[at:end], size) if end - at > size else [text[at:end]]:
            if piece:
                yield piece, at
            at += len(piece)
        at = match.end() if match else end
