"""Changing notes of the inbox: write, edit, delete, link, restore.

Each changes one file in one step: the old bytes are in the history before the new ones take their
place, the new ones are in the index before the caller hears of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

import anyio.to_thread

from memory_mcp.core.compose import compose
from memory_mcp.core.config import WritingSettings
from memory_mcp.core.edit import Edited, EditRequest, apply
from memory_mcp.core.errors import ConflictError, InputError, NotFoundError, RefusedError
from memory_mcp.core.note import Json
from memory_mcp.core.parse import revision_of
from memory_mcp.core.ports import Clock
from memory_mcp.core.reference import inbox_note, join
from memory_mcp.core.slug import check_slug
from memory_mcp.curate.write.conflict import check_revision
from memory_mcp.curate.write.decoding import decoded
from memory_mcp.curate.write.place import inbox_of, place_of
from memory_mcp.curate.write.policy import check_scope, check_secrets, checked
from memory_mcp.curate.write.relation import canonical, linked, relations
from memory_mcp.curate.write.results import (
    DeleteResult,
    EditResult,
    LinkResult,
    Similar,
    WriteResult,
)
from memory_mcp.curate.write.similar import find_similar
from memory_mcp.curate.write.step import Intend, Step
from memory_mcp.index.view import IndexView
from memory_mcp.notes import files
from memory_mcp.notes.files import Written
from memory_mcp.notes.history import History
from memory_mcp.notes.sources import Source
from memory_mcp.search.locate import locate
from memory_mcp.search.search import Searcher

Change = Callable[[bytes | None], bytes | None]


class Writer:
    """The operations behind the write tools. All raise RefusedError where writing is read-only."""

    def __init__(
        self,
        sources: Sequence[Source],
        index: IndexView,
        history: History,
        clock: Clock,
        searcher: Searcher,
        settings: WritingSettings,
    ) -> None:
        self._sources = tuple(sources)
        self._index = index
        self._history = history
        self._clock = clock
        self._searcher = searcher
        self._settings = settings
        self._intend: Intend | None = None
        self.inbox = inbox_of(self._sources)
        """The source that is written to."""
        self.inboxes: tuple[Source, ...] = (self.inbox,)
        """All whose notes have names that a new one cannot have."""

    def noting(self, intend: Intend) -> Writer:
        """The same writer, which tells `intend` of each change before it is made, on the thread
        that makes it. It may be told twice of one change; what it was told last is done."""
        writer = copy.copy(self)
        writer._intend = intend
        return writer

    async def write(
        self,
        slug: str,
        content: str,
        frontmatter: Mapping[str, Json] | None = None,
        expected: str | None = None,
        scope: str | None = None,
        *,
        new: bool = False,
    ) -> WriteResult:
        """Create a note, or replace the whole of it; `created` of the old header stays.

        `expected` is the revision that the caller knows (None: any); `new` refuses to replace.
        Raises SlugError, InputError, ConflictError, RefusedError, StorageError.
        """
        self.check_writable()
        check_scope(scope)
        reference = join(self.inbox.name, check_slug(slug))
        now = self._now()
        done = Edited("")

        def change(current: bytes | None) -> bytes:
            nonlocal done
            if new and current is not None:
                raise ConflictError(f"{reference} exists already; nothing was written.")
            check_revision(reference, current, expected, self._history)
            old = None if current is None else current.decode("utf-8", "replace")
            done = checked(self._settings, old or "", compose(content, frontmatter, old, now))
            return done.text.encode("utf-8")

        written = await self._update(self.inbox, slug, change, lambda: done.warnings)
        return WriteResult(
            reference=reference,
            revision=_revision(written),
            created=written.before is None,
            replaced_revision=written.kept,
            similar=await self.similar(reference, done.text),
            warnings=done.warnings,
        )

    async def edit(
        self, slug: str, request: EditRequest, expected: str | None = None, partial: bool = False
    ) -> EditResult:
        """Change an inbox note in part, by slug or reference. `partial`: the caller last saw only
        a part of it. Raises as `write`, NotFoundError where there is no such note or heading."""
        self.check_writable()
        slug = inbox_note(slug)[1]
        reference = join(self.inbox.name, slug)
        now = self._now()
        if partial and request.kind == "content":
            raise RefusedError(
                f"You have seen only a part of {reference}, and content would replace all of it."
                " Read the rest with memory_get, or use old_text and new_text, append, or heading."
            )
        done = Edited("")

        def change(current: bytes | None) -> bytes:
            nonlocal done
            check_revision(reference, current, expected, self._history)
            if current is None:
                raise NotFoundError(f"{reference} does not exist; create it with memory_write.")
            old = decoded(reference, current)
            done = checked(self._settings, old, apply(request, old, now))
            return done.text.encode("utf-8")

        written = await self._update(self.inbox, slug, change, lambda: done.warnings)
        return EditResult(reference, _revision(written), written.kept, done.warnings)

    async def delete(self, slug: str, expected: str | None = None) -> DeleteResult:
        """Delete an inbox note, by slug or reference; its text stays. Raises as `write`."""
        self.check_writable()
        slug = inbox_note(slug)[1]
        reference = join(self.inbox.name, slug)

        def change(current: bytes | None) -> None:
            if current is not None:
                check_revision(reference, current, expected, self._history)

        written = await self._update(self.inbox, slug, change)
        return DeleteResult(reference, written.before is not None, written.kept)

    async def link(
        self, source: str, target: str, relation: str = "related", expected: str | None = None
    ) -> LinkResult:
        """Add a link to the header of an inbox note; one that is there already stays single.

        Raises as `write`, NotFoundError and AmbiguousError for either note, InputError for a link
        of a note to itself.
        """
        self.check_writable()
        origin, path = await place_of(self._index, self.inbox, source)
        goal, goal_path = await locate(self._index, target)
        names = self._index.names
        reference, aim = names.reference(origin.id, path), names.reference(goal.id, goal_path)
        if origin.id != self.inbox.id:
            raise RefusedError(
                f"{reference} is not in the inbox, and only inbox notes are written; link from"
                f" a note of memory, for example memory_link(source=<slug>, target={aim})."
            )
        if reference == aim:
            raise InputError(f"{reference} cannot be linked to itself; name another target.")
        known = await self._canonical_links(origin, path)
        now = self._now()
        text = ""

        def change(current: bytes | None) -> bytes:
            nonlocal text
            check_revision(reference, current, expected, self._history)
            if current is None:
                raise NotFoundError(f"{reference} does not exist; create it with memory_write.")
            text = linked(decoded(reference, current), aim, relation, now, known)
            return text.encode("utf-8")

        written = await self._update(origin, path, change)
        return LinkResult(reference, _revision(written), relations(text))

    async def restore(self, reference: str, revision: str | None = None) -> WriteResult:
        """Bring back a version from the history (None: the newest); what it replaces is kept, too.

        Raises NotFoundError where there is no such version, RefusedError for a vault's note.
        """
        self.check_writable()
        source, path = await self._owned(reference)
        full = join(source.name, path)
        load = partial(self._history.load, full, revision)
        data = await anyio.to_thread.run_sync(load)
        written = await self._update(source, path, lambda _: data)
        return WriteResult(full, revision_of(data), written.before is None, written.kept)

    async def named(self, slug: str, scope: str | None = None) -> str:
        """The reference of the inbox note that is meant, there or not. Raises SlugError."""
        return join(self.inbox.name, inbox_note(slug)[1])

    async def origin(self, source: str) -> str:
        """The reference of the note that `link` would change. Raises as `link`."""
        found, path = await place_of(self._index, self.inbox, source)
        return self._index.names.reference(found.id, path)

    async def similar(self, reference: str, text: str) -> tuple[Similar, ...]:
        """Other notes that say something like this text of a note, the nearest first."""
        return await find_similar(self._searcher, self._index, reference, text)

    @property
    def read_only(self) -> bool:
        """Whether every change is refused."""
        return self._settings.read_only

    def check_writable(self) -> None:
        """Raise RefusedError in read-only mode."""
        if self.read_only:
            raise RefusedError(
                "This memory is in read-only mode; nothing was written. To allow writing, set"
                " writing.read_only to false and start without --read-only."
            )

    def check_text(self, text: str) -> tuple[str, ...]:
        """Warnings for what looks like a secret; RefusedError where the settings say so."""
        return check_secrets("", text, self._settings.secrets)

    async def _canonical_links(self, source: Source, path: str) -> Mapping[str, str]:
        """What the links in a note's header mean. Names live on the event loop: look first."""
        content = await anyio.to_thread.run_sync(files.read, source, path)
        return canonical(self._index.names, content.data.decode("utf-8", "replace"))

    async def _owned(self, reference: str) -> tuple[Source, str]:
        """The source and path of a note that the tools may write, which need not exist now."""
        source, path = await place_of(self._index, self.inbox, reference, missing=True)
        if source.kind == "vault":
            raise RefusedError(
                f"{join(source.name, path)} is in a read-only vault; only memory and wiki are"
                " restored."
            )
        if source.kind == "memory":
            check_slug(path)
        return source, path

    async def _update(
        self,
        source: Source,
        path: str,
        change: Change,
        warnings: Callable[[], tuple[str, ...]] = tuple,
    ) -> Written:
        """Change the file, then let the index see it. The file's change is never cut off; were the
        index cut off, its next sweep would see the file. `warnings` are those of the change."""
        noted = self._noted(source, path, change, warnings)
        work = partial(files.update, source, path, noted, self._history, self._clock.now())
        written = await anyio.to_thread.run_sync(work)
        if written.after is not None:
            self._history.recent.keep(join(source.name, path), written.after)
        await self._index.refresh(source, path)
        return written

    def _noted(
        self, source: Source, path: str, change: Change, warnings: Callable[[], tuple[str, ...]]
    ) -> Change:
        intend = self._intend
        if intend is None:
            return change
        reference, project = join(source.name, path), source.project is not None

        def noted(current: bytes | None) -> bytes | None:
            after = change(current)
            intend(Step(reference, current, after, warnings(), project))
            return after

        return noted

    def _now(self) -> str:
        return iso(self._clock.now())


def iso(moment: datetime) -> str:
    """ISO time with its offset, to the second."""
    return moment.isoformat(timespec="seconds")


def _revision(written: Written) -> str:
    return revision_of(written.after) if written.after is not None else ""
