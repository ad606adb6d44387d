"""The whole text of a note that is written anew, from what a caller gives."""

from __future__ import annotations

from collections.abc import Mapping

from memory_mcp.core import frontmatter
from memory_mcp.core.edit import Edited
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.core.given import given_header, given_text
from memory_mcp.core.note import Json
from memory_mcp.core.private import has_mark, hide, reveal


def compose(content: str, header: Mapping[str, Json] | None, old: str | None, now: str) -> Edited:
    """The text of a note that is written, in place of `old` (None: there was none).

    A header block at the start of `content` is the header, with `header` over it; nothing else of
    the old header stays but `created`. A new note is `created` now; `updated` is always now (ISO
    time). Marks of private parts get the old note's text back. Raises InputError for an empty
    content or a header that cannot be read, RefusedError for marks that do not fit.
    """
    given = given_text(content, "content")
    text = given.text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError("content is empty; give the text of the note.")
    parts, loaded = frontmatter.split_and_load(text)
    if loaded.state == "broken":
        raise InputError(
            "The header block at the start of content cannot be read:"
            f" {'; '.join(loaded.warnings)}. Correct it, or give its values as frontmatter."
        )
    if parts.header is None and not text.startswith(("\n", "\r")):
        text = parts.newline + text
    values = given_header(header)
    _check_no_marks(values)
    text, warnings = _revealed(text, old)
    text = frontmatter.change(text, _values(values, loaded.values, old, now))
    end = "" if text.endswith("\n") else parts.newline
    return Edited(text + end, (*given.warnings, *warnings))


def _check_no_marks(values: Json) -> None:
    """A mark among header values would be written as it is, and the part behind it would go."""
    if isinstance(values, str) and has_mark(values):
        raise RefusedError(
            "frontmatter holds the mark of a private part, which is kept only in a text; use"
            " memory_edit, which leaves what you do not name as it is."
        )
    for item in values.values() if isinstance(values, dict) else ():
        _check_no_marks(item)
    for item in values if isinstance(values, list) else ():
        _check_no_marks(item)


def _values(
    header: dict[str, Json], own: Mapping[str, Json], old: str | None, now: str
) -> dict[str, Json | None]:
    values: dict[str, Json | None] = {**header}
    if old is None:
        values["created"] = header.get("created") or own.get("created") or now
    else:
        known = frontmatter.split_and_load(old)[1].values.get("created")
        values["created"] = known or header.get("created") or own.get("created")
    values["updated"] = now
    return {key: value for key, value in values.items() if value is not None or key in own}


def _revealed(text: str, old: str | None) -> tuple[str, tuple[str, ...]]:
    parts = hide(old)[1] if old is not None else ()
    if has_mark(text):
        return reveal(text, parts), ()
    if not parts:
        return text, ()
    return text, (
        f"The replaced text had {len(parts)} private part(s); they are kept in the history only.",
    )
