"""The tools that change notes of the inbox."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import mcp_types as t
from pydantic import Field

from memory_mcp.core.edit import EditRequest
from memory_mcp.curate.write.edit import Writer
from memory_mcp.server.answered import deleted, edited, linked, wrote
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.first_look import first_look
from memory_mcp.server.intending import intend
from memory_mcp.server.reviewing import deleted_in_review
from memory_mcp.server.revisions import read_before
from memory_mcp.server.session import connection_of
from memory_mcp.server.wire import DeleteOut, EditOut, LinkedOut, Scope, WriteOut

Slug = Annotated[
    str,
    Field(
        description="name of the note in the inbox: a-z, 0-9, - and _, such as `sourdough-notes`"
    ),
]
Known = Annotated[
    str, Field(description="slug of the note, or its reference such as `memory/sourdough-notes`")
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
    connection = connection_of(ctx.request_context)
    reference = await connection.app.writer.named(slug, scope)
    async with read_before(connection, reference, if_revision) as expected:
        done = await _writer(ctx, "memory_write", whole=True).write(
            slug, content, frontmatter, expected=expected, scope=scope
        )
    connection.session.wrote(done.reference, done.revision, whole=True)
    return wrote(done)


async def memory_edit(
    ctx: ToolContext,
    slug: Known,
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
    connection = connection_of(ctx.request_context)
    session, reference = connection.session, await connection.app.writer.named(slug)
    request = EditRequest(
        content=content,
        old_text=old_text,
        new_text=new_text,
        append=append,
        heading=heading,
        frontmatter=frontmatter,
    )
    whole = content is not None and heading is None
    async with read_before(connection, reference, if_revision) as expected:
        done = await _writer(ctx, "memory_edit", whole=whole).edit(
            slug, request, expected=expected, partial=session.partial(reference)
        )
    session.wrote(
        done.reference,
        done.revision,
        whole=whole,
        replaced=done.replaced_revision or done.revision,
    )
    return edited(done)


async def memory_delete(
    ctx: ToolContext, slug: Known, if_revision: Revision = None
) -> Annotated[t.CallToolResult, DeleteOut]:
    """Delete an inbox note that is wrong or no longer needed. It can be restored."""
    connection = connection_of(ctx.request_context)
    reference = await connection.app.writer.named(slug)
    done = await deleted_in_review(ctx, reference, if_revision)
    if isinstance(done, t.CallToolResult):
        return done
    if done is None:
        async with read_before(connection, reference, if_revision) as expected:
            done = await _writer(ctx, "memory_delete").delete(slug, expected)
    connection.session.forget(done.reference)
    return deleted(done)


async def memory_link(
    ctx: ToolContext,
    source: Annotated[str, Field(description="the inbox note that gets the link")],
    target: Annotated[str, Field(description="reference of the note it points to")],
    relation: Annotated[
        str, Field(description="supersedes, part_of, contradicts, or any other word")
    ] = "related",
) -> Annotated[t.CallToolResult, LinkedOut]:
    """Link an inbox note to another note, with the kind of relation. Twice is once."""
    await first_look(ctx)
    connection = connection_of(ctx.request_context)
    reference = await connection.app.writer.origin(source)
    async with read_before(connection, reference, None) as expected:
        done = await _writer(ctx, "memory_link").link(source, target, relation, expected=expected)
    connection.session.wrote(done.reference, done.revision, whole=False)
    return linked(done)


OFFERS = (
    Offer(memory_write, "Write a note", writes=True, destructive=True),
    Offer(memory_edit, "Edit a note", writes=True, destructive=True, idempotent=False),
    Offer(memory_delete, "Delete a note", writes=True, destructive=True),
    Offer(memory_link, "Link two notes", writes=True),
)


def _writer(ctx: ToolContext, tool: str, *, whole: bool = False) -> Writer:
    """The writer, which first notes for a repeat of the call what it is about to do, and whether
    the `whole` text comes from the caller."""
    writer = connection_of(ctx.request_context).app.writer
    return writer.noting(partial(intend, ctx, tool, whole=whole))
