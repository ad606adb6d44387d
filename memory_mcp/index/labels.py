"""Under which words notes can be found: paths, their ends, aliases, names and titles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from urllib.parse import unquote

from memory_mcp.core.normal_form import normal_form
from memory_mcp.core.note import Card, Link, LinkKind
from memory_mcp.core.reference import without_ending

NoteKey = tuple[str, str]
"""(source id, path)"""


def fold(text: str) -> str:
    """Text for comparison without case, in one Unicode form."""
    return normal_form("NFC", normal_form("NFC", text).casefold())


class Shelf:
    """Notes by key, and sets of keys by what they are called. Synchronous and in memory."""

    def __init__(self) -> None:
        self._cards: dict[NoteKey, Card] = {}
        self._stems: dict[str, set[NoteKey]] = {}
        self._labels: dict[str, set[NoteKey]] = {}

    def put(self, key: NoteKey, card: Card) -> None:
        """Add a note that is not there."""
        self._cards[key] = card
        self._stems.setdefault(_stem(card.path), set()).add(key)
        for label in _labels(card):
            self._labels.setdefault(label, set()).add(key)

    def drop(self, key: NoteKey) -> Card | None:
        """Remove a note; its card, or None where it was not there."""
        card = self._cards.pop(key, None)
        if card is not None:
            _discard(self._stems, _stem(card.path), key)
            for label in _labels(card):
                _discard(self._labels, label, key)
        return card

    def has(self, key: NoteKey) -> bool:
        """Whether there is a note of exactly this path."""
        return key in self._cards

    def card(self, key: NoteKey) -> Card | None:
        """What is known of a note."""
        return self._cards.get(key)

    def keys_in(self, source_ids: Collection[str]) -> Iterator[NoteKey]:
        """All notes of some sources."""
        return (key for key in self._cards if key[0] in source_ids)

    def has_folder(self, source_ids: Collection[str], name: str) -> bool:
        """Whether some note of these sources stands below a top folder of this name."""
        return any(key[1].startswith(f"{name}/") for key in self.keys_in(source_ids))

    def same_path(self, source_ids: Collection[str], path: str) -> set[NoteKey]:
        """Notes of this path in any case of letters."""
        wanted = fold(path)
        return {
            key
            for key in self._stems.get(_stem(path), ())
            if key[0] in source_ids and fold(key[1]) == wanted
        }

    def ending(self, source_ids: Collection[str], path: str) -> set[NoteKey]:
        """Notes whose path ends with these whole parts, in any case of letters."""
        wanted = "/" + fold(path.lstrip("/"))
        return {
            key
            for key in self._stems.get(_stem(path), ())
            if key[0] in source_ids and f"/{fold(key[1])}".endswith(wanted)
        }

    def labelled(self, source_ids: Collection[str], text: str) -> set[NoteKey]:
        """Notes with this alias, name or title, in any case of letters."""
        return {key for key in self._labels.get(fold(text), ()) if key[0] in source_ids}


def spellings(target: str) -> Iterator[str]:
    """A link's target as written and, where that differs, percent-decoded; without `.md`."""
    text = without_ending(normal_form("NFC", target.strip()))
    if text:
        yield text
    if "%" in text:
        decoded = without_ending(normal_form("NFC", unquote(text)))
        if decoded != text and decoded:
            yield decoded


def addresses(
    source_id: str, path: str, kind: LinkKind, text: str, full: Iterable[NoteKey]
) -> Iterator[NoteKey]:
    """What a link's text may mean as a path, likeliest first.

    `full` are its readings as a full reference: first for relations, which are written so.
    """
    beside = _joined(path.rpartition("/")[0], text)
    from_root = _joined("", text)
    relative = [(source_id, beside)] if beside and not text.startswith("/") else []
    rooted = [(source_id, from_root)] if from_root and not text.startswith(("./", "../")) else []
    match kind:
        case "markdown":
            yield from (*relative, *rooted, *full)
        case "relation":
            yield from (*full, *rooted, *relative)
        case "wikilink" | "embed":
            yield from (*rooted, *relative, *full)


def _joined(folder: str, text: str) -> str | None:
    """A path from a folder, `.` and `..` worked off; None where it leaves the source."""
    parts = [part for part in folder.split("/") if part]
    for part in text.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _stem(path: str) -> str:
    return fold(path.rpartition("/")[2])


def _labels(card: Card) -> set[str]:
    return {fold(label) for label in (*card.aliases, card.name or "", card.title) if label}


def _discard(sets: dict[str, set[NoteKey]], word: str, key: NoteKey) -> None:
    keys = sets[word]
    keys.discard(key)
    if not keys:
        del sets[word]


def written_words(links: Iterable[Link]) -> set[str]:
    """The words under which links are filed: the whole target and its last part, folded."""
    words = set()
    for link in links:
        for text in spellings(link.target):
            words.add(fold(text))
            words.add(fold(text.rpartition("/")[2]))
    return words


def known_as(card: Card) -> set[str]:
    """The words under which links to a note may be filed."""
    labels = (card.path.rpartition("/")[2], *card.aliases, card.name or "", card.title)
    return {fold(label) for label in labels if label}


def choose(found: Collection[NoteKey], text: str, near: NoteKey) -> NoteKey | None:
    """The only one; else the only one of this spelling; else the only one in the same folder."""
    exact = [key for key in found if key[1].endswith(text)]
    for some in (list(found), exact):
        if len(some) == 1:
            return some[0]
    folder = (near[0], near[1].rpartition("/")[0])
    beside = [key for key in exact or found if (key[0], key[1].rpartition("/")[0]) == folder]
    return beside[0] if len(beside) == 1 else None
