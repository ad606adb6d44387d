"""The monthly log of the wiki: a line for each page that curation made or changed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_mcp.core.wording import GERMAN, wording
from memory_mcp.curate.wiki.page_names import LOGS

_ENGLISH = {"created": "created", "changed": "changed", "from": "from", "by": "by"}
_GERMAN = {"created": "angelegt", "changed": "geändert", "from": "aus", "by": "durch"}


@dataclass(frozen=True, slots=True)
class Logged:
    """What was done with a page: its path, whether it is new, the note it came from, the model."""

    path: str
    created: bool
    note: str
    model: str


def log_path(at: datetime) -> str:
    """The page of a month."""
    return f"{LOGS}/{at:%Y-%m}"


def logged(text: str | None, at: datetime, done: Sequence[Logged], language: str) -> str:
    """The log with a line for each page at its end; None: there is none yet."""
    if text is None:
        text = f"# {wording(language).log} {at:%Y-%m}\n\n"
    newline = "\r\n" if "\r\n" in text else "\n"
    start = "" if text.endswith("\n") or not text else newline
    lines = [_line(at, item, language) + newline for item in done]
    return text + start + "".join(lines)


def _line(at: datetime, item: Logged, language: str) -> str:
    words = _GERMAN if wording(language) is GERMAN else _ENGLISH
    what = words["created" if item.created else "changed"]
    model = f" ({words['by']} {item.model})" if item.model else ""
    return f"- {at:%Y-%m-%d %H:%M} {what} [[{item.path}]] {words['from']} {item.note}{model}"
