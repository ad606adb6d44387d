"""Reading the auto-memory of Claude Code: one fact a file, and MEMORY.md, which lists them.

Older folders have plain topic files, or keep facts in MEMORY.md itself: then it is a note, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from memory_mcp.core import frontmatter
from memory_mcp.core.errors import InputError, NotFoundError
from memory_mcp.core.note import Json
from memory_mcp.core.plain import plain
from memory_mcp.core.slug import shown
from memory_mcp.curate.importing.folder import read_folder
from memory_mcp.curate.importing.item import Item, Left, Reading

_INDEX = "MEMORY.md"
_LINE = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(([^()\s]+?)\)\s*(?:(?:—|–|--?|:)\s*(.*))?")
_LISTED = 10


def read_claude(path: Path) -> Reading:
    """The facts of a folder `…/projects/<project>/memory`, or of the project's folder around it.
    Blocking. Raises NotFoundError, InputError."""
    folder = _memory_folder(path)
    found = read_folder(folder)
    project = folder.parent.name if folder.name == "memory" else folder.name
    index = next((item for item in found.items if item.origin == _INDEX), None)
    hooks = _hooks(index.text) if index is not None else {}
    items = [_described(item, hooks) for item in found.items if item is not index]
    left = list(found.left)
    if index is not None:
        if _only_lists(index.text, {item.origin for item in items}):
            left.append(Left(_INDEX, "it only lists the other files, and they are taken"))
        else:
            items.append(replace(index, path=f"{project.strip('-')}-memory"))
    named = (replace(item, origin=f"{project}/{item.origin}") for item in items)
    return Reading("claude-code", "claude-code", tuple(named), tuple(left))


def _memory_folder(path: Path) -> Path:
    if not path.is_dir():
        raise NotFoundError(
            f"There is no folder {shown(str(path), 200)}; Claude Code keeps its memory in"
            " ~/.claude/projects/<project>/memory."
        )
    path = path.resolve()
    if any(path.glob("*.md")) or path.name == "memory":
        return path
    if (path / "memory").is_dir():
        return path / "memory"
    inside = sorted(entry.parent.name for entry in path.glob("*/memory") if entry.is_dir())
    if inside:
        more = ", …" if len(inside) > _LISTED else ""
        raise InputError(
            f"{shown(str(path), 200)} holds the memory of several projects; name one of:"
            f" {', '.join(inside[:_LISTED])}{more}."
        )
    raise InputError(
        f"{shown(str(path), 200)} holds no memory of Claude Code: no .md file, and no folder"
        " named memory."
    )


def _hooks(text: str) -> dict[str, str]:
    """File → what the index says of it."""
    lines = (_LINE.fullmatch(line) for line in text.splitlines())
    return {found[1].removeprefix("./"): plain(found[2] or "") for found in lines if found}


def _only_lists(text: str, known: set[str]) -> bool:
    """Whether a text says nothing but headings and lines for files that are taken."""
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None or found[1].removeprefix("./") not in known:
            return False
    return True


def _described(item: Item, hooks: Mapping[str, str]) -> Item:
    hook = hooks.get(item.origin)
    header: dict[str, Json] = {}
    values = frontmatter.split_and_load(item.text)[1].values
    if hook and not values.get("description"):
        header["description"] = hook
    return replace(item, header=header)
