"""Parts of a note between `<private>` and `</private>`: never indexed, never shown.

The marks count everywhere, also inside code, in any case, nested, with attributes, and without an
end up to the end of the text: what might be private is. `<private id=n/>` stands for a part that
is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_mcp.core.errors import RefusedError

_MARK = re.compile(r"<\s*private\s+id\s*=\s*[\"']?(\d+)[\"']?\s*/\s*>", re.I)
# A tag that opens hides also where it is broken: a quoted `>` or `<` in it, or no end at all. One
# with a blank before its name must have an end, since `a < private b` is no tag.
_TAG = re.compile(
    rf"(?P<mark>{_MARK.pattern})"
    r"|(?P<end><\s*/\s*private(?:\s[^<>]*)?>)"
    r"|<(?!\s*private(?:\s[^<>]*)?/\s*>)(?:private(?=[\s>]|\Z)|\s+private(?:\s[^<>]*)?>)",
    re.I,
)
_NEWLINE = re.compile(r"\r\n|\r|\n")


def hide(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with each private part replaced by `<private id=n/>` (n from 1), and the parts as
    written, tags included. A mark that already stands in the text is treated as a part, so that
    `reveal` gives back every byte."""
    parts: list[str] = []
    shown: list[str] = []
    at = 0
    for start, end in spans(text):
        parts.append(text[start:end])
        shown += (text[at:start], f"<private id={len(parts)}/>")
        at = end
    if not parts:
        return text, ()
    shown.append(text[at:])
    return "".join(shown), tuple(parts)


def strip(text: str) -> str:
    """The text without its private parts; line breaks stay, so that line numbers do."""
    kept: list[str] = []
    at = 0
    for start, end in spans(text):
        breaks = "".join(_NEWLINE.findall(text[start:end]))
        kept += (text[at:start], breaks or " ")
        at = end
    if at == 0:
        return text
    kept.append(text[at:])
    return "".join(kept)


def reveal(text: str, parts: tuple[str, ...]) -> str:
    """The text with each `<private id=n/>` replaced by part n. Every part stands exactly once:
    RefusedError where a mark is missing, doubled or unknown."""
    seen = [int(match[1][:9]) for match in _MARK.finditer(text)]
    unknown = sorted({number for number in seen if not 1 <= number <= len(parts)})
    if unknown:
        known = f"this note has 1 to {len(parts)}" if parts else "this note has none"
        raise RefusedError(
            f"<private id={unknown[0]}/> stands for no private part ({known}); remove the mark"
        )
    wanted = range(1, len(parts) + 1)
    missing = [number for number in wanted if number not in seen]
    if missing:
        marks = ", ".join(f"<private id={number}/>" for number in missing)
        raise RefusedError(
            f"the new text would lose private parts: {marks} is missing; keep each mark once, or"
            " change only the other parts with old_text and new_text"
        )
    doubled = [number for number in wanted if seen.count(number) > 1]
    if doubled:
        raise RefusedError(f"<private id={doubled[0]}/> stands more than once; keep it once")
    return _MARK.sub(lambda match: parts[int(match[1]) - 1], text)


def is_open(text: str) -> bool:
    """Whether the last private part has no end, so that it takes in whatever comes after it."""
    depth = 0
    for match in _TAG.finditer(text):
        if not match["mark"]:
            depth = max(depth + (-1 if match["end"] else 1), 0)
    return depth > 0


def has_mark(text: str) -> bool:
    """Whether the mark of a hidden part stands in the text."""
    return _MARK.search(text) is not None


def spans(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each outermost private part, and of each mark outside of one."""
    depth = start = 0
    for match in _TAG.finditer(text):
        if match["mark"]:
            if not depth:
                yield match.span()
            continue
        start = start if depth else match.start()
        was, depth = depth, max(depth + (-1 if match["end"] else 1), 0)
        if was and not depth:
            yield start, match.end()
    if depth:
        yield start, len(text)
