"""Reading and listing notes: the text comes from disk, names and links from the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import anyio.to_thread

from memory_mcp.core import private
from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.errors import InputError
from memory_mcp.core.language import DEFAULT
from memory_mcp.core.note import Heading, Json, Link, Note, Provenance
from memory_mcp.core.parse import parse
from memory_mcp.core.reference import join
from memory_mcp.index.relations import Backlink
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files
from memory_mcp.notes.sources import Source
from memory_mcp.search.listing import Listing, page
from memory_mcp.search.locate import locate
from memory_mcp.search.scope import scope
from memory_mcp.search.window import Span, page_end, section, shown_offset

MAX_CHARS = 40_000
"""Characters of a page: with marks, links and the other form of the answer it stays below
80,000."""


@dataclass(frozen=True, slots=True)
class LinkView:
    """A link of a note. `reference` is the note it leads to; None where there is none."""

    target: str
    reference: str | None
    kind: str
    relation: str
    heading: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A note, or a part of it, as it is on disk now. Offsets count characters of the shown
    text."""

    reference: str
    source: str
    path: str
    title: str
    content: str
    """The file's text, verbatim, private parts replaced by `<private id=n/>`."""
    frontmatter: dict[str, Json]
    revision: str
    created: str | None
    updated: str
    """As the note says, else the file's own time."""
    tags: tuple[str, ...]
    headings: tuple[Heading, ...]
    links: tuple[LinkView, ...]
    backlinks: tuple[Backlink, ...]
    provenance: Provenance | None
    truncated: bool
    """Whether text follows after this page."""
    next_offset: int | None
    total: int
    """Characters of what was asked for: the note, or the section."""
    warnings: tuple[str, ...]
    complete: bool
    """Whether this is the whole note."""


class Reader:
    """Notes by reference, and lists of them."""

    def __init__(
        self,
        index: IndexView,
        sources: Sequence[Source],
        chunking: ChunkSettings,
        seen: Callable[[str, bytes], None] | None = None,
    ) -> None:
        """`seen` is told the reference and the bytes of each note that is read."""
        self._seen = seen
        self._index = index
        self._sources = tuple(sources)
        self._ids = tuple(source.id for source in sources)
        self._chunking = chunking

    def resolve(self, reference: str) -> tuple[Source, str]:
        """The note that a reference names, as (source, path), as far as the index knows.

        Raises InputError, NotFoundError with near matches, AmbiguousError with the candidates.
        """
        return self._index.names.resolve(reference, self._ids)

    async def get(
        self,
        reference: str,
        heading: str | None = None,
        offset: int = 0,
        max_chars: int | None = None,
    ) -> Reading:
        """Read a note, or the section under a heading, from `offset` on.

        At most `max_chars` characters (40,000 unless less is asked for); `next_offset` goes on.
        Raises InputError, NotFoundError, AmbiguousError, RefusedError, StorageError.
        """
        source, path, note = await self._load(reference)
        return self._page(source, path, note, heading, offset, max_chars)

    async def planned(
        self,
        source: Source,
        path: str,
        data: bytes,
        heading: str | None = None,
        offset: int = 0,
        max_chars: int | None = None,
    ) -> Reading:
        """As `get`, of bytes that are to become the file of a note."""
        note = await anyio.to_thread.run_sync(self._read, source, path, data, "")
        return self._page(source, path, note, heading, offset, max_chars)

    def _page(
        self,
        source: Source,
        path: str,
        note: Note,
        heading: str | None,
        offset: int,
        max_chars: int | None,
    ) -> Reading:
        limit = _limit(max_chars)
        shown, parts = private.hide(note.text)
        span = _asked(note, heading, shown, parts)
        total = span.end - span.start
        if not 0 <= offset <= total:
            raise InputError(
                f"offset is {offset}, and there are {total} characters. Use 0, or next_offset as"
                " it was returned."
            )
        start = span.start + offset
        end = page_end(shown, start, span.end, limit)
        whole = heading is None and offset == 0 and end == span.end
        return self._reading(source, path, note, shown[start:end], total, end - span.start, whole)

    async def _load(self, reference: str) -> tuple[Source, str, Note]:
        source, path = await locate(self._index, reference, self._ids)
        note = await anyio.to_thread.run_sync(self._parsed, source, path)
        return source, path, note

    def _parsed(self, source: Source, path: str) -> Note:
        content = files.read(source, path)
        if self._seen is not None:
            self._seen(join(source.name, path), content.data)
        return self._read(source, path, content.data, content.modified)

    def _read(self, source: Source, path: str, data: bytes, modified: str) -> Note:
        return parse(
            source.name,
            source.kind,
            path,
            data,
            modified,
            self._chunking,
            language=DEFAULT,  # reading shows no words of the index: nothing to find out
        )

    def _reading(
        self,
        source: Source,
        path: str,
        note: Note,
        content: str,
        total: int,
        end: int,
        whole: bool,
    ) -> Reading:
        card = note.card
        names = self._index.names
        return Reading(
            reference=names.reference(source.id, path),
            source=source.name,
            path=path,
            title=card.title,
            content=content,
            frontmatter=note.frontmatter,
            revision=card.revision,
            created=card.created,
            updated=card.updated or card.modified,
            tags=card.tags,
            headings=card.headings,
            links=tuple(self._links(source, path, card.links)),
            backlinks=names.backlinks(source.id, path, self._ids),
            provenance=card.provenance,
            truncated=end < total,
            next_offset=end if end < total else None,
            total=total,
            warnings=card.warnings,
            complete=whole,
        )

    def _links(self, source: Source, path: str, links: Iterable[Link]) -> Iterable[LinkView]:
        names = self._index.names
        for link in links:
            key = names.target(source.id, path, link)
            known = names.reference(*key) if key is not None and key[0] in self._ids else None
            yield LinkView(link.target, known, link.kind, link.relation, link.heading, link.label)

    def list(
        self,
        source: str | Sequence[str] = "memory",
        tag: str | None = None,
        path_prefix: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Listing:
        """Notes of sources by name (`all`: of every one), sorted by reference, page by page.

        A card's `modified` stands in where the note does not say when it was created or updated.
        Raises InputError for an unknown source, a limit out of range, an unknown cursor.
        """
        names = (source,) if isinstance(source, str) else tuple(source)
        where = scope(self._sources, names, path_prefix, tag)
        entries = self._index.entries(where.source_ids)
        return page((entry.card for entry in entries if where.holds(entry.card)), limit, cursor)


def _limit(max_chars: int | None) -> int:
    if max_chars is None:
        return MAX_CHARS
    if max_chars < 1:
        raise InputError(f"max_chars is {max_chars}; it must be at least 1.")
    return min(max_chars, MAX_CHARS)


def _asked(note: Note, heading: str | None, shown: str, parts: Sequence[str]) -> Span:
    if heading is None or _names_whole(note, heading):
        return Span(0, len(shown))
    span = section(note.body, heading)
    header = len(note.text) - len(note.body)
    start, end = (shown_offset(header + place, shown, parts) for place in (span.start, span.end))
    return Span(start, end)


def _names_whole(note: Note, heading: str) -> bool:
    """A note without headings is shown under its title, so that names all of it."""
    return not note.card.headings and heading.strip() == note.card.title
