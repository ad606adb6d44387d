"""From a file to what goes on the table: read, parse, cut, count words. Blocking, for a thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from memory_mcp.core import private
from memory_mcp.core.config import Config
from memory_mcp.core.errors import MemoryMcpError, NotFoundError
from memory_mcp.core.languages import fixed_language
from memory_mcp.core.metadata import subject
from memory_mcp.core.note import Json, Note, Stamp
from memory_mcp.core.parse import parse
from memory_mcp.core.words import terms
from memory_mcp.index.table import Parsed
from memory_mcp.notes.files import read
from memory_mcp.notes.sources import Source


@dataclass(frozen=True, slots=True)
class Same:
    """The bytes are those that are known; the file's own data may have changed."""

    stamp: Stamp
    modified: str


@dataclass(frozen=True, slots=True)
class Gone:
    """There is no such note now."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The note is there and cannot be read; why, in one sentence."""

    message: str


Outcome = Parsed | Same | Gone | Failed


def prepare(source: Source, path: str, known: str | None, config: Config) -> Outcome:
    """Read a note and make of it what the index keeps, unless its digest is the `known` one."""
    try:
        content = read(source, path)
    except NotFoundError:
        return Gone()
    except MemoryMcpError as error:
        return Failed(str(error))
    digest = sha256(content.data).hexdigest()
    if digest == known:
        return Same(content.stamp, content.modified)
    note = parse(
        source.name,
        source.kind,
        path,
        content.data,
        content.modified,
        config.chunking,
        fixed_language(config.search.language),
    )
    passages, whole = count_words(note)
    return Parsed(note.card, note.passages, passages, whole, content.stamp, digest)


def count_words(note: Note) -> tuple[tuple[tuple[str, ...], ...], dict[str, int]]:
    """The terms of each passage in order, "" where what follows is apart; and for the whole note
    term -> how often.

    A passage has the words of its context and text. Words of the path, the name, the aliases and
    the tags are added once to each passage that lacks them, words of the header's values to the
    first passage. The whole note has the words of all texts, and each of the others once.
    """
    language = note.card.language
    names = set(terms(_names(note), language))
    header = set(terms(private.strip("\n".join(_values(subject(note.frontmatter)))), language))
    whole: Counter[str] = Counter()
    passages = []
    for place, passage in enumerate(note.passages):
        text = terms(passage.text, language)
        whole.update(text)
        own = [*terms(passage.context, language), *text]
        beside = (names if place else names | header).difference(own)
        passages.append((*own, *(part for word in sorted(beside) for part in ("", word))))
    beside = (names | header | set(terms(note.card.title, language))).difference(whole)
    whole.update(sorted(beside))
    return tuple(passages), dict(whole)


def _names(note: Note) -> str:
    card = note.card
    return "\n".join((*card.path.split("/"), card.name or "", *card.aliases, *card.tags))


def _values(value: Json) -> Iterator[str]:
    """All texts and numbers in a header's values."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
