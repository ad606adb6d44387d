"""Moving a page: its text goes to another path, and every link leads where it led."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio.to_thread

from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.errors import ConflictError, InputError, NotFoundError, RefusedError
from memory_mcp.core.note import Card, Link
from memory_mcp.core.parse import parse
from memory_mcp.core.relink import Relinked, Wanted, other_names, relink
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.curate.write.decoding import decoded
from memory_mcp.index.labels import (
    NoteKey,
    addresses,
    fold,
    known_as,
    spellings,
    written_words,
)
from memory_mcp.index.names import Names
from memory_mcp.index.view import IndexView
from memory_mcp.notes.place import is_taken
from memory_mcp.notes.sources import Source

VAULT = "vault"


@dataclass(frozen=True, slots=True)
class Moved:
    """A move that is planned: the notes whose links were rewritten, and what could not be."""

    relinked: tuple[str, ...]
    warnings: tuple[str, ...]


class Draft(Protocol):
    """What a move needs of a plan in the making."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The plan so far."""

    async def read(self, spot: Spot) -> bytes | None:
        """A note as planned, else as on disk."""

    async def on_disk(self, spot: Spot) -> bytes | None:
        """A note as on disk."""

    async def put(self, spot: Spot, after: bytes | None, *, reason: str = "") -> None:
        """Plan these bytes."""


async def move(draft: Draft, index: IndexView, old: Spot, new: Spot, reason: str = "") -> Moved:
    """Plan that a page goes to another path, with the links to it of all notes that may be
    written, and its own. Notes of vaults are named in a warning.

    Raises InputError, NotFoundError where there is no such page, ConflictError where the new
    place is taken, RefusedError for a page that is no UTF-8.
    """
    text = await _movable(draft, old, new)
    names = partial(Relocation.of, index.sources, _cards(index, draft.changes), old, new, text)
    seen = await anyio.to_thread.run_sync(names)
    own = relink(text, partial(seen.wanted, seen.old))
    await draft.put(old, None, reason=reason)
    await draft.put(new, own.text.encode("utf-8"), reason=reason)
    warnings = _failures(new.reference, own.failed)
    relinked: list[str] = []
    for key in seen.linking():
        spot = Spot(seen.sources[key[0]], key[1])
        reference = index.names.reference(*key)
        done = await _relinked(draft, spot, reference, partial(seen.wanted, key))
        if isinstance(done, str):
            warnings.append(done)
            continue
        if done.changed:
            await draft.put(spot, done.text.encode("utf-8"), reason=reason)
            relinked.append(reference)
        warnings += _failures(reference, done.failed)
    return Moved(tuple(relinked), tuple(warnings))


async def _movable(draft: Draft, old: Spot, new: Spot) -> str:
    """The text of a page that can be moved. Raises as `move`."""
    data = await draft.read(old)
    if data is None:
        raise NotFoundError(f"{old.reference} does not exist; memory_list shows what does.")
    if old.reference == new.reference:
        raise InputError(f"{old.reference} is there already; name another path.")
    if await draft.read(new) is not None or await _blocked(draft, old, new):
        raise ConflictError(f"{new.reference} exists already; nothing was moved.")
    return decoded(old.reference, data)


async def _relinked(draft: Draft, spot: Spot, reference: str, wanted: Wanted) -> Relinked | str:
    """A note with other names in its links, or the warning why they stay."""
    if spot.source.kind == VAULT:
        return f"{reference} is in a read-only vault; its links to the old place stay as they are."
    try:
        return relink(decoded(reference, await draft.read(spot) or b""), wanted)
    except RefusedError as error:
        return f"The links of {reference} stay as they are: {error}"


async def _blocked(draft: Draft, old: Spot, new: Spot) -> bool:
    """Whether something that is no note of ours has the name. Another case of letters is free
    where the page itself has it, and a name that the plan gives up."""
    if old.path.casefold() == new.path.casefold() or await draft.on_disk(new) is not None:
        return False
    return await anyio.to_thread.run_sync(is_taken, new.source, new.path)


