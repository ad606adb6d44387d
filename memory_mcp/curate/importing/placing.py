"""The names that imported notes get: each one's own where it is free, and the same every time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.slug import is_lost_on_windows, slug_from
from memory_mcp.curate.importing.item import Item
from memory_mcp.curate.importing.stamp import Origin, origin_of
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.curate.plans.planner import WIKI, Planner
from memory_mcp.notes import files
from memory_mcp.notes.place import is_taken

Into = Literal["memory", "wiki"]

_NUMBERS = 200
_GAPS = 3
"""Free names in a row behind which nothing older is looked for: some may have been deleted."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An item and its place; `before` is what the same item left there earlier."""

    item: Item
    spot: Spot
    before: bytes | None = None


class Places:
    """Gives each item a place. The first look finds what was imported before; only then are new
    names given, so that no new note takes the name of an old one."""

    def __init__(self, planner: Planner, by: str, into: Into, folder: str) -> None:
        """`folder` is a path in the wiki, or empty."""
        self._planner = planner
        self._by = by
        self._into = into
        self._folder = folder
        self._used: set[tuple[str, str]] = set()

    def earlier(self, item: Item) -> Placed | None:
        """The place where this very item is already: imported before, or the same bytes.
        Blocking."""
        free = 0
        for spot in self._spots(item):
            data = None if _key(spot) in self._used else _read(spot)
            if data is not None and (data == item.raw or self._is_of(item, data)):
                self._used.add(_key(spot))
                return Placed(item, spot, data)
            free += data is None and not _is_there(spot)
            if free > _GAPS:
                return None
        return None

    def fresh(self, item: Item) -> Placed | None:
        """A place whose name is free; None where none was found. Blocking."""
        for spot in self._spots(item):
            if _key(spot) not in self._used and not _is_there(spot):
                self._used.add(_key(spot))
                return Placed(item, spot)
        return None

    def _is_of(self, item: Item, data: bytes) -> bool:
        known = origin_of(data.decode("utf-8", "replace"))
        return known is not None and known[0] == Origin(self._by, item.origin)

    def _spots(self, item: Item) -> Iterator[Spot]:
        for name in self._names(item):
            try:
                yield (
                    self._planner.note(name)
                    if self._into == "memory"
                    else self._planner.page(f"{WIKI}/{name}")
                )
            except MemoryMcpError:  # hidden, excluded, another source's, no name on every system
                continue

    def _names(self, item: Item) -> Iterator[str]:
        path = PurePosixPath(item.path)
        if self._into == "memory":
            first, second = slug_from(path.name), slug_from(item.path.replace("/", " "))
            yield from dict.fromkeys((first, second))
        else:
            first = "/".join(filter(None, (self._folder, *map(_plain, path.parts))))
            yield first
        yield from (f"{first[:900]}-{number}" for number in range(2, _NUMBERS))


def _plain(part: str) -> str:
    """A part of a page's path that every system can have and every scan lists."""
    if is_lost_on_windows(part) or part.startswith("."):
        return slug_from(part)
    return part


def _read(spot: Spot) -> bytes | None:
    try:
        return files.read(spot.source, spot.path).data
    except MemoryMcpError:  # none, or nothing that can be read as a note
        return None


def _is_there(spot: Spot) -> bool:
    return is_taken(spot.source, spot.path)


def _key(spot: Spot) -> tuple[str, str]:
    return spot.source.id, spot.path.casefold()
