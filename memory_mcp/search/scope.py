"""Which notes a caller asks about: sources by name, start of the path, tag."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_mcp.core import reference
from memory_mcp.core.errors import InputError
from memory_mcp.core.normal_form import normal_form
from memory_mcp.core.note import Card
from memory_mcp.notes.sources import Source

ALL = "all"
"""Stands for every source where a source is named."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The sources that are looked at, and what their notes must have."""

    sources: tuple[Source, ...]
    prefix: str | None = None
    tag: str | None = None

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Ids of the sources."""
        return tuple(source.id for source in self.sources)

    @property
    def whole(self) -> bool:
        """Whether every note of the sources is meant."""
        return self.prefix is None and self.tag is None

    def holds(self, card: Card) -> bool:
        """Whether a note of the sources is meant."""
        return self._has_prefix(card) and (self.tag is None or has_tag(card.tags, self.tag))

    def _has_prefix(self, card: Card) -> bool:
        if self.prefix is None:
            return True
        return card.path.startswith(self.prefix) or card.reference.startswith(self.prefix)


def scope(
    known: Sequence[Source],
    names: Collection[str],
    path_prefix: str | None = None,
    tag: str | None = None,
) -> Scope:
    """Read the filters of a request. No names, or `all`, mean every source.

    Raises InputError for a source that is not there, listing those that are, and for a prefix that
    leads out of the folder.
    """
    return Scope(_sources(known, names), _prefix(path_prefix), _tag(tag))


def _sources(known: Sequence[Source], names: Collection[str]) -> tuple[Source, ...]:
    there = {source.name for source in known}
    wrong = [name for name in names if name not in there and name != ALL]
    if wrong:
        listed = ", ".join(dict.fromkeys(source.name for source in known))
        raise InputError(
            f"There is no source {wrong[0]!r}. Sources: {listed}; or leave it out for all."
        )
    if not names or ALL in names:
        return tuple(known)
    return tuple(source for source in known if source.name in names)


def _prefix(text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    return reference.clean(text) + ("/" if text.rstrip().endswith("/") else "")


def _tag(text: str | None) -> str | None:
    if text is None:
        return None
    return fold_tag(text) or None


def fold_tag(text: str) -> str:
    """A tag as it is compared: without `#` and outer slashes, composed, in lower case."""
    return normal_form("NFC", text.strip().lstrip("#").strip("/")).casefold()


def has_tag(tags: Collection[str], wanted: str) -> bool:
    """Whether one of a note's tags is the wanted one or lies below it (`a/b` below `a`)."""
    return any(
        own == wanted or own.startswith(f"{wanted}/") for own in (fold_tag(tag) for tag in tags)
    )
