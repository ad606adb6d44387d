"""Inside a block of Markdown: what is code, comment or address, and the #tags of the rest.

The scanner goes from left to right once and looks for each kind of end at most once in vain, so
that its time grows with the text and not with its square.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal

import regex

Kind = Literal["escape", "code", "comment", "tag"]

_START = re.compile(r"\\[\\`*_~#\[\]!<%]|`+|<!--|%%|(?<!\()<(?=/?[A-Za-z])")
_COMMENT_START = re.compile(r"<!--|%%|`+|^[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*~{3,}", re.M)
_HTML_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TICKS = re.compile(r"`+")
_TILDES = re.compile(r"^[ \t>]*~{3,}[ \t]*$", re.M)
_URL = re.compile(r"\b(?:https?|ftp|file|obsidian|mailto):[^\s<>\"'`]+", re.I)
_TAG = regex.compile(
    r"(?<![\p{L}\p{N}\p{M}_/#&\\=\]@$.])#(?P<name>[\p{L}\p{N}\p{M}\p{So}\u200d\ufe0f_/-]+)"
)
_WORD = regex.compile(r"[\p{L}\p{N}\p{So}]")
_NOT_DIGIT = regex.compile(r"[^\p{Nd}]")
_NOT_BREAK = re.compile(r"[^\n]+")


def silence(text: str) -> str:
    """The text with code, comments, HTML tags and escaped characters blanked: same length, so
    that a `#` or a `[[` that is left is meant as one."""
    if "`" not in text and "<" not in text and "\\" not in text and "%%" not in text:
        return text
    return _blanked(text, [(start, end) for _, start, end in _spans(text, _START)])


def tags(text: str) -> Iterator[str]:
    """The inline #tags of a silenced text whose links were blanked, as written, without `#`."""
    if "#" not in text:
        return
    if ":" in text:
        text = _URL.sub(lambda match: " " * len(match[0]), text)
    for match in _TAG.finditer(text):
        name = match["name"].strip("/")
        if _WORD.search(name) and _NOT_DIGIT.search(name):
            yield name


def without_comments(text: str) -> str:
    """The text of a block with its comments blanked: same length, line breaks kept, code kept."""
    if "<!--" not in text and "%%" not in text:
        return text
    spans = _spans(text, _COMMENT_START)
    return _blanked(text, [(start, end) for kind, start, end in spans if kind == "comment"])


def without_html_comments(text: str) -> str:
    """The text of an HTML block with its comments blanked: same length, line breaks kept."""
    spans: list[tuple[int, int]] = []
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        spans.append((start, end + 3))
        start = text.find("<!--", end + 3)
    return _blanked(text, spans)


def blank(text: str) -> str:
    """Blanks in place of all but the line breaks."""
    return _NOT_BREAK.sub(lambda match: " " * len(match[0]), text)


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], blank(text[start:end]))
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _spans(text: str, starts: re.Pattern[str]) -> Iterator[tuple[Kind, int, int]]:
    """(kind, start, end) of what is not plain text, in order."""
    ends = _Ends(text)
    match = starts.search(text)
    while match:
        kind, end = ends.of(match)
        if end > match.start():
            yield kind, match.start(), end
        match = starts.search(text, max(end, match.end()))


class _Ends:
    """Where things end; what was once looked for in vain is not looked for again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._missing: set[str] = set()
        self._ticks: dict[int, list[int]] | None = None

    def of(self, start: re.Match[str]) -> tuple[Kind, int]:
        """(kind, end) of what begins here; the end is -1 where it has none."""
        opening = start[0]
        if opening[0] == "\\":
            return "escape", start.end()
        if opening == "<!--":
            return "comment", self._find("-->", start.end())
        if opening == "%%":
            return "comment", self._find("%%", start.end())
        if opening == "<":
            tag = _HTML_TAG.match(self._text, start.start())
            return "tag", tag.end() if tag else -1
        if opening[0] == "`":
            return "code", self._code_end(start.end(), len(opening))
        closing = _TILDES.search(self._text, start.end())
        return "code", closing.end() if closing else len(self._text)

    def _find(self, closing: str, after: int) -> int:
        if closing in self._missing:
            return -1
        at = self._text.find(closing, after)
        if at < 0:
            self._missing.add(closing)
            return -1
        return at + len(closing)

    def _code_end(self, after: int, length: int) -> int:
        """The end of the next run of as many backticks."""
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
        runs = self._ticks.get(length, [])
        place = bisect_left(runs, after)
        return runs[place] + length if place < len(runs) else -1
