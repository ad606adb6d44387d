"""What one agent sees of an index: its own inbox and what all share, and nothing else.

Two inboxes may hold a note of the same name, and each is `memory/<name>` to its agent. A view
knows some sources only, so that no caller can ask about another agent's, by whatever name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memory_mcp.core.note import Link
from memory_mcp.core.ports import Term, Vectors
from memory_mcp.core.reference import GLOBAL, INBOX, clean, split
from memory_mcp.index.index import Index
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.names import Names
from memory_mcp.index.relations import CONTRADICTS, SUPERSEDES, Backlink
from memory_mcp.index.state import IndexEvent, IndexState
from memory_mcp.index.table import Entry
from memory_mcp.index.wordview import WordView
from memory_mcp.notes.sources import Source


class NamesView:
    """The names of the notes of some sources: links lead only there, and come only from there."""

    def __init__(self, names: Names, source_ids: Sequence[str]) -> None:
        self._names = names
        self._ids = tuple(source_ids)

    def reference(self, source_id: str, path: str) -> str:
        """The canonical reference of a note, as it is seen from here; see `Names.reference`."""
        return self._names.reference(source_id, path, self._ids)

    def is_shadowed(self, source_id: str, path: str) -> bool:
        """Whether a note gives its name to one of the project; see `Names.is_shadowed`."""
        return self._names.is_shadowed(source_id, path, self._ids)

    def called(self, name: str) -> list[str]:
        """Ids of the sources that a reference means by its first part; see `Names.called`."""
        return self._names.called(name, self._ids)

    def resolve(self, text: str, source_ids: Collection[str] | None = None) -> tuple[Source, str]:
        """The note that a reference names, as (source, path); see `Names.resolve`."""
        return self._names.resolve(text, self._some(source_ids))

    def labelled(
        self, text: str, source_ids: Collection[str] | None = None
    ) -> tuple[Source, str] | None:
        """The note that has this alias, name or title; see `Names.labelled`."""
        return self._names.labelled(text, self._some(source_ids))

    def target(self, source_id: str, path: str, link: Link) -> NoteKey | None:
        """The note that a link in a note leads to; see `Names.target`."""
        if source_id not in self._ids:
            return None
        return self._names.target(source_id, path, link, self._ids)

    def backlinks(
        self, source_id: str, path: str, source_ids: Collection[str] | None = None
    ) -> tuple[Backlink, ...]:
        """Every link that leads to a note; see `Names.backlinks`."""
        if source_id not in self._ids:
            return ()
        found = self._names.backlinks(source_id, path, self._ids)
        return tuple(b for b in found if source_ids is None or b.source_id in source_ids)

    def superseded_by(self, source_id: str, path: str) -> str | None:
        """Reference of the note that supersedes this one; see `Names.superseded_by`."""
        if source_id not in self._ids:
            return None
        return self._names.superseded_by(source_id, path, self._ids)

    def superseded(self, notes: Iterable[NoteKey]) -> frozenset[NoteKey]:
        """Those of some notes that another one supersedes."""
        if not self._names.says(SUPERSEDES):
            return frozenset()
        return frozenset(note for note in notes if self.superseded_by(*note) is not None)

    def contradicting(self, source_id: str, path: str) -> tuple[str, ...]:
        """References of the notes that contradict this one; see `Names.related`."""
        if source_id not in self._ids:
            return ()
        return self._names.related(source_id, path, CONTRADICTS, self._ids)

    def replaced_by(self, source_id: str, path: str) -> tuple[str, ...]:
        """References of the notes that this one replaces; see `Names.related`."""
        if source_id not in self._ids:
            return ()
        return self._names.related(source_id, path, SUPERSEDES, self._ids)

    def _some(self, source_ids: Collection[str] | None) -> list[str]:
        return [sid for sid in self._ids if source_ids is None or sid in source_ids]


class IndexView:
    """An `Index` of which some sources can be seen. Nothing is copied but the entry of a note that
    has another reference here."""

    def __init__(self, index: Index, sources: Sequence[Source]) -> None:
        """The sources must be those of the index; their order is that of every answer."""
        self.sources = tuple(sources)
        self._index = index
        self._ids = tuple(source.id for source in self.sources)
        self.names = NamesView(index.names, self._ids)
        """Resolves references and links; knows back links."""
        self._layered = len({source.scope for source in self.sources} - {None}) > 1
        self._ends: list[Callable[[], None]] = []

    def _shown(self, entry: Entry) -> Entry:
        """An entry with the reference that it has here."""
        if not self._layered or not self.names.is_shadowed(*entry.key):
            return entry
        return replace(entry, card=replace(entry.card, shadowed=True))

    def places(self, text: str) -> tuple[str | None, list[tuple[Source, str]]]:
        """The source that a reference names, and where the note may be, there or not: with a
        source the first that holds it (a project's inbox before the global one), without one any.

        Raises InputError for what is no reference."""
        first, slash, _ = clean(text).partition("/")
        name, path = split(text, {first} if slash and self.names.called(first) else ())
        ids = self._ids if name is None else self.names.called(name)
        return name, [(source, path) for source in self.sources if source.id in ids]

    @property
    def turn(self) -> int:
        """Counts the changes of notes; see `Index.turn`."""
        return self._index.turn

    def _some(self, source_ids: Collection[str] | None) -> tuple[str, ...]:
        return tuple(sid for sid in self._ids if source_ids is None or sid in source_ids)

    def entries(self, source_ids: Collection[str] | None = None) -> Iterator[Entry]:
        """Live notes, of these sources or of all that can be seen."""
        found = self._index.entries(self._some(source_ids))
        return map(self._shown, found) if self._layered else found

    def languages(self, source_ids: Collection[str]) -> set[str]:
        """The languages of the live notes of some sources."""
        return self._index.languages(self._some(source_ids))

    def entry(self, source_id: str, path: str) -> Entry | None:
        """One live note."""
        found = self._index.entry(source_id, path) if source_id in self._ids else None
        return None if found is None else self._shown(found)

    def live(self, notes: Iterable[NoteKey]) -> dict[NoteKey, Entry]:
        """Those of some notes that are live and seen, each once, in their order."""
        found = self._index.live([note for note in notes if note[0] in self._ids])
        if not self._layered:
            return found
        return {note: self._shown(entry) for note, entry in found.items()}

    def at(self, point: int) -> tuple[Entry, int] | None:
        """The note and the place in its passages that a point stands for, while it is live."""
        found = self._index.at(point)
        if found is None or found[0].source.id not in self._ids:
            return None
        return self._shown(found[0]), found[1]

    def located(self, points: Iterable[int]) -> dict[NoteKey, list[tuple[int, int]]]:
        """The notes of those of the points that are live and seen, in order, each with (place in
        its passages, point) in the order of its passages."""
        found = self._index.located(points)
        return {note: own for note, own in found.items() if note[0] in self._ids}

    def words(self, source_ids: Collection[str]) -> WordView:
        """The words of some sources as one collection."""
        return self._index.words(self._some(source_ids))

    async def by_words(
        self,
        words: WordView,
        terms: Sequence[Term],
        limit: int,
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> list[tuple[int, float]]:
        """(point, BM25) of the best live passages of a view by `words` that hold a term; see
        `Index.by_words`."""
        return await self._index.by_words(words, terms, limit, allowed)

    async def likeness(self, text: str, points: Collection[int]) -> dict[int, float]:
        """How near passages come to a question word by word; see `Index.likeness`."""
        return await self._index.likeness(text, points)

    async def query_vector(self, text: str, seconds: float | None = None) -> Vectors | None:
        """The unit vector of a question; see `Index.query_vector`."""
        return await self._index.query_vector(text, seconds)

    async def nearest(
        self,
        source_ids: Collection[str],
        vector: Vectors,
        limit: int,
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> list[tuple[int, float]]:
        """(point, cosine) of the nearest live passages, best first; see `Index.nearest`."""
        return await self._index.nearest(self._some(source_ids), vector, limit, allowed)

    async def around(
        self,
        source_ids: Collection[str],
        vector: Vectors,
        limit: int,
        points: Collection[int],
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> tuple[list[tuple[int, float]], dict[int, float]]:
        """The nearest, and the exact cosine of some points; see `Index.around`."""
        return await self._index.around(self._some(source_ids), vector, limit, points, allowed)

    async def cosine(self, vector: Vectors, points: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the points that are live, seen, and have a vector."""
        return await self._index.cosine(vector, points, self._ids)

    async def refresh(self, source: Source, path: str) -> None:
        """Take one note over now, so that the next search finds it; see `Index.refresh`."""
        await self._index.refresh(source, path)

    async def sweep(self, source: Source | None = None) -> None:
        """Compare a source (or all that can be seen) with the disk by stamps now."""
        for one in self.sources if source is None else (source,):
            await self._index.sweep(one)

    async def look_at_store(self, seconds: float) -> None:
        """Have a server of vectors asked now how it is; see `StoreWatch.look`."""
        await self._index.look_at_store(seconds)

    async def settled(self, seconds: float | None = None) -> bool:
        """Wait until all that is known to have changed can be found; see `Index.settled`."""
        return await self._index.settled(seconds)

    async def rebuild(
        self, progress: Callable[[int, int], None] | None = None, embeddings: bool = False
    ) -> None:
        """Build the whole index anew, also what cannot be seen from here."""
        await self._index.rebuild(progress, embeddings)

    def state(self) -> IndexState:
        """The state of what can be seen."""
        return self._index.state(self._ids)

    def subscribe(self, callback: Callable[[IndexEvent], None]) -> Callable[[], None]:
        """Have `callback` called after each change of a source that can be seen; the result ends
        that, and so does `close`."""

        def heard(event: IndexEvent) -> None:
            if event.source_id in self._ids:
                callback(self._told(event) if self._layered else event)

        end = self._index.subscribe(heard)
        self._ends.append(end)
        return end

    def close(self) -> None:
        """Tell nobody of changes any more."""
        for end in self._ends:
            end()
        self._ends.clear()

    def _told(self, event: IndexEvent) -> IndexEvent:
        """An event with the references that the notes have here, and those that they had: a note
        of the project that comes or goes gives the global one of its name another."""
        seen = set(event.changed)
        for reference in event.changed:
            source, _, path = reference.partition("/")
            if source == INBOX and self.names.called(GLOBAL):
                seen |= {f"{GLOBAL}/{path}"}
        return replace(event, changed=frozenset(seen))
