"""What an edit may not cost: the header, a private part, the text that follows one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.core.given import MAX_BYTES
from memory_mcp.core.private import is_open


def header_state(text: str) -> Literal["none", "good", "broken"]:
    """Whether a text begins with a header, and whether that can be read."""
    header = frontmatter.split(text).header
    return "none" if header is None else frontmatter.load(header).state


def check_size(text: str) -> None:
    """Raise RefusedError for a text that is too large for a note."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise RefusedError(
            f"The note has {size:,} bytes; notes of more than {MAX_BYTES:,} are not edited here."
            " Split it in an editor."
        )


def check_header_kept(before: str, after: str) -> None:
    """An edit of the text must not cost the header, nor make a second or a new one of the text.

    Raises InputError.
    """
    was, now = header_state(before), header_state(after)
    if was == now or (was == "broken" and now == "good"):
        return
    raise InputError(
        f"This edit would turn the note's header from {was} to {now}; change header keys with"
        " frontmatter."
    )


def check_header_shown(text: str, shown: str) -> None:
    """Raise RefusedError where a private part holds an end of the header: it cannot be changed
    without a look into that part."""
    if header_state(text) != "none" and header_state(shown) == "none":
        raise RefusedError(
            "A private part of this note takes in an end of its header, so the header cannot be"
            " changed here; close the part within the header in an editor first."
        )


def check_nothing_swallowed(shown: str) -> None:
    """Raise InputError where a new text in the midst of a note opens a private part and leaves it
    open: all that follows would be hidden. `shown` has marks for the old parts."""
    if is_open(shown):
        raise InputError(
            "The new text opens <private> and does not close it: all that follows in the note"
            " would be hidden too. Close it with </private>."
        )


def check_open_part(text: str, shown: str, parts: Sequence[str]) -> None:
    """Raise RefusedError where something stands behind the last private part of a note `text`
    that has no end. `shown` is the changed text, with marks."""
    if not parts or not is_open(text):
        return
    _, mark, after = shown.rpartition(f"<private id={len(parts)}/>")
    if mark and after.strip():
        raise RefusedError(
            "The last private part of this note has no </private>: text after it would be hidden"
            " too. Close it in the file first, or put the text in front of it."
        )


def check_revealed(text: str, shown: str, revealed: str) -> None:
    """Raise RefusedError where the private parts, back in their places, break a good header."""
    if header_state(shown) != "good" or header_state(revealed) == "good":
        return
    if header_state(text) == "good":
        raise RefusedError(
            "A private part cannot stand at this place of the header, which would not be readable"
            " any more; leave it where it was."
        )
