"""What the index knows of the passages that may answer a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_mcp.core.note import Passage
from memory_mcp.search.profile import NoteKey, Profile
from memory_mcp.search.trace import Column

Marks = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """Columns with a row for each passage; those of a note follow each other as in the note, and
    notes are in the order of their keys."""

    notes: Sequence[Profile]
    """The notes, each once."""
    owner: Places
    """The place in `notes` of the note of each passage."""
    passages: Sequence[Passage]
    beginnings: Sequence[int]
    """Passages with different ones are no copies of each other; see `profile.beginning`."""
    held: Marks
    """Which of the question's terms each passage holds, shape (passages, terms)."""
    pairs: Column
    """Share of the question's neighbouring words that follow each other in the passage, too."""
    bm25: Column
    """Raw score; 0 where it holds no term."""
    note_bm25: Column
    """Raw score of the whole note."""
    cosine: Column
    """NaN where the passage has no vector yet, or there is no model."""
    likeness: Column
    """How near its tokens come to those of the question; NaN where the model tells none."""
    superseded: Collection[NoteKey] = frozenset()
    """The notes that another one replaces."""

    def __len__(self) -> int:
        return len(self.passages)

    def some(self, kept: Marks) -> Evidence:
        """The rows that are marked."""
        if kept.all():
            return self
        rows = kept.nonzero()[0].tolist()
        return Evidence(
            notes=self.notes,
            owner=self.owner[kept],
            passages=[self.passages[row] for row in rows],
            beginnings=[self.beginnings[row] for row in rows],
            held=self.held[kept],
            pairs=self.pairs[kept],
            bm25=self.bm25[kept],
            note_bm25=self.note_bm25[kept],
            cosine=self.cosine[kept],
            likeness=self.likeness[kept],
            superseded=self.superseded,
        )

    @cached_property
    def english(self) -> Marks:
        """Which passages are of notes in English."""
        marks: Marks = np.array([note.english for note in self.notes], np.bool_)[self.owner]
        return marks

    @cached_property
    def lines(self) -> tuple[Places, Places]:
        """The first and the last line of each passage in its file."""
        first = np.array([passage.first for passage in self.passages], np.int64)
        return first, np.array([passage.last for passage in self.passages], np.int64)

    def by_note(self, told: Callable[[Profile], Any]) -> npt.NDArray[Any]:
        """What is told of the note of each passage."""
        return np.array([told(note) for note in self.notes])[self.owner]

    def held_of(self, terms: Sequence[str]) -> list[frozenset[str]]:
        """Those of the question's `terms` that each passage holds. Many hold the same."""
        known: dict[bytes, frozenset[str]] = {}
        rows = [row.tobytes() for row in self.held]
        for key in rows:
            if key not in known:
                places = np.frombuffer(key, np.bool_).nonzero()[0].tolist()
                known[key] = frozenset([terms[place] for place in places])
        return [known[key] for key in rows]
