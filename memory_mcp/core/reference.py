"""References: the one way to name a note, `<source>/<path without .md>`. Text in, text out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from memory_mcp.core.errors import InputError
from memory_mcp.core.slug import check_slug, shown

INBOX = "memory"
"""The name of every inbox."""

GLOBAL, PROJECT = "global", "project"
"""How the two inboxes of a client that works in a project are told apart: `memory/x` is the
project's note where both have an x, and the other one is `global/x`."""

_MAX_LENGTH = 1000
_DRIVE = re.compile(r"[A-Za-z]:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_WAY_OUT = "Write it as <source>/<path>, for example memory/garden or wiki/people/alice."


def clean(text: str) -> str:
    """The canonical spelling of a path or reference, relative and inside its folder.

    NFC, no leading `./`, no empty or `.` parts, no `.md` at the end. Raises InputError for what
    could name something else than a note below a folder: an absolute path, `..`, a backslash, a
    drive, a URL, a control character, nothing at all, or more than 1,000 characters.
    """
    _refuse(text)
    path = unicodedata.normalize("NFC", text.strip())
    while path.startswith("./"):
        path = path[2:].lstrip("/").strip()
        _refuse(path)
    path = without_ending("/".join(part for part in path.split("/") if part not in ("", ".")))
    if not path or path.endswith("/"):
        raise InputError(f"The reference {shown(text)} names no note. {_WAY_OUT}")
    return path


def without_ending(path: str) -> str:
    """`path` without a `.md` at its end, in any case of letters."""
    return path[:-3] if path[-3:].lower() == ".md" else path


def split(text: str, source_names: Collection[str]) -> tuple[str | None, str]:
    """Clean a reference and part it into the name of its source and the path below it.

    The source is None where the first part names none of `source_names`.
    """
    path = clean(text)
    first, slash, rest = path.partition("/")
    if slash and first in source_names:
        return first, rest
    return None, path


def join(source: str, path: str) -> str:
    """The canonical reference of a path below a source."""
    return f"{source}/{path}"


def inbox_note(text: str, inboxes: Collection[str] = (INBOX,)) -> tuple[str | None, str]:
    """The inbox, if it is named, and the slug of an inbox note that exists or is to be looked for:
    of its slug, or of its reference as results name it. Raises SlugError for all else."""
    try:
        name, path = split(text, inboxes)
    except InputError:
        name = None
    return name, check_slug(text if name is None else path)


def _refuse(text: str) -> None:
    problem = _problem(text)
    if problem:
        raise InputError(f"The reference {shown(text)} cannot be used: {problem}. {_WAY_OUT}")


def _problem(text: str) -> str | None:
    if len(text) > _MAX_LENGTH:
        return f"it has {len(text):,} characters and {_MAX_LENGTH:,} are allowed"
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text):
        return "it holds a control character or a broken letter"
    if not text.strip():
        return "it is empty"
    return _way_out_of_folder(text.strip())


def _way_out_of_folder(text: str) -> str | None:
    if "\\" in text:
        return "it holds a backslash; folders are parted by /"
    if text.startswith(("/", "~")):
        return "it is an absolute path or a home folder, and notes are named below their source"
    if _DRIVE.match(text) or _SCHEME.match(text):
        return "it is a drive or an address, and notes are named below their source"
    if any(part.strip() == ".." for part in text.split("/")):
        return "it climbs out of its folder with `..`"
    return None
