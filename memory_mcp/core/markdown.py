"""The outline of a note's body: headings, blocks, links and tags, with their lines.

The blocks come from mistune's block parser, which is made to note where each one starts
(its own tokens have no positions). `%%` comments of Obsidian are a block rule of ours.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Literal

from mistune.block_parser import BlockParser
from mistune.core import BlockState

from memory_mcp.core.inline import blank, silence, tags, without_comments, without_html_comments
from memory_mcp.core.links import body_links, local_link
from memory_mcp.core.note import Heading, Link
from memory_mcp.core.plain import plain

BlockKind = Literal[
    "heading",
    "paragraph",
    "list",
    "code",
    "table",
    "quote",
    "html",
    "comment",
    "rule",
    "definition",
]

_KINDS: dict[str, BlockKind] = {
    "heading": "heading", "paragraph": "paragraph", "list": "list", "block_code": "code",
    "block_quote": "quote", "block_html": "html", "comment": "comment", "thematic_break": "rule",
}  # fmt: skip
_ALIGNMENT = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")

_LONGEST_HEADING = 2000  # characters; more is no heading that a person wrote

_Token = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block. `first` and `last` are 1-based lines of the body, inclusive."""

    kind: BlockKind
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What stands in a body. Lines are 1-based in the body."""

    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    links: tuple[Link, ...]
    tags: tuple[str, ...]
    lines: tuple[str, ...]
    """The body's lines without line ends, comments blanked."""


def outline(body: str) -> Outline:
    """The outline of a body (the text after the header)."""
    source = normalised(body)
    state = BlockState()
    state.process(source if source.endswith("\n") else source + "\n")
    _PARSER.parse(state)
    starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
    spans = list(_spans(state))
    blocks: list[Block] = []
    headings: list[Heading] = []
    visible: list[str] = []
    at = 0
    for token, start, end in spans:
        visible.append(source[at:start])
        text = _visible(token["type"], source[start:end])
        visible.append(text)
        at = end
        first = bisect_right(starts, start)
        last = first + _height(token, source[start:end]) - 1
        if last < first:
            continue
        blocks.append(Block(_kind(token, text), first, last))
        if token["type"] == "heading" and (title := plain(token["text"][:_LONGEST_HEADING])):
            headings.append(Heading(token["attrs"]["level"], title, first))
    visible.append(source[at:])
    lines = "".join(visible).split("\n")
    found_links, found_tags = _scan(state.tokens, state.env.get("ref_links", {}))
    return Outline(
        tuple(headings), tuple(_with_gaps(blocks, lines)), found_links, found_tags, tuple(lines)
    )


def normalised(text: str) -> str:
    """Line ends as `\\n`; the number of lines stays."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _height(token: _Token, text: str) -> int:
    """How many lines a block has. A link definition after a heading is no line of it."""
    if token["type"] == "heading":
        under = token.get("style") == "setext"
        return int(token["text"].strip("\n").count("\n")) + (2 if under else 1)
    stripped = text.rstrip(" \t\n\v\f")
    return stripped.count("\n") + 1 if stripped else 0


class _PositionedParser(BlockParser):
    """mistune's block parser; top-level tokens get a `start`, and `%%` comments are blocks."""

    SPECIFICATION: ClassVar[dict[str, str]] = {
        **BlockParser.SPECIFICATION,
        "raw_html": BlockParser.RAW_HTML[:-1] + r"|%%)",
        "block_html": BlockParser.BLOCK_HTML[:-1] + r"|%%)",
    }

    def compile_sc(self, rules: list[str] | None = None) -> re.Pattern[str]:
        """A heading ends a quote, as in CommonMark; mistune's list of what ends one lacks it."""
        if rules is not None and "block_html" in rules:
            rules = [*rules, "atx_heading"]
        return super().compile_sc(rules)

    def parse_method(self, m: re.Match[str], state: BlockState) -> int | None:
        if state.parent is not None:
            return super().parse_method(m, state)
        _start_paragraph(state, m.start())
        before = len(state.tokens)
        end = super().parse_method(m, state)
        for token in state.tokens[before:]:
            token.setdefault("start", m.start())
        return end

    def _parse_indent_code_fast(self, state: BlockState) -> int | None:
        cursor, before = state.cursor, len(state.tokens)
        end = super()._parse_indent_code_fast(state)
        if state.parent is None:
            for token in state.tokens[before:]:
                token.setdefault("start", cursor)
        return end

    def parse_raw_html(self, m: re.Match[str], state: BlockState) -> int | None:
        if m.group(0).strip() != "%%":
            return super().parse_raw_html(m, state)
        closing = state.src.find("%%", m.end())
        if closing < 0 or "\n" not in state.src[m.end() : closing]:
            return None  # inline, or no comment at all
        end = state.find_line_end_at(closing)
        state.append_token({"type": "comment", "raw": state.src[closing + 2 : end]})
        return end


