"""The edit of one line that carries a finding out: a link that leads elsewhere, or a new one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from memory_mcp.core.link_places import link_places
from memory_mcp.core.note import Link
from memory_mcp.core.private import hide
from memory_mcp.core.relink import other_names, relink
from memory_mcp.curate.lucid.rules import Repair
from memory_mcp.curate.lucid.unlinked import Unlinked, bare
from memory_mcp.curate.plans.planner import WIKI
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.view import IndexView

Edit = dict[str, Any]
"""The arguments `old_text` and `new_text` of wiki_edit."""

_LONGEST = 2_000  # characters of a line that a finding carries


def repaired(index: IndexView, repair: Repair, text: str) -> Edit | None:
    """Let a link of a page lead to another one; None where no single edit can."""
    source = next(item for item in index.sources if item.kind == WIKI)
    goal, path = index.names.resolve(repair.to)
    aim: NoteKey = (goal.id, path)
    here = (source.name, repair.path)

    def wanted(link: Link) -> list[str] | None:
        if link.target != repair.target:
            return None
        names = other_names(link, here, here, (goal.name, path))
        return [
            name
            for name in names
            if index.names.target(source.id, repair.path, Link(name, link.kind)) == aim
        ]

    places = [place for place in link_places(text) if place.link.target == repair.target]
    if len(places) != 1:
        return None
    return line_edit(text, places[0].start, lambda line: relink(line, wanted).text)


def with_link(index: IndexView, one: Unlinked, text: str) -> Edit | None:
    """Link a name where it stands first; None where no single edit can."""
    at = 0
    for line in text.split("\n"):
        if bare(line.rstrip("\r")) == one.line:
            return line_edit(text, at, lambda found: _linked(index, one, found))
        at += len(line) + 1
    return None


def _linked(index: IndexView, one: Unlinked, line: str) -> str:
    source = next(item for item in index.sources if item.kind == WIKI)
    goal, path = index.names.resolve(one.to)
    place = re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", bare(line))
    if place is None:
        return line
    for name in (one.name, path.rpartition("/")[2], path):
        target = index.names.target(source.id, one.path, Link(name, "wikilink"))
        if target == (goal.id, path) and not re.search(r"[\[\]|#^]", name):
            link = f"[[{name}]]" if name == one.name else f"[[{name}|{one.name}]]"
            return line[: place.start()] + link + line[place.end() :]
    return line


def line_edit(text: str, at: int, change: Callable[[str], str]) -> Edit | None:
    """The change of the line at an offset as an edit: the line must stand there only."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : len(text) if end < 0 else end].rstrip("\r")
    new = change(line)
    shown, _ = hide(text)
    if new == line or len(line) > _LONGEST or shown.count(line) != 1:
        return None
    return {"old_text": line, "new_text": new}
