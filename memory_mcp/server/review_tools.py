"""The tools of a review: open it, and change pages of the wiki while it is open."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import anyio.to_thread
import mcp_types as t
from pydantic import Field

from memory_mcp.core.counting import counted
from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.core.framing import one_line
from memory_mcp.core.slug import shown
from memory_mcp.curate.curation import Curation
from memory_mcp.curate.jobs.kinds import REVIEW
from memory_mcp.curate.jobs.task import Outcome
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.curate.plans.planner import Planner
from memory_mcp.curate.review.review import Review
from memory_mcp.curate.write.conflict import check_revision
from memory_mcp.curate.write.results import DeleteResult, EditResult, WriteResult
from memory_mcp.server.answered import deleted, edited, moved, wrote
from memory_mcp.server.answers import Answer
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.reviewing import Said, changed, session_of
from memory_mcp.server.session import connection_of
from memory_mcp.server.text_curation import review_text
from memory_mcp.server.wire import DeleteOut, EditOut, WriteOut
from memory_mcp.server.wire_curation import MovedOut, ReviewOut
from memory_mcp.server.write_tools import Frontmatter, Revision

Page = Annotated[str, Field(description="path of the page below the wiki, such as `people/alice`")]


async def dream_review(
    ctx: ToolContext,
    action: Annotated[str, Field(description="start, also to go on; or end")],
    dream_id: Annotated[
        str | None, Field(description="the findings it is about; any without it")
    ] = None,
    summary: Annotated[
        str | None, Field(description="at the end: what was done, in a sentence, for the log")
    ] = None,
) -> Annotated[t.CallToolResult, ReviewOut]:
    """Open a review of the wiki in this session: wiki_create, wiki_edit, wiki_move, wiki_delete.

    Agree with the person on what is to be done. Decide on each finding afterwards with
    dream_apply(resolved_manually=true) or dream_dismiss, and close the review with action=end.
    """
    if action not in ("start", "end"):
        raise InputError(f"action {shown(action)} is unknown; use start or end.")
    connection = connection_of(ctx.request_context)
    curation, session = connection.app.curation, session_of(connection)
    async with connection.turn("review"):
        if action == "start":
            if dream_id is not None:
                await anyio.to_thread.run_sync(curation.dreams.get, dream_id)
            start = partial(curation.reviews.start, session, dream_id)
            review = await anyio.to_thread.run_sync(start)
            return await _answer(curation, review, active=True)
        closing = await anyio.to_thread.run_sync(curation.reviews.get, session)
        if closing is not None:
            from memory_mcp.curate.review.end import conclude  # loaded with the first review

            await conclude(curation.parts, curation.runs, closing, summary)
            changes = await curation.runs.changed(closing.run)
            if changes:
                said = f"{counted(len(closing.pages), 'page')}. {one_line(summary or '', 300)}"
                told = Outcome(said.strip(), changes)
                await curation.jobs.add(REVIEW, {}, job_id=closing.run, done=told)
            await anyio.to_thread.run_sync(curation.reviews.end, session)
        return await _answer(curation, closing, active=False)


async def wiki_create(
    ctx: ToolContext,
    path: Page,
    content: Annotated[str, Field(description="the whole page in Markdown")],
    frontmatter: Frontmatter = None,
) -> Annotated[t.CallToolResult, WriteOut]:
    """Create a wiki page, which all agents and people share. Only while a review is open.

    Search first: a page on the subject is extended with wiki_edit.
    """

    async def plan(planner: Planner, spot: Spot, expected: str | None) -> Said:
        done = await planner.write(spot, content, frontmatter, new=True)
        return Said(spot, done.warnings)

    made = await changed(ctx, "wiki_create", path, plan, whole=True)
    if isinstance(made, t.CallToolResult):
        return made
    writer = connection_of(ctx.request_context).app.writer
    similar = await writer.similar(made.reference, (made.after or b"").decode("utf-8"))
    return wrote(
        WriteResult(made.reference, made.revision or "", True, None, similar, made.warnings)
    )


async def wiki_edit(
    ctx: ToolContext,
    path: Page,
    content: Annotated[
        str | None,
        Field(description="the new text of the page, or with `heading` of that section"),
    ] = None,
    old_text: Annotated[
        str | None, Field(description="a text that stands in the page exactly once")
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
    """Change a wiki page in part: old_text + new_text, append, heading + content, or content.

    Only while a review is open. Read the page first (memory_get): an edit of a page that changed
    since is refused and shows what changed.
    """
    request = EditRequest(
        content=content,
        old_text=old_text,
        new_text=new_text,
        append=append,
        heading=heading,
        frontmatter=frontmatter,
    )
    session = connection_of(ctx.request_context).session

    async def plan(planner: Planner, spot: Spot, expected: str | None) -> Said:
        if request.kind == "content" and session.partial(spot.reference):
            raise RefusedError(
                f"You have seen only a part of {spot.reference}, and content would replace all of"
                " it. Read the rest with memory_get, or use old_text and new_text, append, or"
                " heading."
            )
        done = await planner.edit(spot, request, expected=expected)
        return Said(spot, done.warnings)

    whole = content is not None and heading is None
    made = await changed(ctx, "wiki_edit", path, plan, if_revision, whole=whole)
    if isinstance(made, t.CallToolResult):
        return made
    return edited(EditResult(made.reference, made.revision or "", made.replaced, made.warnings))


async def wiki_move(
    ctx: ToolContext,
    path: Page,
    new_path: Annotated[str, Field(description="where it is to be, such as `team/alice`")],
) -> Annotated[t.CallToolResult, MovedOut]:
    """Give a wiki page another path. Links to it in notes and pages are rewritten, and its own.

    Only while a review is open.
    """
    history = connection_of(ctx.request_context).app.curation.parts.history

    async def plan(planner: Planner, spot: Spot, expected: str | None) -> Said:
        new = planner.page(new_path)
        check = partial(check_revision, spot.reference, await planner.read(spot), expected)
        await anyio.to_thread.run_sync(check, history)
        done = await planner.move(spot, new)
        return Said(new, done.warnings, (spot.reference, *done.relinked))

    made = await changed(ctx, "wiki_move", path, plan)
    if isinstance(made, t.CallToolResult):
        return made
    return moved(made.reference, made.also[0], made.also[1:], made.warnings)


async def wiki_delete(
    ctx: ToolContext, path: Page, if_revision: Revision = None
) -> Annotated[t.CallToolResult, DeleteOut]:
    """Delete a wiki page whose content stands elsewhere. It can be restored.

    Only while a review is open.
    """

    async def plan(planner: Planner, spot: Spot, expected: str | None) -> Said:
        if await planner.read(spot) is not None:
            await planner.delete(spot, expected=expected)
        return Said(spot, ())

    made = await changed(ctx, "wiki_delete", path, plan, if_revision)
    if isinstance(made, t.CallToolResult):
        return made
    return deleted(DeleteResult(made.reference, made.before is not None, made.replaced))


OFFERS = (
    Offer(dream_review, "Review the wiki", writes=True, tools="curation"),
    Offer(wiki_create, "Create a page", writes=True, idempotent=False, tools="curation"),
    Offer(
        wiki_edit, "Edit a page", writes=True, destructive=True, idempotent=False, tools="curation"
    ),
    Offer(
        wiki_move, "Move a page", writes=True, destructive=True, idempotent=False, tools="curation"
    ),
    Offer(wiki_delete, "Delete a page", writes=True, destructive=True, tools="curation"),
)


async def _answer(curation: Curation, review: Review | None, *, active: bool) -> t.CallToolResult:
    dream_id = None if review is None else review.dream_id
    count = partial(_waiting, curation, dream_id)
    run = review.run if review is not None and (active or review.pages) else None
    out = ReviewOut(
        active=active,
        dream_id=dream_id,
        open=await anyio.to_thread.run_sync(count),
        expires=review.expires if review is not None and active else None,
        run=run,
        left=review.left if review is not None and active else 0,
    )
    return Answer(out, review_text(out)).result()


def _waiting(curation: Curation, dream_id: str | None) -> int:
    """How many findings wait for a decision. Blocking."""
    if dream_id is not None:
        return len(curation.dreams.get(dream_id).pending)
    return sum(len(dream.pending) for dream in curation.dreams.all())