_PARSER = _PositionedParser()


def _start_paragraph(state: BlockState, end: int) -> None:
    """The paragraph before a rule ends where the rule starts: so it starts its length earlier."""
    last = state.last_token()
    if last and last["type"] == "paragraph":
        last.setdefault("start", end - len(last["text"]))


def _spans(state: BlockState) -> Iterator[tuple[_Token, int, int]]:
    """(token, start, end) of the top-level tokens, in order; blank lines belong to the former."""
    _start_paragraph(state, state.cursor_max)
    placed = [token for token in state.tokens if "start" in token]
    placed.sort(key=lambda token: int(token["start"]))
    for index, token in enumerate(placed):
        if token["type"] != "blank_line":
            end = placed[index + 1]["start"] if index + 1 < len(placed) else state.cursor_max
            yield token, int(token["start"]), int(end)


def _visible(kind: str, text: str) -> str:
    if kind == "comment":
        closing = text.find("%%", text.find("%%") + 2) + 2
        return blank(text[:closing]) + without_comments(text[closing:])
    if kind == "block_html":
        return without_html_comments(text)
    return text if kind == "block_code" else without_comments(text)


def _kind(token: _Token, visible: str) -> BlockKind:
    kind = _KINDS.get(token["type"], "paragraph")
    if not visible.strip():
        return "comment"
    if kind == "comment":
        return "paragraph"
    if kind == "paragraph" and "|" in visible:
        rows = visible.split("\n", 2)
        if len(rows) > 1 and "|" in rows[0] and "-" in rows[1] and _ALIGNMENT.match(rows[1]):
            return "table"
    return kind


def _with_gaps(blocks: Sequence[Block], lines: Sequence[str]) -> Iterator[Block]:
    """The blocks, and "definition" blocks for lines that the parser keeps to itself (link
    definitions), so that no line of text is in no block."""
    at = 1
    for block in (*blocks, None):
        end = block.first - 1 if block else len(lines)
        filled = [number for number in range(at, end + 1) if lines[number - 1].strip()]
        if filled:
            yield Block("definition", filled[0], filled[-1])
        if block:
            yield block
            at = block.last + 1


def _scan(
    tokens: Sequence[_Token], definitions: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    links: dict[Link, None] = {}
    names: dict[str, str] = {}
    for text in _texts(tokens):
        quiet = silence(text)
        parts: list[str] = []
        at = 0
        for start, end, link in sorted(body_links(quiet), key=lambda found: found[0]):
            if link is not None:
                links.setdefault(link)
            parts += (quiet[at:start], " " * (end - max(at, start)))
            at = max(at, end)
        parts.append(quiet[at:])
        for name in tags("".join(parts)):
            names.setdefault(name.casefold(), name)
    for definition in definitions.values():
        link = local_link(definition.get("url", ""))
        if link is not None:
            links.setdefault(link)
    return tuple(links), tuple(names.values())


def _texts(tokens: Sequence[_Token]) -> Iterator[str]:
    """The inline texts of all blocks, also inside lists and quotes; no code, HTML or comments."""
    for token in tokens:
        if "text" in token:
            yield token["text"]
        elif token["type"] == "comment":
            yield token["raw"]
        if "children" in token:
            yield from _texts(token["children"])
