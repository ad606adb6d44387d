"""What the index says about itself: values for status, `degraded` and change events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory_mcp.core.band import Band
from memory_mcp.notes.scan import Warned

SourceStateName = Literal["scanning", "indexing", "ready", "empty", "missing"]
EmbedderStateName = Literal["loading", "ready", "off", "failed"]


@dataclass(frozen=True, slots=True)
class SourceState:
    """One source: notes and passages that can be found, the folder, and how far the index is."""

    files: int
    passages: int
    path: str
    state: SourceStateName


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """The embedding model. `model` and `dimension` are None while they are not known."""

    state: EmbedderStateName
    model: str | None = None
    dimension: int | None = None
    error: str | None = None
    band: Band | None = None


@dataclass(frozen=True, slots=True)
class IndexState:
    """The whole index at one moment.

    `pending` counts the files whose stamp, or whose vectors, the index does not have yet;
    `unread` those of them that cannot be found by words either. A source that was not looked at
    counts as one in both: how many it holds is not known before.
    `degraded` is None, or one sentence that says what a search lacks; `vectors` counts the
    passages that can be found by meaning. `sources` is keyed by name (by id where two sources
    share a name).
    """

    pending: int
    unread: int
    degraded: str | None
    sources: dict[str, SourceState]
    embedder: EmbedderState
    warnings: tuple[Warned, ...]
    vectors: int


@dataclass(frozen=True, slots=True)
class IndexEvent:
    """Notes of one source whose text changed (by reference: two sources may have the same), and
    whether the list of notes (or a title in it) did."""

    changed: frozenset[str]
    listing: bool
    source_id: str
