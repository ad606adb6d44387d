"""What is live: notes, passages under their points, words and names. Owned by the event loop.

All methods are short and synchronous, so that a query never sees half of a change.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from memory_mcp.core.note import Card, Passage, Stamp
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.names import Names
from memory_mcp.index.wordview import SourceWords, WordView
from memory_mcp.notes.sources import Source


@dataclass(frozen=True, slots=True)
class Entry:
    """A live note. `points[i]` is the id of `passages[i]` in both legs; `digest` is the SHA-256 of
    its bytes, in hex; `embedded`: all its passages have vectors."""

    source: Source
    card: Card
    passages: tuple[Passage, ...]
    points: tuple[int, ...]
    stamp: Stamp
    embedded: bool
    digest: str

    @property
    def key(self) -> NoteKey:
        """(source id, path)."""
        return self.source.id, self.card.path


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file holds, ready to be put on the table: the note and its words."""

    card: Card
    passages: tuple[Passage, ...]
    words: tuple[tuple[str, ...], ...]
    """For each passage its terms in order, "" where what follows is apart."""
    note_words: dict[str, int]
    """Term -> how often."""
    stamp: Stamp
    digest: str


class Table:
    """All live notes of all sources."""

    def __init__(
        self,
        sources: Iterable[Source] = (),
        words: Callable[[], SourceWords] = SourceWords,
    ) -> None:
        """`words` makes what keeps the words of a source."""
        self.names = Names()
        self.warned: dict[NoteKey, Card] = {}
        """The notes with warnings."""
        self.dropped: set[tuple[str, int]] = set()
        """(source id, point) of what is not live any more and may still have a vector."""
        self.relabelled: set[int] = set()
        """Points that may have a vector under other labels than their note has now."""
        self.touched: set[NoteKey] | None = None
        """Notes whose text came, changed or went; None where nobody wants to know."""
        self._entries: dict[str, dict[str, Entry]] = {}
        self._points: dict[int, tuple[NoteKey, int]] = {}
        self._words: dict[str, SourceWords] = {}
        self._make_words = words
        self._turns: dict[NoteKey, int] = {}
        self._turn = 0
        self._passages: dict[str, int] = {}
        self._languages: dict[str, Counter[str]] = {}
        for source in sources:
            self.add(source)

    def add(self, source: Source) -> None:
        """Have a place for the notes of one more source."""
        self.names.add(source)
        self._entries[source.id] = {}
        self._words[source.id] = self._make_words()
        self._passages[source.id] = 0
        self._languages[source.id] = Counter()

    def entries(self, source_ids: Collection[str] | None = None) -> Iterator[Entry]:
        """Live notes, of these sources or of all; a snapshot of what is there now."""
        for source_id in tuple(self._entries):
            if source_ids is None or source_id in source_ids:
                yield from tuple(self._entries[source_id].values())

    def languages(self, source_ids: Collection[str]) -> set[str]:
        """The languages of the live notes of some sources."""
        return {code for sid in source_ids for code in self._languages.get(sid, ())}

    def entry(self, source_id: str, path: str) -> Entry | None:
        """One live note."""
        return self._entries.get(source_id, {}).get(path)

    def live(self, notes: Iterable[NoteKey]) -> dict[NoteKey, Entry]:
        """Those of some notes that are live, each once, in their order."""
        known = self._entries
        return {
            note: entry
            for note in dict.fromkeys(notes)
            if (entry := known.get(note[0], {}).get(note[1])) is not None
        }

    def paths(self, source_id: str) -> dict[str, Entry]:
        """The live notes of a source by path. Not to be changed."""
        return self._entries[source_id]

    def at(self, point: int) -> tuple[Entry, int] | None:
        """The note and the place in its passages that a point stands for, while it is live."""
        found = self._points.get(point)
        if found is None:
            return None
        (source_id, path), place = found
        return self._entries[source_id][path], place

    def located(self, points: Iterable[int]) -> dict[NoteKey, list[tuple[int, int]]]:
        """The notes of those of the points that are live, in order, each with (place in its
        passages, point) in the order of its passages."""
        known = self._points
        found: dict[NoteKey, list[tuple[int, int]]] = {}
        for point in points:
            if (at := known.get(point)) is not None:
                found.setdefault(at[0], []).append((at[1], point))
        for own in found.values():
            if len(own) > 1:
                own.sort()
        return dict(sorted(found.items()))

    def source_of(self, point: int) -> str:
        """The source of a live point; empty for another one."""
        found = self._points.get(point)
        return found[0][0] if found is not None else ""

    def words(self, source_ids: Collection[str]) -> WordView:
        """The words of some sources as one collection."""
        return WordView({sid: self._words[sid] for sid in source_ids if sid in self._words})

    def passage_count(self, source_id: str) -> int:
        """How many live passages a source has."""
        return self._passages[source_id]

    @property
    def size(self) -> int:
        """How many live passages there are in all."""
        return len(self._points)

    @property
    def keys(self) -> Set[NoteKey]:
        """(source id, path) of all live notes; changes as they do."""
        return self._turns.keys()

    @property
    def points(self) -> Set[int]:
        """All live points; changes as they do."""
        return self._points.keys()

    @property
    def turn(self) -> int:
        """Counts changes: see `touched_after`."""
        return self._turn

    def touched_after(self, key: NoteKey, turn: int) -> bool:
        """Whether a note was put after the table stood at `turn`."""
        return self._turns.get(key, 0) > turn

    def put(self, source: Source, parsed: Parsed) -> Entry:
        """Make a text the current one. Passages that are the same keep their points; others of
        the old text are gone from here on."""
        key = (source.id, parsed.card.path)
        card = replace(parsed.card, scope=source.scope)
        old = self.entry(*key)
        points = points_of(key, parsed.passages)
        words = self._words[source.id]
        for gone in set(old.points if old else ()).difference(points):
            self._forget(source.id, gone)
        for place, point in enumerate(points):
            known = point in words.passages
            if not known or words.passages.words(point) != parsed.words[place]:
                words.passages.add(point, parsed.words[place])
            self._points[point] = (key, place)
        if old is None or words.notes.frequencies(key[1]) != parsed.note_words:
            words.notes.add(key[1], Counter(parsed.note_words).elements())
        entry = Entry(source, card, parsed.passages, points, parsed.stamp, False, parsed.digest)
        self._keep(entry, old)
        self._touch(key)
        self.names.put(source.id, card)
        return entry

    def update(self, entry: Entry, **changes: object) -> Entry:
        """Replace facts about a live note that leave its passages as they are."""
        new: Entry = replace(entry, **changes)  # type: ignore[arg-type]  # names are fields
        self._keep(new, entry)
        if new.card is not entry.card:
            self.names.put(new.source.id, new.card)
        return new

    def _keep(self, entry: Entry, old: Entry | None) -> None:
        source_id, path = entry.key
        self._turn += 1
        self._turns[entry.key] = self._turn
        self._entries[source_id][path] = entry
        if entry.card.warnings:
            self.warned[entry.key] = entry.card
        else:
            self.warned.pop(entry.key, None)
        self._passages[source_id] += len(entry.points) - (len(old.points) if old else 0)
        if old is not None:
            self._speaks_less(source_id, old.card.language)
        self._languages[source_id][entry.card.language] += 1

    def _speaks_less(self, source_id: str, language: str) -> None:
        spoken = self._languages[source_id]
        spoken[language] -= 1
        if not spoken[language]:
            del spoken[language]

    def remove(self, source_id: str, path: str) -> Entry | None:
        """Forget a note; what it was, or None."""
        entry = self._entries.get(source_id, {}).pop(path, None)
        if entry is None:
            return None
        words = self._words[source_id]
        for point in entry.points:
            self._forget(source_id, point)
        words.notes.remove(path)
        self.warned.pop(entry.key, None)
        self.names.drop(source_id, path)
        self._turn += 1
        self._turns.pop(entry.key, None)
        self._touch(entry.key)
        self._passages[source_id] -= len(entry.points)
        self._speaks_less(source_id, entry.card.language)
        return entry

    def _touch(self, key: NoteKey) -> None:
        if self.touched is not None:
            self.touched.add(key)

    def _forget(self, source_id: str, point: int) -> None:
        self._words[source_id].passages.remove(point)
        del self._points[point]
        self.dropped.add((source_id, point))

    def parsed(self, entry: Entry) -> Parsed:
        """A live note in the form in which it was put."""
        words = self._words[entry.source.id]
        return Parsed(
            card=entry.card,
            passages=entry.passages,
            words=tuple(words.passages.words(point) for point in entry.points),
            note_words=words.notes.frequencies(entry.card.path),
            stamp=entry.stamp,
            digest=entry.digest,
        )


def points_of(key: NoteKey, passages: Sequence[Passage]) -> tuple[int, ...]:
    """The ids of a note's passages: 63 bits of a hash over source, path and passage key (and which
    of equal passages it is), so that every process gives the same passage the same id."""
    seen: dict[str, int] = {}
    points = []
    for passage in passages:
        again = seen[passage.key] = seen.get(passage.key, -1) + 1
        text = "\0".join((*key, passage.key, str(again)))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        points.append(int.from_bytes(digest[:8]) >> 1)
    return tuple(points)
