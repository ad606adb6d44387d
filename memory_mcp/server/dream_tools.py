"""The tools of findings: let a phase look for them, read them, decide on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import anyio.to_thread
import mcp_types as t
from pydantic import Field

from memory_mcp.core.errors import InputError
from memory_mcp.core.slug import shown
from memory_mcp.curate.jobs.dream import add_dream
from memory_mcp.curate.review.findings import PHASES, Dream, Finding
from memory_mcp.server.answers import Answer, first_fitting
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.convert import short, shorts
from memory_mcp.server.reviewing import review_of
from memory_mcp.server.session import connection_of
from memory_mcp.server.text_curation import decided_text, dream_text, dreams_text, run_text
from memory_mcp.server.wire_curation import (
    DecidedOut,
    DreamGetOut,
    DreamOut,
    DreamsOut,
    FindingOut,
    RunOut,
)

if TYPE_CHECKING:
    from memory_mcp.curate.review.approve import Decided

_CONTENT = 20_000
"""Characters of a proposed text that are shown; its note may be longer."""

DreamId = Annotated[str, Field(description="as dream_list shows it")]


async def dream_run(
    ctx: ToolContext,
    phase: Annotated[
        str,
        Field(
            description="rem: facts from conversations; deep: inbox into the wiki; lucid: check it"
        ),
    ],
    force: Annotated[
        bool, Field(description="look again at what was looked at and has not changed")
    ] = False,
) -> Annotated[t.CallToolResult, RunOut]:
    """Start a phase of curation behind: rem, deep or lucid. Returns at once.

    What it finds waits in dream_list for a decision; memory_jobs tells how far it is.
    """
    if phase not in PHASES:
        raise InputError(f"phase {shown(phase)} is unknown; use {', '.join(PHASES)}.")
    connection = connection_of(ctx.request_context)
    call = connection.call(ctx.request_context.request_id)
    mark = None if call is None else call.job_id.rpartition("-")[2]
    job = await add_dream(connection.app.jobs, phase, force=force, mark=mark)
    out = RunOut(job_id=job.job_id, status=job.status)
    return Answer(out, run_text(out, phase)).result()


async def dream_list(
    ctx: ToolContext,
    status: Annotated[str, Field(description="pending, applied, dismissed or all")] = "pending",
) -> Annotated[t.CallToolResult, DreamsOut]:
    """The passes of curation that found something, the newest first, with what waits."""
    dreams = connection_of(ctx.request_context).app.curation.dreams
    found = await anyio.to_thread.run_sync(dreams.all, status)
    rows = [_dream_out(dream) for dream in found]
    counts = [len(rows), *(count for count in (200, 50, 10, 1) if count < len(rows))]
    outs = (DreamsOut(dreams=rows[:count], total=len(rows)) for count in counts)
    return first_fitting(Answer(out, dreams_text(out, status)) for out in outs).result()


async def dream_get(
    ctx: ToolContext, dream_id: DreamId
) -> Annotated[t.CallToolResult, DreamGetOut]:
    """The findings of one pass: what is proposed, why, and what memory holds already.

    Show them to the person, and decide with dream_apply and dream_dismiss.
    """
    dreams = connection_of(ctx.request_context).app.curation.dreams
    dream = await anyio.to_thread.run_sync(dreams.get, dream_id)
    # What waits comes first, so that it is what is seen where the answer is cut.
    ordered = [*dream.pending, *(item for item in dream.findings if item.status != "pending")]
    rows = [_finding_out(item) for item in ordered]
    counts = [len(rows), *(count for count in (100, 30, 10, 3, 1) if count < len(rows))]
    outs = (
        DreamGetOut(
            dream_id=dream.dream_id,
            phase=dream.phase,
            created=dream.created,
            findings=rows[:count],
            total=len(rows),
        )
        for count in counts
    )
    return first_fitting(Answer(out, dream_text(out)) for out in outs).result()


async def dream_apply(
    ctx: ToolContext,
    dream_id: DreamId,
    finding_id: Annotated[str, Field(description="as dream_get shows it")],
    reason: Annotated[str | None, Field(description="why, for the record")] = None,
    resolved_manually: Annotated[
        bool, Field(description="it was done in another way: only mark it as settled")
    ] = False,
) -> Annotated[t.CallToolResult, DecidedOut]:
    """Carry a finding out as it was proposed. Twice is once, and it can be taken back.

    Where the note has changed since, nothing is done and the finding stays.
    """
    connection = connection_of(ctx.request_context)
    done = await connection.app.curation.approvals.apply(
        dream_id,
        finding_id,
        reason,
        resolved_manually=resolved_manually,
        review=await review_of(connection),
    )
    return _decided(done)


async def dream_dismiss(
    ctx: ToolContext,
    dream_id: DreamId,
    finding_id: Annotated[
        str | None, Field(description="one finding; all of this pass without it")
    ] = None,
    reason: Annotated[str | None, Field(description="why, for the record")] = None,
) -> Annotated[t.CallToolResult, DecidedOut]:
    """Put a finding aside, or all of a pass that wait. No note is changed."""
    approvals = connection_of(ctx.request_context).app.curation.approvals
    return _decided(await approvals.dismiss(dream_id, finding_id, reason))


OFFERS = (
    Offer(dream_run, "Run a phase of curation", writes=True, idempotent=False, tools="curation"),
    Offer(dream_list, "List findings", tools="curation"),
    Offer(dream_get, "Read findings", tools="curation"),
    Offer(dream_apply, "Apply a finding", writes=True, destructive=True, tools="curation"),
    Offer(dream_dismiss, "Dismiss findings", writes=True, tools="curation"),
)


def _dream_out(dream: Dream) -> DreamOut:
    return DreamOut(
        dream_id=dream.dream_id,
        phase=dream.phase,
        created=dream.created,
        source=short(dream.source),
        pending=len(dream.pending),
        total=len(dream.findings),
    )


def _finding_out(finding: Finding) -> FindingOut:
    content, excerpt = finding.proposed_content, finding.matched_excerpt
    return FindingOut(
        finding_id=finding.finding_id,
        kind=short(finding.kind),
        action=short(finding.action),
        reference=short(finding.reference),
        proposed_content=None if content is None else short(content, _CONTENT),
        reason=short(finding.reason),
        status=finding.status,
        likely_duplicate=finding.likely_duplicate,
        duplicate_of=finding.duplicate_of,
        matched_excerpt=None if excerpt is None else short(excerpt),
        novel_details=shorts(finding.novel_details),
        evidence=shorts(finding.evidence),
    )


def _decided(done: Decided) -> t.CallToolResult:
    out = DecidedOut(
        dream_id=done.dream_id,
        finding_id=done.finding_id,
        status=done.status,
        changed=list(done.changed),
        left=done.left,
    )
    return Answer(out, decided_text(done)).result()
