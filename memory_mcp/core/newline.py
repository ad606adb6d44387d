"""Line ends: what a text uses, and new text that fits in."""

from __future__ import annotations

import re

_LONE = re.compile(r"(?<!\r)\n")


def as_in(text: str, new: str) -> str:
    """`new` with the line ends of `text`; unchanged where `text` has none, or both kinds."""
    windows = text.count("\r\n")
    unix = text.count("\n") - windows
    if windows and not unix:
        return _LONE.sub("\r\n", new)
    if unix and not windows:
        return new.replace("\r\n", "\n")
    return new


def line_of(text: str, place: int) -> int:
    """The 1-based line of a character offset."""
    return text.count("\n", 0, place) + 1
