"""What the operations that change notes answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Similar:
    """A note that says something like the one that was written. `score` is a search's, 0..1."""

    reference: str
    score: float


@dataclass(frozen=True, slots=True)
class WriteResult:
    """A note was created or replaced."""

    reference: str
    revision: str
    created: bool
    replaced_revision: str | None = None
    """The revision that was replaced and can be restored; None where there was none."""
    similar: tuple[Similar, ...] = ()
    warnings: tuple[str, ...] = ()
    complete: bool = True
    """Whether the caller now knows the whole text."""


@dataclass(frozen=True, slots=True)
class EditResult:
    """A note was changed in part; `replaced_revision` is None where nothing had to change."""

    reference: str
    revision: str
    replaced_revision: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """A note was deleted; `deleted` is False, and `revision` None, where there was none."""

    reference: str
    deleted: bool
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """A link in a note's header."""

    target: str
    relation: str


@dataclass(frozen=True, slots=True)
class LinkResult:
    """A note's links after one was added."""

    reference: str
    revision: str
    links: tuple[Relation, ...]