def _failures(reference: str, links: Iterable[Link]) -> list[str]:
    return [
        f"A link in {reference}, to {link.target}, could not be rewritten; correct it by hand."
        for link in links
    ]


def _cards(index: IndexView, changes: Iterable[Change]) -> dict[NoteKey, Card]:
    """What is known of all notes, with the plan carried out."""
    cards = {entry.key: entry.card for entry in index.entries()}
    for change in changes:
        key = (change.spot.source.id, change.spot.path)
        if change.after is None:
            cards.pop(key, None)
        else:
            cards[key] = _card(change.spot, change.after)
    return cards


def _card(spot: Spot, data: bytes) -> Card:
    source = spot.source
    return parse(source.name, source.kind, spot.path, data, "", ChunkSettings()).card


@dataclass(frozen=True, slots=True)
class Relocation:
    """All notes before and after the move."""

    sources: Mapping[str, Source]
    before: Names
    after: Names
    cards: Mapping[NoteKey, Card]
    words: frozenset[str]
    """All words by which a link can mean either place."""
    old: NoteKey
    new: NoteKey

    @classmethod
    def of(
        cls,
        sources: Iterable[Source],
        cards: Mapping[NoteKey, Card],
        old: Spot,
        new: Spot,
        text: str,
    ) -> Relocation:
        """Blocking: names all notes twice."""
        listed = tuple(sources)
        was, will = (old.source.id, old.path), (new.source.id, new.path)
        data = text.encode("utf-8")
        both = _card(old, data), _card(new, data)
        before, after = Names(listed), Names(listed)
        for key, card in cards.items():
            if key != was:
                before.put(key[0], card)
                after.put(key[0], card)
        before.put(was[0], both[0])
        after.put(will[0], both[1])
        words = frozenset(word for card in both for word in known_as(card))
        return cls(
            {source.id: source for source in listed}, before, after, cards, words, was, will
        )

    def linking(self) -> Iterator[NoteKey]:
        """The other notes with links that would lead elsewhere, in the order of sources."""
        order = list(self.sources)
        for key in sorted(self.cards, key=lambda key: (order.index(key[0]), key[1])):
            card = self.cards[key]
            if key == self.old:
                continue
            near = [link for link in card.links if written_words([link]) & self.words]
            if any(self.wanted(key, link) is not None for link in near):
                yield key

    def wanted(self, key: NoteKey, link: Link) -> list[str] | None:
        """The names that let a link of a note lead where it led; None where it does."""
        led = self.before.target(*key, link)
        if led is None:
            return None
        here, aim = self._moved(key), self._moved(led)
        same = _is_exact(here, link, aim) or not _is_exact(key, link, led)
        if same and self.after.target(*here, link) == aim:
            return None
        names = other_names(link, self._named(here), self._named(led), self._named(aim))
        leading = [name for name in names if self._leads(here, link, name) == aim]
        return None if leading[:1] == [link.target] else leading

    def _leads(self, key: NoteKey, link: Link, name: str) -> NoteKey | None:
        return self.after.target(*key, Link(name, link.kind, link.relation))

    def _moved(self, key: NoteKey) -> NoteKey:
        return self.new if key == self.old else key

    def _named(self, key: NoteKey) -> tuple[str, str]:
        return self.sources[key[0]].name, key[1]


def _is_exact(key: NoteKey, link: Link, aim: NoteKey) -> bool:
    """Whether a link names a file as other programs do: by its name, or for a Markdown link by
    the way to it. A title or an alias does not move with a page."""
    texts = list(spellings(link.target))
    if link.kind == "markdown":
        return any(aim in addresses(*key, link.kind, text, ()) for text in texts)
    stem = fold(aim[1].rpartition("/")[2])
    return any(fold(text.rpartition("/")[2]) == stem for text in texts)
