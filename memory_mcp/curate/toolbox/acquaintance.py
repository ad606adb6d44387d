"""What a model has seen of the notes that it works on, and what it may do with them therefore."""

from __future__ import annotations

from dataclasses import dataclass

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.parse import revision_of
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.search.read import Reading

Key = tuple[str, str]
"""(source id, path) of a note."""


@dataclass(frozen=True, slots=True)
class _Known:
    """As of which revision, whether all of it, and up to which character."""

    revision: str
    complete: bool
    seen: int = 0


class Acquaintance:
    """The notes that were read or written in one piece of work."""

    def __init__(self) -> None:
        self._known: dict[Key, _Known] = {}

    def read(self, key: Key, reading: Reading, heading: str | None, offset: int) -> None:
        """A part of a note was shown; parts that join make the whole."""
        known = self._known.get(key)
        if known is None or known.revision != reading.revision:
            known = _Known(reading.revision, False)
        seen, complete = known.seen, known.complete
        if heading is None and offset <= seen:
            seen = max(seen, offset + len(reading.content))
            complete = complete or reading.next_offset is None
        self._known[key] = _Known(reading.revision, complete, seen)

    def wrote(self, spot: Spot, data: bytes | None, *, whole: bool) -> None:
        """A note has this text now; `whole`: all of it is the model's."""
        if data is not None:
            known = self._known.get(_key(spot))
            complete = whole or (known is not None and known.complete)
            self._known[_key(spot)] = _Known(revision_of(data), complete)

    def revision(self, spot: Spot) -> str | None:
        """The revision that was seen last."""
        known = self._known.get(_key(spot))
        return None if known is None else known.revision

    def check_whole(self, spot: Spot) -> None:
        """Raise RefusedError where not all of a note was seen."""
        known = self._known.get(_key(spot))
        if known is None or not known.complete:
            raise RefusedError(
                f"{spot.reference} exists, and you have not read all of it: read it with"
                " memory_get and change what is to be changed, or take another name."
            )


def _key(spot: Spot) -> Key:
    return spot.source.id, spot.path
