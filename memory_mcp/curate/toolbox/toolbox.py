"""The functions that a model works with on a job: reads act at once, writes only plan.

They have the names, arguments and rules of the tools that a client's agent has.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio.to_thread

from memory_mcp.core.arguments import nearest, prepare
from memory_mcp.core.chat import Function
from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import (
    ConflictError,
    InputError,
    MemoryMcpError,
    NotFoundError,
    RefusedError,
)
from memory_mcp.core.framing import harmless
from memory_mcp.core.note import Json
from memory_mcp.core.reference import GLOBAL, clean
from memory_mcp.core.slug import shown
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.curate.plans.planner import WIKI, Planner
from memory_mcp.curate.plans.provenance import is_outside
from memory_mcp.curate.toolbox import answering
from memory_mcp.curate.toolbox.acquaintance import Acquaintance
from memory_mcp.curate.toolbox.functions import PARAMETERS
from memory_mcp.curate.write.policy import check_scope
from memory_mcp.notes.place import is_taken
from memory_mcp.search.hit import SearchRequest
from memory_mcp.search.locate import locate
from memory_mcp.search.read import MAX_CHARS

READING = ("memory_search", "memory_get", "memory_list")
WRITING = ("memory_write", "memory_edit", "memory_delete", "memory_link")
PAGES = ("wiki_create", "wiki_edit", "wiki_move", "wiki_delete")
EVERY = (*READING, *WRITING, *PAGES)


class Toolbox:
    """The functions of some names over a plan. Nothing on disk changes."""

    def __init__(
        self,
        parts: Parts,
        planner: Planner,
        names: Sequence[str] = EVERY,
        *,
        read_first: bool = False,
        outside: bool = False,
    ) -> None:
        """`read_first`: a text is replaced as a whole, or deleted, only where all of it was read
        here before. `outside`: what is written comes from outside, so a note of the person's own
        is not changed by it, only linked."""
        self._parts = parts
        self._planner = planner
        self._read_first = read_first
        self._outside = outside
        self._seen = Acquaintance()
        self._actions: dict[str, Callable[..., Awaitable[str]]] = {
            name: getattr(self, name) for name in names
        }
        self.functions: tuple[Function, ...] = tuple(
            Function(name, inspect.getdoc(action) or "", PARAMETERS[name])
            for name, action in self._actions.items()
        )

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Carry out a function and return what the model reads. Raises InputError for an unknown
        function or argument, and what the tool of that name raises; the texts can be shown."""
        action = self._actions.get(name)
        if action is None:
            near = nearest(name, self._actions)
            meant = f" Did you mean {near}?" if near else ""
            raise InputError(
                f"There is no function {shown(name)}.{meant} There are:"
                f" {', '.join(self._actions)}."
            )
        try:
            return await action(**prepare(name, PARAMETERS[name], arguments))
        except ConflictError:
            raise  # brings its own frame
        except MemoryMcpError as error:
            error.args = (harmless(str(error)),)
            raise

    async def memory_search(
        self,
        query: str,
        limit: int = 5,
        min_score: float = 0,
        source: str | list[str] = "",
        path_prefix: str | None = None,
        tag: str | None = None,
    ) -> str:
        """Search the long-term memory by meaning and by words. Do it before you write: for each
        name, thing and number that the text is about. Hits show the passages that answer."""
        names = tuple([source] if isinstance(source, str) else source)
        request = SearchRequest(
            query, limit, min_score, tuple(name for name in names if name), path_prefix, tag
        )
        return answering.found(await self._parts.searcher.search(request))

    async def memory_get(
        self,
        reference: str,
        heading: str | None = None,
        offset: int = 0,
        max_chars: int = answering.PAGE,
    ) -> str:
        """Read a note as it will be with your changes so far. Read a note before you change it. A
        long one comes in parts: go on with the offset that the part before named."""
        change, most = self._planned(reference), min(max_chars, MAX_CHARS)
        if change is None:
            reading = await self._parts.reader.get(reference, heading, offset, most)
            source, path = await locate(self._parts.index, reading.reference)
            self._seen.read((source.id, path), reading, heading, offset)
        elif change.after is None:
            raise NotFoundError(f"{change.reference} is deleted by your plan.")
        else:
            spot = change.spot
            reading = await self._parts.reader.planned(
                spot.source, spot.path, change.after, heading, offset, most
            )
            self._seen.read((spot.source.id, spot.path), reading, heading, offset)
        return answering.read(reading, offset)

    async def memory_list(
        self,
        source: str | list[str] = "memory",
        tag: str | None = None,
        path_prefix: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> str:
        """List notes by source, tag or path."""
        page = self._parts.reader.list(source, tag, path_prefix, limit, cursor)
        return answering.listed(page)

    async def memory_write(
        self,
        slug: str,
        content: str,
        frontmatter: Mapping[str, Json] | None = None,
        if_revision: str | None = None,
        scope: str | None = None,
    ) -> str:
        """Write a note into the inbox: one subject, a heading, full sentences. It creates the
        note, or replaces the whole of it; where a note on the subject exists, change that one."""
        self._check_scope(scope)
        spot = self._planner.note(slug)
        current = await self._planner.read(spot)
        if current is None:
            await self._check_free(spot)
        expected = self._replacing(spot, current, if_revision)
        done = await self._planner.write(spot, content, frontmatter, expected=expected)
        await self._wrote(spot, whole=True)
        what = "created" if current is None else "replaced"
        similar = await self._parts.writer.similar(spot.reference, done.text)
        near = ", ".join(f"{item.reference} ({item.score:.2f})" for item in similar)
        more = f" Similar notes: {near}." if near else ""
        return _said(f"Planned: {spot.reference} will be {what}.{more}", done.warnings)

    async def memory_edit(self, slug: str, **edit: Any) -> str:
        """Change a part of an inbox note: old_text and new_text, append, heading and content, or
        content. Prefer it to memory_write for a note that exists, and read that note first."""
        return await self._edit(self._planner.note(slug), edit)

    async def memory_delete(self, slug: str, if_revision: str | None = None) -> str:
        """Delete an inbox note that is wrong or no longer needed. It can be restored."""
        return await self._delete(self._planner.note(slug), if_revision)

    async def memory_link(self, source: str, target: str, relation: str = "related") -> str:
        """Link a note to another one, with the kind of relation. Twice is once."""
        spot = await self._planner.spot(source)
        if spot.source.kind == WIKI and not set(PAGES) & set(self._actions):
            raise RefusedError(
                f"{spot.reference} is not in the inbox, and only inbox notes are written here;"
                " link from a note of memory."
            )
        done = await self._planner.link(spot, target, relation)
        await self._wrote(spot, whole=False)
        return _said(f"Planned: {spot.reference} will link to {target}.", done.warnings)

    async def wiki_create(
        self, path: str, content: str, frontmatter: Mapping[str, Json] | None = None
    ) -> str:
        """Create a wiki page, which all agents and people share. Fails where there is one."""
        spot = self._planner.page(path)
        done = await self._planner.write(spot, content, frontmatter, new=True)
        await self._wrote(spot, whole=True)
        return _said(f"Planned: {spot.reference} will be created.", done.warnings)

    async def wiki_edit(self, path: str, **edit: Any) -> str:
        """Change a wiki page in part, as memory_edit does with an inbox note. Read it first."""
        return await self._edit(self._planner.page(path), edit)

    async def wiki_move(self, path: str, new_path: str) -> str:
        """Give a wiki page another path. Links to it are rewritten; its text stays as it is."""
        old, new = self._planner.page(path), self._planner.page(new_path)
        done = await self._planner.move(old, new)
        also = f" Links are rewritten in {', '.join(done.relinked)}." if done.relinked else ""
        return _said(f"Planned: {old.reference} will be {new.reference}.{also}", done.warnings)

    async def wiki_delete(self, path: str, if_revision: str | None = None) -> str:
        """Delete a wiki page whose content stands elsewhere. It can be restored."""
        return await self._delete(self._planner.page(path), if_revision)

    async def _edit(self, spot: Spot, edit: Mapping[str, Any]) -> str:
        request = EditRequest(**{key: edit[key] for key in edit if key != "if_revision"})
        current = await self._planner.read(spot)
        whole = request.kind == "content"
        given = edit.get("if_revision")
        expected = (
            self._replacing(spot, current, given) if whole else given or self._seen.revision(spot)
        )
        if request.kind != "header":
            self._check_own(spot, current)
        done = await self._planner.edit(spot, request, expected=expected)
        await self._wrote(spot, whole=whole)
        return _said(f"Planned: {spot.reference} will be changed.", done.warnings)

    async def _delete(self, spot: Spot, given: str | None) -> str:
        current = await self._planner.read(spot)
        expected = self._replacing(spot, current, given)
        if not await self._planner.delete(spot, expected=expected):
            return f"There is no note {spot.reference}; nothing is to be deleted."
        return f"Planned: {spot.reference} will be deleted."

    def _planned(self, reference: str) -> Change | None:
        """What the plan has for the note that a reference names."""
        name = clean(reference.strip().removeprefix("[[").removesuffix("]]"))
        for change in self._planner.changes:
            if name in (change.reference, change.spot.path):
                return change
        return None

    def _replacing(self, spot: Spot, current: bytes | None, given: str | None) -> str | None:
        """The revision that the model knows of a text that it wants to replace or delete.

        Raises RefusedError where it has to know all of it, and does not.
        """
        if current is None:
            return given
        if self._read_first and given is None:
            self._seen.check_whole(spot)
        self._check_own(spot, current)
        return given or self._seen.revision(spot)

    def _check_own(self, spot: Spot, current: bytes | None) -> None:
        """Text from outside must not look like the person's own."""
        new = {change.reference for change in self._planner.changes if change.before is None}
        if self._outside and current and spot.reference not in new and not is_outside(current):
            raise RefusedError(
                f"{spot.reference} is a note of the person's own, and this text comes from"
                " outside: write it as a note of its own, and link that one to it."
            )

    def _check_scope(self, scope: str | None) -> None:
        project = self._parts.project is not None
        check_scope(scope, project=project)
        if project and scope == GLOBAL:
            raise RefusedError(
                "This work is done in a project, and its notes go to the project's inbox; leave"
                " scope out."
            )

    async def _check_free(self, spot: Spot) -> None:
        """A name means one note: a new one gets none that the agent's other inbox has."""
        for inbox in self._parts.writer.inboxes:
            if inbox.id == spot.source.id:
                continue
            if await anyio.to_thread.run_sync(is_taken, inbox, spot.path):
                raise RefusedError(
                    f"A note of the global inbox has the name {spot.path}; take another slug."
                )

    async def _wrote(self, spot: Spot, *, whole: bool) -> None:
        self._seen.wrote(spot, await self._planner.read(spot), whole=whole)


def _said(text: str, warnings: Sequence[str]) -> str:
    return harmless("\n".join([text, *(f"Warning: {warning}" for warning in warnings)]))
