"""Names of notes: what a reference or a link means, and who links to whom.

Links are resolved when they are asked for, so that a note that comes or goes changes the answer at
once; what is kept is only under which words notes can be named and links were written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from memory_mcp.core.errors import AmbiguousError, NotFoundError
from memory_mcp.core.note import Card, Link
from memory_mcp.core.reference import GLOBAL, PROJECT, split
from memory_mcp.index.labels import (
    NoteKey,
    Shelf,
    addresses,
    choose,
    fold,
    known_as,
    spellings,
    written_words,
)
from memory_mcp.index.near import near
from memory_mcp.index.relations import OTHER_WAY, SUPERSEDED_BY, Backlink, relation_of
from memory_mcp.notes.sources import Source

_LISTED = 10  # candidates that an error lists


class Names:
    """All live notes by name. With `source_ids`, methods look only there, in this order (None:
    everywhere); a link leads only there, too."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._sources = {source.id: source for source in sources}
        self._shelf = Shelf()
        self._incoming: dict[str, set[NoteKey]] = {}
        self._saying: dict[str, set[NoteKey]] = {relation: set() for relation in OTHER_WAY}

    def add(self, source: Source) -> None:
        """Know one more source."""
        self._sources[source.id] = source

    def put(self, source_id: str, card: Card) -> None:
        """Know a note, in place of what was known of it."""
        key = (source_id, card.path)
        self.drop(*key)
        self._shelf.put(key, card)
        for word in written_words(card.links):
            self._incoming.setdefault(word, set()).add(key)
        for relation in {relation_of(link) for link in card.links} & self._saying.keys():
            self._saying[relation].add(key)

    def drop(self, source_id: str, path: str) -> None:
        """Forget a note; an unknown one is ignored."""
        key = (source_id, path)
        card = self._shelf.drop(key)
        if card is None:
            return
        for word in written_words(card.links):
            linking = self._incoming[word]
            linking.discard(key)
            if not linking:
                del self._incoming[word]
        for saying in self._saying.values():
            saying.discard(key)

    def reference(
        self, source_id: str, path: str, source_ids: Collection[str] | None = None
    ) -> str:
        """`<source>/<path>`, the canonical reference among these sources; `global/<path>` where a
        project's inbox is among them and has a note of that name."""
        if source_ids is not None and self.is_shadowed(source_id, path, source_ids):
            return f"{GLOBAL}/{path}"
        return f"{self._sources[source_id].name}/{path}"

    def is_shadowed(self, source_id: str, path: str, source_ids: Collection[str]) -> bool:
        """Whether a note of the global inbox gives its reference to one of a project."""
        if self._sources[source_id].scope != GLOBAL:
            return False
        own = self._inboxes(PROJECT, source_ids)
        return any(self._shelf.has((sid, path)) for sid in own)

    def called(self, name: str, source_ids: Collection[str]) -> list[str]:
        """The sources of these that a reference means by its first part: those of that name;
        `global` and `project` are the two inboxes where both are there."""
        found = [sid for sid in source_ids if self._sources[sid].name == name]
        if not found and name in (GLOBAL, PROJECT) and self._inboxes(PROJECT, source_ids):
            return self._inboxes(name, source_ids)
        return found

    def _inboxes(self, scope: str, source_ids: Collection[str]) -> list[str]:
        return [sid for sid in source_ids if self._sources[sid].scope == scope]

    def resolve(self, text: str, source_ids: Collection[str] | None = None) -> tuple[Source, str]:
        """The note that a reference names, as (source, path).

        The source may be left out where only one note fits; then the end of a path is enough. Case
        is ignored only where nothing fits exactly. Raises InputError for text that cannot be a
        reference, AmbiguousError with the candidates, NotFoundError with near matches.
        """
        visible = self._visible(source_ids)
        name, path = self._split(text, visible)
        found: list[NoteKey] = []
        if name is not None:
            found = self._in_source(self.called(name, visible), path)
            path = f"{name}/{path}"
        found = found or self._anywhere(visible, path)
        if len(found) == 1:
            return self._sources[found[0][0]], found[0][1]
        if found:
            raise AmbiguousError(self._candidates(text, found, visible))
        raise NotFoundError(self._missing(text, path, name, visible))

    def labelled(
        self, text: str, source_ids: Collection[str] | None = None
    ) -> tuple[Source, str] | None:
        """The note that has this alias, name or title, as (source, path); None where none has.

        Weaker than any path: for what `resolve` does not know. Raises InputError, AmbiguousError
        with the candidates."""
        visible = self._visible(source_ids)
        name, label = self._split(text, visible)
        named = visible if name is None else self.called(name, visible)
        found = sorted(self._shelf.labelled(named, label))
        if len(found) > 1:
            raise AmbiguousError(self._candidates(text, found, visible))
        return (self._sources[found[0][0]], found[0][1]) if found else None

    def _split(self, text: str, visible: Sequence[str]) -> tuple[str | None, str]:
        """(name of the source or None, path). A source may be written in any case."""
        known = {self._sources[sid].name for sid in visible}
        if self._inboxes(PROJECT, visible):
            known |= {GLOBAL, PROJECT}
        name, path = split(text, known)
        first, slash, rest = path.partition("/")
        same = [one for one in known if slash and fold(one) == fold(first)]
        if name is None and len(same) == 1 and not self._shelf.has_folder(visible, first):
            return same[0], rest
        return name, path

    def _visible(self, source_ids: Collection[str] | None) -> list[str]:
        if source_ids is None:
            return list(self._sources)
        return [sid for sid in source_ids if sid in self._sources]

    def _in_source(self, source_ids: Sequence[str], path: str) -> list[NoteKey]:
        for sid in source_ids:
            if self._shelf.has((sid, path)):
                return [(sid, path)]
        same = self._shelf.same_path(source_ids, path)
        return sorted(same or self._shelf.ending(source_ids, path))

    def _anywhere(self, source_ids: Sequence[str], path: str) -> list[NoteKey]:
        exact = [(sid, path) for sid in source_ids if self._shelf.has((sid, path))]
        ends = self._shelf.ending(source_ids, path)
        return (
            exact
            or sorted(key for key in ends if f"/{key[1]}".endswith(f"/{path}"))
            or sorted(self._shelf.same_path(source_ids, path))
            or sorted(ends)
        )

    def _candidates(self, text: str, found: Sequence[NoteKey], visible: Sequence[str]) -> str:
        listed = ", ".join(self.reference(*key, visible) for key in found[:_LISTED])
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        return f"{text!r} fits {len(found)} notes: {listed}{more}. Use one of these references."

    def _missing(self, text: str, path: str, name: str | None, visible: Sequence[str]) -> str:
        keys = self._shelf.keys_in(visible)
        close = near(path, (self.reference(*key, visible) for key in keys))
        first = path.partition("/")[0]
        names = ", ".join(dict.fromkeys(self._sources[sid].name for sid in visible))
        message = f"There is no note {text!r}."
        if name is None and "/" in path and not self._shelf.has_folder(visible, first):
            message += f" There is no source {first!r} either; the sources are {names}."
        if close:
            return f"{message} Did you mean {', '.join(close)}?"
        return f"{message} Look for it with memory_search or memory_list (sources: {names})."

    def target(
        self, source_id: str, path: str, link: Link, source_ids: Collection[str] | None = None
    ) -> NoteKey | None:
        """The note that a link in the note (source_id, path) leads to; None where there is none.

        Read in this order: a path (for Markdown links from the linking note's folder first, for
        others from the root first), a full reference, the end of a path, an alias, a name or a
        title; the same source before the others, exact spelling before another case. Where more
        than one note fits, the one in the same folder is meant, else none.
        """
        visible = self._visible(source_ids)
        for text in spellings(link.target):
            full = sorted(self._full(text, visible), key=lambda key: key[0] != source_id)
            readings = list(addresses(source_id, path, link.kind, text, full))
            found = self._by_path(readings) or self._by_word(source_id, path, text, visible)
            if found is not None:
                return found
        return None

    def _by_path(self, readings: Sequence[NoteKey]) -> NoteKey | None:
        for key in readings:
            if self._shelf.has(key):
                return key
        for sid, reading in readings:
            same = self._shelf.same_path([sid], reading)
            if len(same) == 1:
                return next(iter(same))
        return None

    def _full(self, text: str, visible: Sequence[str]) -> list[NoteKey]:
        first, slash, rest = text.partition("/")
        if not slash:
            return []
        return [(sid, rest) for sid in self.called(first, visible)]

    def _by_word(
        self, source_id: str, path: str, text: str, visible: Sequence[str]
    ) -> NoteKey | None:
        if text.startswith(("./", "../")):
            return None
        others = [sid for sid in visible if sid != source_id]
        for look in (self._shelf.ending, self._shelf.labelled):
            for where in ([source_id], others):
                found = look(where, text)
                if found:
                    return choose(found, text, (source_id, path))
        return None

    def backlinks(
        self, source_id: str, path: str, source_ids: Collection[str] | None = None
    ) -> tuple[Backlink, ...]:
        """Every link that leads to a note, in the order of the linking notes' references."""
        card = self._shelf.card((source_id, path))
        if card is None:
            return ()
        visible = self._visible(source_ids)
        linking = {key for word in known_as(card) for key in self._incoming.get(word, ())}
        found = self._leading_to((source_id, path), linking, visible)
        return tuple(sorted(set(found), key=lambda b: (b.reference, b.kind, b.relation)))

    def _leading_to(
        self, key: NoteKey, linking: Iterable[NoteKey], visible: Sequence[str]
    ) -> Iterator[Backlink]:
        for other in linking:
            card = self._shelf.card(other)
            if card is None or other == key or other[0] not in visible:
                continue
            for link in card.links:
                if self.target(*other, link, visible) == key:
                    relation = relation_of(link)
                    reference = self.reference(*other, visible)
                    yield Backlink(*other, reference, link.kind, relation)

    def superseded_by(
        self, source_id: str, path: str, source_ids: Collection[str] | None = None
    ) -> str | None:
        """Reference of the note that supersedes this one, whichever of the two says so; the latest
        where there are several."""
        visible = self._visible(source_ids)
        newer = self._related((source_id, path), SUPERSEDED_BY, visible)
        return self.reference(*max(newer, key=self._age), visible) if newer else None

    def says(self, relation: str) -> bool:
        """Whether any note says that it stands in a relation of `OTHER_WAY`, or another to it."""
        return bool(self._saying[relation] or self._saying[OTHER_WAY[relation]])

    def related(
        self, source_id: str, path: str, relation: str, source_ids: Collection[str] | None = None
    ) -> tuple[str, ...]:
        """References of the notes to which this one stands in a relation of `OTHER_WAY`, whichever
        of the two says so."""
        visible = self._visible(source_ids)
        found = self._related((source_id, path), relation, visible)
        return tuple(sorted(self.reference(*other, visible) for other in found))

    def _related(self, key: NoteKey, relation: str, visible: Sequence[str]) -> set[NoteKey]:
        """The same as keys: by the note's own links and by those to it."""
        card = self._shelf.card(key) if self.says(relation) else None
        if card is None:
            return set()
        said = self._saying[OTHER_WAY[relation]]
        linking = {x for word in known_as(card) for x in self._incoming.get(word, ())} & said
        back = self._leading_to(key, linking, visible)
        found = {(b.source_id, b.path) for b in back if b.relation == OTHER_WAY[relation]}
        if key not in self._saying[relation]:
            return found
        own = [x for x in card.links if relation_of(x) == relation]
        goals = {self.target(*key, link, visible) for link in own} - {key}
        return found | {goal for goal in goals if goal}

    def _age(self, key: NoteKey) -> tuple[str, NoteKey]:
        card = self._shelf.card(key)
        assert card is not None
        return card.updated or card.created or card.modified, key
