"""The tools that change notes of the inbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

import mcp_types as t
from pydantic import Field

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import ConflictError, MemoryMcpError, NotFoundError
from memory_mcp.core.reference import join
from memory_mcp.curate.place import place_of
from memory_mcp.server.answers import Answer
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.convert import fitting, shorts
from memory_mcp.server.session import Connection
from memory_mcp.server.text import delete_text, edit_text, link_text, write_text
from memory_mcp.server.wire import (
    DeleteOut,
    EditOut,
    LinkedOut,
    RelationOut,
    Scope,
    SimilarOut,
    WriteOut,
)

_LINKS = 30_000
"""Characters of the links in an answer, as JSON; a header with more has hundreds."""

Slug = Annotated[
    str,
    Field(
        description="name of the note in the inbox: a-z, 0-9, - and _, such as `sourdough-notes`"
    ),
]
Frontmatter = Annotated[
    dict[str, Any] | None,
    Field(description="header values, such as title, description, tags, supersedes"),
]
Revision = Annotated[
    str | None,
    Field(description="the revision you read: the call is refused if the note changed since"),
]


async def memory_write(
    ctx: ToolContext,
    slug: Slug,
    content: Annotated[str, Field(description="the whole note in Markdown")],
    frontmatter: Frontmatter = None,
    if_revision: Revision = None,
    scope: Annotated[
        Scope | None, Field(description="global, or project for the project's own inbox")
    ] = None,
) -> Annotated[t.CallToolResult, WriteOut]:
    """Write a note into the inbox: one fact, decision or preference that is worth keeping.

    Creates the note, or replaces the whole of it (the older text can be restored). Search first:
    where a note on the subject exists, change that one with memory_edit.
    """
    connection = _connection(ctx)
    async with _read_before(connection, _inbox(slug), if_revision) as expected:
        done = await connection.app.writer.write(
            slug, content, frontmatter, expected=expected, scope=scope
        )
    connection.session.wrote(done.reference, done.revision, whole=True)
    out = WriteOut(
        reference=done.reference,
        revision=done.revision,
        created=done.created,
        replaced_revision=done.replaced_revision,
        similar=[SimilarOut(reference=item.reference, score=item.score) for item in done.similar],
        warnings=shorts(done.warnings),
    )
    return Answer(out, write_text(out)).result()


async def memory_edit(
    ctx: ToolContext,
    slug: Slug,
    content: Annotated[
        str | None,
        Field(description="the new text of the note, or with `heading` of that section"),
    ] = None,
    old_text: Annotated[
        str | None, Field(description="a text that stands in the note exactly once")
    ] = None,
    new_text: Annotated[
        str | None, Field(description="what replaces old_text; empty deletes it")
    ] = None,
    append: Annotated[str | None, Field(description="a text to add at the end")] = None,
    heading: Annotated[
        str | None, Field(description="the section to replace by `content`, without #")
    ] = None,
    frontmatter: Annotated[
        dict[str, Any] | None,
        Field(description="header values to set; null removes a key; the others stay"),
    ] = None,
    if_revision: Revision = None,
) -> Annotated[t.CallToolResult, EditOut]:
    """Change a part of an inbox note: old_text + new_text, append, heading + content, or content.

    Prefer it to memory_write for a note that exists. Read the note first (memory_get): an edit
    of a note that changed since is refused and shows what changed.
    """
    connection = _connection(ctx)
    session, reference = connection.session, _inbox(slug)
    request = EditRequest(
        content=content,
        old_text=old_text,
        new_text=new_text,
        append=append,
        heading=heading,
        frontmatter=frontmatter,
    )
    async with _read_before(connection, reference, if_revision) as expected:
        done = await connection.app.writer.edit(
            slug, request, expected=expected, partial=session.partial(reference)
        )
    session.wrote(
        done.reference,
        done.revision,
        whole=content is not None and heading is None,
        replaced=done.replaced_revision or done.revision,
    )
    out = EditOut(
        reference=done.reference,
        revision=done.revision,
        replaced_revision=done.replaced_revision,
        warnings=shorts(done.warnings),
    )
    return Answer(out, edit_text(out)).result()


async def memory_delete(
    ctx: ToolContext, slug: Slug, if_revision: Revision = None
) -> Annotated[t.CallToolResult, DeleteOut]:
    """Delete an inbox note that is wrong or no longer needed. It can be restored."""
    connection = _connection(ctx)
    async with _read_before(connection, _inbox(slug), if_revision) as expected:
        done = await connection.app.writer.delete(slug, expected)
    connection.session.forget(done.reference)
    out = DeleteOut(reference=done.reference, deleted=done.deleted, revision=done.revision)
    return Answer(out, delete_text(out)).result()


async def memory_link(
    ctx: ToolContext,
    source: Annotated[str, Field(description="the inbox note that gets the link")],
    target: Annotated[str, Field(description="reference of the note it points to")],
    relation: Annotated[
        str, Field(description="supersedes, part_of, contradicts, or any other word")
    ] = "related",
) -> Annotated[t.CallToolResult, LinkedOut]:
    """Link an inbox note to another note, with the kind of relation. Twice is once."""
    connection = _connection(ctx)
    app = connection.app
    origin, path = place_of(app.index, app.writer.inbox, source)
    async with _read_before(connection, join(origin.name, path), None) as expected:
        done = await app.writer.link(source, target, relation, expected=expected)
    connection.session.wrote(done.reference, done.revision, whole=False)
    links = [RelationOut(to=link.target, relation=link.relation) for link in done.links]
    latest = fitting(links[::-1], _LINKS)[::-1]
    out = LinkedOut(reference=done.reference, revision=done.revision, links=latest)
    return Answer(out, link_text(out, len(links))).result()


OFFERS = (
    Offer(memory_write, "Write a note", writes=True, destructive=True),
    Offer(memory_edit, "Edit a note", writes=True, destructive=True, idempotent=False),
    Offer(memory_delete, "Delete a note", writes=True, destructive=True),
    Offer(memory_link, "Link two notes", writes=True),
)


def _connection(ctx: ToolContext) -> Connection:
    return ctx.request_context.lifespan_context


@asynccontextmanager
async def _read_before(
    connection: Connection, reference: str, given: str | None
) -> AsyncIterator[str | None]:
    """The revision that the caller knows: the one it gave, else the one it read last.

    Where that note is gone the reading is forgotten after the conflict: there is nothing to read
    again, and the next call may create it anew.
    """
    try:
        yield given or connection.session.revision(reference)
    except ConflictError:
        with suppress(MemoryMcpError):
            await _forget_if_gone(connection, reference)
        raise


async def _forget_if_gone(connection: Connection, reference: str) -> None:
    try:
        await connection.app.reader.get(reference, max_chars=1)
    except NotFoundError:
        connection.session.forget(reference)


def _inbox(slug: str) -> str:
    return f"memory/{slug}"
