"""Notes of the inbox that say the very same as another one: the later of the two is not needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memory_mcp.core.note import Json
from memory_mcp.core.saying import saying
from memory_mcp.curate.compare.loss import other_subject
from memory_mcp.curate.deep.inbox_note import InboxNote, inbox_notes, read_note
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.plan import Change
from memory_mcp.curate.plans.runs import Runs

_OF_THE_FILE = frozenset({"title", "description", "created", "updated", "source"})
"""What differs between two notes of one fact without being a fact itself."""


async def remove_copies(
    parts: Parts, runs: Runs, run: str, only: Collection[str] | None = None
) -> tuple[str, ...]:
    """Take away each inbox note whose text another one has, once that one was read back from disk;
    the references that went. They stay in the history. Raises StorageError, ConflictError."""
    notes = await inbox_notes(parts.index, parts.writer.inbox)
    gone: list[str] = []
    for note, kept in _pairs(notes):
        if only is not None and note.reference not in only:
            continue
        if parts.index.names.backlinks(note.spot.source.id, note.spot.path):
            continue  # somebody points at it by name
        there = await read_note(kept.spot.source, kept.card)
        if there is None or there.data != kept.data:
            continue
        why = f"{kept.reference} says the same"
        await runs.apply(run, [Change(note.spot, note.data, None, why)])
        gone.append(note.reference)
    return tuple(gone)


def _pairs(notes: Iterable[InboxNote]) -> list[tuple[InboxNote, InboxNote]]:
    """(copy, the note that stays) for each copy."""
    first: dict[tuple[str, ...], InboxNote] = {}
    pairs = []
    for note in notes:
        said = saying(note.body)
        kept = first.setdefault(said, note) if said else note
        if kept is not note and note.why_it_stays() is None and _adds_nothing(note, kept):
            pairs.append((note, kept))
    return pairs


def _adds_nothing(note: InboxNote, kept: InboxNote) -> bool:
    """Whether all that the header of a note says is said by the other one, which may be trusted as
    far as it, and no further."""
    if note.outside != kept.outside:
        return False
    if other_subject(note.names, note.body, kept.names, kept.body):
        return False
    ours, theirs = note.values, kept.values
    return all(
        _holds(theirs.get(key), value) for key, value in ours.items() if key not in _OF_THE_FILE
    )


def _holds(theirs: Json, ours: Json) -> bool:
    if isinstance(ours, list) and isinstance(theirs, list):
        return all(item in theirs or _is_day(item) for item in ours)
    if isinstance(ours, list) and theirs is None:
        return all(map(_is_day, ours))
    return theirs == ours


def _is_day(tag: Json) -> bool:
    """The day on which a note was filed, as filing by rule tags it."""
    return isinstance(tag, str) and len(tag) == 10 and tag.replace("-", "").isdigit()
