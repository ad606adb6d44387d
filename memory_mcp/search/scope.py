"""Which notes a caller asks about: sources by name, start of the path, tag."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_mcp.core import reference
from memory_mcp.core.errors import InputError
from memory_mcp.core.note import Card
from memory_mcp.core.tag import fold_tag, has_tag
from memory_mcp.index.chosen import Rule
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

    def rule(self, source: Source) -> Rule | None:
        """What the notes of a source must have, as far as a store can tell; None where it cannot:
        where a prefix ends within a name, or names the notes of one inbox of two."""
        if self.prefix is None:
            return Rule(tag=self.tag)
        folder = self.prefix.removesuffix("/")
        named, _, below = self.prefix.partition("/")
        if folder == self.prefix or named == reference.GLOBAL:
            return None
        if named != source.name:
            return Rule((folder,), self.tag)
        return Rule((folder, below.removesuffix("/")) if below else (), self.tag)

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
