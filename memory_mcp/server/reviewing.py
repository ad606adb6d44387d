"""Changing pages in a review: planned, carried out as a part of its run, and once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import anyio.to_thread
import mcp_types as t

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.parse import revision_of
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.curate.plans.planner import WIKI, Planner
from memory_mcp.curate.review.review import Review
from memory_mcp.curate.write.results import DeleteResult
from memory_mcp.curate.write.step import Step
from memory_mcp.server.calls import ToolContext
from memory_mcp.server.first_look import first_look
from memory_mcp.server.intending import intend
from memory_mcp.server.repeats import settled
from memory_mcp.server.revisions import read_before
from memory_mcp.server.session import Connection, connection_of


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool planned: the note that it is about, warnings, and other notes it names."""

    spot: Spot
    warnings: tuple[str, ...]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """What a tool did."""

    reference: str
    before: bytes | None
    after: bytes | None
    warnings: tuple[str, ...]
    also: tuple[str, ...]

    @property
    def revision(self) -> str | None:
        """Of the text that is there now."""
        return None if self.after is None else revision_of(self.after)

    @property
    def replaced(self) -> str | None:
        """The revision that was replaced or deleted."""
        changed = self.before is not None and self.before != self.after
        return revision_of(self.before) if changed and self.before is not None else None


Plan = Callable[[Planner, Spot, str | None], Awaitable[Said]]


async def changed(
    ctx: ToolContext,
    tool: str,
    path: str,
    plan: Plan,
    if_revision: str | None = None,
    *,
    whole: bool = False,
) -> Made | t.CallToolResult:
    """Plan a change and carry it out as a part of the review; the answer itself where this is the
    repeat of a call that was done."""
    await first_look(ctx)
    connection = connection_of(ctx.request_context)
    curation, session = connection.app.curation, session_of(connection)
    async with connection.turn("review"):
        review = await anyio.to_thread.run_sync(curation.reviews.current, session)
        known = await _done_before(ctx, connection, review)
        if known is not None:
            return known
        planner = curation.parts.planner()
        spot = planner.page(path)
        async with read_before(connection, spot.reference, if_revision) as expected:
            said = await plan(planner, spot, expected)
            made = await _made(planner, said)
            _intend(ctx, tool, made, whole=whole)
            await curation.runs.apply(review.run, planner.changes)
        pages = _pages(planner.changes, said)
        if pages:
            note = partial(curation.reviews.changed, session, pages)
            await anyio.to_thread.run_sync(note)
        _remember(connection, planner.changes, made, whole=whole)
    return made


async def deleted_in_review(
    ctx: ToolContext, reference: str, if_revision: str | None
) -> DeleteResult | t.CallToolResult | None:
    """Delete a note of this inbox as a part of the review that is open in the session, so that who
    takes the review back has the note again, and not only the pages without it. None where no
    review is open; the answer itself where this is the repeat of a call that was done."""
    connection = connection_of(ctx.request_context)
    curation, inbox = connection.app.curation, connection.app.writer.inbox
    if connection.name is None or not reference.startswith(f"{inbox.name}/"):
        return None
    async with connection.turn("review"):
        review = await anyio.to_thread.run_sync(curation.reviews.open, connection.name)
        if review is None:
            return None
        known = await _done_before(ctx, connection, review)
        if known is not None:
            return known
        planner = curation.parts.planner()
        spot = planner.note(reference)
        async with read_before(connection, reference, if_revision) as expected:
            await planner.delete(spot, expected=expected)
            made = await _made(planner, Said(spot, ()))
            _intend(ctx, "memory_delete", made, whole=False)
            await curation.runs.apply(review.run, planner.changes)
    return DeleteResult(made.reference, made.before is not None, made.replaced)


async def _made(planner: Planner, said: Said) -> Made:
    spot = said.spot
    change = next((item for item in planner.changes if item.spot == spot), None)
    before = await planner.on_disk(spot) if change is None else change.before
    after = before if change is None else change.after
    return Made(spot.reference, before, after, said.warnings, said.also)


def session_of(connection: Connection) -> str:
    """The name of a client's session. Raises RefusedError where it has none."""
    if connection.name is None:
        raise RefusedError(
            "A review belongs to a session, and over this connection each request stands alone."
            " Connect by stdio, or with a client that keeps a session; single findings can be"
            " decided on with dream_apply and dream_dismiss."
        )
    return connection.name


async def review_of(connection: Connection) -> str | None:
    """The run of the review that is open in a client's session; None without one."""
    if connection.name is None:
        return None
    reviews = connection.app.curation.reviews
    review = await anyio.to_thread.run_sync(reviews.get, connection.name)
    return None if review is None else review.run


async def _done_before(
    ctx: ToolContext, connection: Connection, review: Review
) -> t.CallToolResult | None:
    """The answer to a call whose first attempt had begun when its engine died, and is done now."""
    call = connection.call(ctx.request_context.request_id)
    if call is None or call.intention is None:
        return None
    await connection.app.curation.runs.resume(review.run)
    return await settled(call, connection)


def _intend(ctx: ToolContext, tool: str, made: Made, *, whole: bool) -> None:
    project = connection_of(ctx.request_context).app.project is not None
    step = Step(made.reference, made.before, made.after, made.warnings, project)
    intend(ctx, tool, step, whole=whole, also=made.also)


def _pages(changes: tuple[Change, ...], said: Said) -> dict[str, str]:
    """What became of which page, for the log."""
    found: dict[str, str] = {}
    for change in changes:
        if change.spot.source.kind != WIKI:
            continue
        what = "created" if change.before is None else "changed"
        found[change.spot.path] = "deleted" if change.after is None else what
    if said.also:
        old = said.also[0].partition("/")[2]
        found.pop(said.spot.path, None)
        found[old] = f"moved to {said.spot.path}"
    return found


def _remember(
    connection: Connection, changes: tuple[Change, ...], made: Made, *, whole: bool
) -> None:
    """What the client knows after its call: its own change of a note is none to be told of."""
    session = connection.session
    if made.also:
        old = made.also[0]
        whole = session.revision(old) is not None and not session.partial(old)
    for change in changes:
        reference = change.reference
        if change.after is None:
            session.forget(reference)
        elif reference == made.reference:
            before = None if change.before is None else revision_of(change.before)
            session.wrote(reference, revision_of(change.after), whole=whole, replaced=before)
        elif change.before and session.revision(reference) == revision_of(change.before):
            was = revision_of(change.before)
            session.wrote(reference, revision_of(change.after), whole=False, replaced=was)
