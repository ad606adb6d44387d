"""Which names count: what a note is called, what is skipped, what a pattern excludes.

Names are read as UTF-8 whatever the locale says, and compared in Unicode normal form C, so that a
name typed on one machine finds the file that another machine wrote in another form.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from pathspec import GitIgnoreSpec

ENDING = ".md"
"""Only this spelling is a note's: `.MD` would make two files of one reference."""

_SKIPPED_FOLDERS = frozenset({"node_modules"})
_TEMPORARY_ENDINGS = ("~", ".tmp", ".swp", ".swx", ".crdownload", ".part")
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\\]")
_UTF8 = sys.getfilesystemencoding().lower().replace("-", "") == "utf8"


def is_note(name: str) -> bool:
    """Whether a file of this name is a note: `.md`, not hidden, no editor's working copy."""
    return name.endswith(ENDING) and not name.startswith((".", "~$")) and name != ENDING


def is_skipped_folder(name: str) -> bool:
    """Whether a folder of this name is never entered: hidden ones and `node_modules`."""
    return name.startswith(".") or name in _SKIPPED_FOLDERS


def is_temporary(name: str) -> bool:
    """Whether a name is one that editors and downloads use for their working copies."""
    return (
        name.startswith((".", "~$"))
        or name.endswith(_TEMPORARY_ENDINGS)
        or (name.startswith("#") and name.endswith("#"))
    )


def is_skipped(disk: str) -> bool:
    """Whether a relative path is no note's, or lies below a folder that is never entered."""
    *folders, name = disk.split("/")
    return not is_note(name) or any(map(is_skipped_folder, folders))


def nfc(text: str) -> str:
    """Unicode normal form C."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def path_of(disk: str) -> str:
    """The canonical path of a note: normal form C, without `.md`."""
    return nfc(disk).removesuffix(ENDING)


def has_odd_letters(name: str) -> bool:
    """Whether no reference can hold this name: control characters or a backslash."""
    return _ODD.search(name) is not None


def from_system(name: str) -> str | None:
    """A name as the system gave it, as text; None where its bytes are no UTF-8."""
    if name.isascii():
        return name
    try:
        return os.fsencode(name).decode("utf-8")
    except UnicodeDecodeError:
        return None


def to_system(name: str) -> str:
    """A name as the system's calls need it, also in a locale without UTF-8."""
    return name if _UTF8 else os.fsdecode(name.encode("utf-8", "surrogateescape"))


def printable(name: str) -> str:
    """Any name from the system as text that can be shown and stored, odd bytes as escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


class Excludes:
    """Patterns as in a `.gitignore`, matched against paths below the source.

    Raises ValueError where a pattern cannot be read.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        lines = [nfc(pattern) for pattern in patterns]
        self._spec = GitIgnoreSpec.from_lines(lines) if lines else None
        self._reincludes = any(line.lstrip().startswith("!") for line in lines)

    def file(self, disk: str) -> bool:
        """Whether this file is excluded."""
        return self._spec is not None and self._spec.match_file(nfc(disk))

    def folder(self, disk: str) -> bool:
        """Whether nothing below this folder counts, so that it need not be entered."""
        if self._spec is None or self._reincludes:
            return False
        return self._spec.match_file(nfc(disk) + "/")


@lru_cache(maxsize=64)
def excludes_of(patterns: tuple[str, ...]) -> Excludes:
    """The `Excludes` of these patterns, read once."""
    return Excludes(patterns)
