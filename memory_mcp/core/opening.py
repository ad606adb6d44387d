"""How a note begins: its first paragraph, or the first line that says something."""

from __future__ import annotations

from dataclasses import dataclass

from memory_mcp.core.markdown import Block, Outline
from memory_mcp.core.plain import plain

_LONGEST = 2000  # characters that are looked at


@dataclass(frozen=True, slots=True)
class Opening:
    """The first paragraph that says something besides tags; empty where there is none."""

    text: str = ""
    """Plain text."""
    line: int = 0
    """Its first line in the body, 1-based."""


def opening(outline: Outline) -> Opening:
    """How the body begins."""
    for block in outline.blocks:
        if block.kind == "paragraph":
            text = plain(_text(outline, block)[:_LONGEST])
            if _says_something(text):
                return Opening(text, block.first)
    return Opening()


def first_line_of_content(outline: Outline) -> str:
    """The first line that is no heading, as plain text; empty where there is none."""
    for block in outline.blocks:
        if block.kind in ("heading", "comment", "rule", "definition"):
            continue
        for line in outline.lines[block.first - 1 : block.last]:
            text = plain(line[:_LONGEST])
            if any(map(_is_content, text)) and not line.lstrip().startswith(("```", "~~~")):
                return text
    return ""


def _text(outline: Outline, block: Block) -> str:
    return "\n".join(outline.lines[block.first - 1 : block.last])


def _says_something(text: str) -> bool:
    words = text.split()
    return any(not word.startswith("#") and any(map(_is_content, word)) for word in words)


def _is_content(char: str) -> bool:
    return char.isalnum() or char > "\u2190"  # letters, digits, and symbols such as emoji
