"""Writing where there are two inboxes: a project's own, and the global one.

A name means one note: a new one gets none that the other inbox has. Where both have it all the
same (put there by a person, or from outside of the project), a bare name changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import anyio.to_thread

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import AmbiguousError, NotFoundError, RefusedError
from memory_mcp.core.note import Json
from memory_mcp.core.reference import GLOBAL, INBOX, PROJECT, inbox_note, join
from memory_mcp.core.slug import check_slug
from memory_mcp.curate.write.edit import Writer
from memory_mcp.curate.write.place import place_of
from memory_mcp.curate.write.policy import check_scope
from memory_mcp.curate.write.results import DeleteResult, EditResult, LinkResult, WriteResult
from memory_mcp.curate.write.step import Intend
from memory_mcp.notes.place import is_taken
from memory_mcp.search.locate import locate

Result = TypeVar("Result", WriteResult, EditResult, DeleteResult, LinkResult)


class ScopedWriter(Writer):
    """The writer of a client that works in a project. It writes to the project's inbox, and finds
    notes there first and then in the global one, for which it has the `wider` writer.

    Notes are named by slug, or, where both inboxes have it, as `global/x` or `project/x`.
    """

    def __init__(self, wider: Writer, *own: Any) -> None:
        """`own` are the arguments of a `Writer`, the sources with the project's inbox first."""
        super().__init__(*own)
        self._wider = wider
        self.inboxes = (self.inbox, wider.inbox)

    def noting(self, intend: Intend) -> Writer:
        """The same writer, which tells `intend` of each change before it is made."""
        writer = super().noting(intend)
        assert isinstance(writer, ScopedWriter)
        writer._wider = self._wider.noting(intend)
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
        """Create a note in the inbox of `scope` (None: the project's), or replace the whole of it.

        Raises as `Writer.write`; RefusedError for a new name that the other inbox has,
        AmbiguousError where both have it and no scope was given.
        """
        self.check_writable()
        check_scope(scope, project=True)
        own, other = await self._having(check_slug(slug))
        if own and other and scope is None:
            raise AmbiguousError(f"Both inboxes have {slug!r}: pass scope project or global.")
        if scope == GLOBAL:
            self._check_free(slug, other, own, PROJECT)
            done = await self._wider.write(slug, content, frontmatter, expected, new=new)
            similar = await self.similar(self._reference(slug, GLOBAL), content)
            return replace(done, reference=self._reference(slug, GLOBAL), similar=similar)
        self._check_free(slug, own, other, GLOBAL)
        return await super().write(slug, content, frontmatter, expected, new=new)

    async def edit(
        self, slug: str, request: EditRequest, expected: str | None = None, partial: bool = False
    ) -> EditResult:
        """Change a note in part, of the inbox that has it. Raises as `Writer.edit`, AmbiguousError
        where both have it."""
        self.check_writable()
        scope, name = await self._meant(slug)
        if scope == PROJECT:
            return await super().edit(name, request, expected, partial)
        return self._seen(name, await self._wider.edit(name, request, expected, partial))

    async def delete(self, slug: str, expected: str | None = None) -> DeleteResult:
        """Delete a note of the inbox that has it. Raises as `edit`."""
        self.check_writable()
        scope, name = await self._meant(slug)
        if scope == PROJECT:
            return await super().delete(name, expected)
        reference = self._reference(name, GLOBAL)
        return replace(await self._wider.delete(name, expected), reference=reference)

    async def link(
        self, source: str, target: str, relation: str = "related", expected: str | None = None
    ) -> LinkResult:
        """Add a link to the header of an inbox note. Raises as `Writer.link`; RefusedError for one
        from the global inbox into the project, which other projects would see."""
        self.check_writable()
        origin, path = await self._place(source)
        if origin.id != self._wider.inbox.id:
            return await super().link(
                self._index.names.reference(origin.id, path), target, relation, expected
            )
        goal, goal_path = await locate(self._index, target)
        if goal.project is not None:
            raise RefusedError(
                f"{self._index.names.reference(goal.id, goal_path)} belongs to this project, and"
                f" {self._reference(path, GLOBAL)} is read in others, too; link the project's note"
                " to the global one instead."
            )
        aim = join(goal.name, goal_path)
        done = await self._wider.link(join(origin.name, path), aim, relation, expected)
        return self._seen(path, done)

    async def restore(self, reference: str, revision: str | None = None) -> WriteResult:
        """Bring back a version: of the note that the reference means now, else of the inbox whose
        history has one, the project's first. Raises as `Writer.restore`."""
        self.check_writable()
        name, places = self._index.places(reference)
        own = join(INBOX, places[0][1])
        try:
            source, path = await self._place(reference)
        except NotFoundError:
            source, path = places[0]
            kept = await anyio.to_thread.run_sync(self._history.newest, own)
            if source.id == self.inbox.id and kept is None and name != PROJECT:
                source = self._wider.inbox
            if name is None and source.scope is None:
                source = self.inbox
        if source.scope == PROJECT:
            return await super().restore(join(PROJECT, path), revision)
        if source.kind == "vault":
            return await super().restore(join(source.name, path), revision)
        done = await self._wider.restore(join(source.name, path), revision)
        if source.scope is None:
            return done
        return replace(done, reference=self._reference(path, GLOBAL))

    async def named(self, slug: str, scope: str | None = None) -> str:
        """The reference of the inbox note that a slug means, there or not; for a new one its own.

        Raises SlugError, and AmbiguousError where both inboxes have it."""
        if scope is None:
            scope, slug = await self._meant(slug)
        return self._reference(slug, scope)

    async def origin(self, source: str) -> str:
        """The reference of the note that `link` would change."""
        found, path = await self._place(source)
        return self._index.names.reference(found.id, path)

    def _seen(self, path: str, done: Result) -> Result:
        return replace(done, reference=self._reference(path, GLOBAL))

    def _reference(self, path: str, scope: str) -> str:
        inbox = self.inbox if scope == PROJECT else self._wider.inbox
        return self._index.names.reference(inbox.id, path)

    async def _place(self, text: str) -> Any:
        """(source, path) of a note that is there; a bare name means an inbox note first."""
        name, places = self._index.places(text)
        if name is None and any(await self._having(places[0][1])):
            scope, path = await self._scoped(None, places[0][1])
            return (self.inbox if scope == PROJECT else self._wider.inbox), path
        return await place_of(self._index, self.inbox, text)

    async def _meant(self, slug: str) -> tuple[str, str]:
        """(scope, slug) of the note that a name means; a name that none has is the project's."""
        return await self._scoped(*inbox_note(slug, (INBOX, GLOBAL, PROJECT)))

    async def _scoped(self, inbox: str | None, name: str) -> tuple[str, str]:
        """The same for the name of a note, and that of its inbox where it was given."""
        if inbox in (GLOBAL, PROJECT):
            return inbox, name
        own, other = await self._having(name)
        if own and other and inbox is None:
            raise AmbiguousError(
                f"Both inboxes have {name!r}: name {join(INBOX, name)}, which is the project's, or"
                f" {join(GLOBAL, name)}."
            )
        return (GLOBAL if other and not own else PROJECT), name

    async def _having(self, slug: str) -> tuple[bool, bool]:
        """Whether the project's inbox has a note of this name, and whether the global one has."""
        own, other = [await anyio.to_thread.run_sync(is_taken, one, slug) for one in self.inboxes]
        return own, other

    def _check_free(self, slug: str, there: bool, elsewhere: bool, scope: str) -> None:
        if elsewhere and not there:
            what = "global inbox" if scope == GLOBAL else "inbox of this project"
            raise RefusedError(
                f"memory/{slug} is a note of the {what}, and a name means one note. To replace"
                f" it, pass scope {scope}; for a new note choose another slug."
            )
