"""The tools of background work: save now, file later."""

from __future__ import annotations

from typing import Annotated

import mcp_types as t
from pydantic import Field

from memory_mcp.core.errors import InputError
from memory_mcp.server.answers import Answer, first_fitting
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.convert import short
from memory_mcp.server.session import connection_of
from memory_mcp.server.text import jobs_text, save_text
from memory_mcp.server.wire import JobOut, JobsOut, SaveOut, Scope


async def memory_save(
    ctx: ToolContext,
    content: Annotated[str, Field(description="what to remember, in full sentences")],
    context: Annotated[
        str | None, Field(description="where it comes from and what it belongs to")
    ] = None,
    source_url: Annotated[str | None, Field(description="the web page it was taken from")] = None,
    scope: Annotated[
        Scope | None, Field(description="global, or project for the project's own inbox")
    ] = None,
) -> Annotated[t.CallToolResult, SaveOut]:
    """Save something worth remembering without choosing a name or looking for its place.

    Returns at once; it is filed behind. Use memory_write where you know the note.
    """
    if not content.strip():
        raise InputError("content is empty: give the text that is to be remembered.")
    connection = connection_of(ctx.request_context)
    noted = connection.call(ctx.request_context.request_id)
    job_id = None if noted is None else noted.job_id
    job = await connection.app.saver.save(content, context, source_url, scope, job_id=job_id)
    out = SaveOut(job_id=job.job_id, status=job.status)
    return Answer(out, save_text(out)).result()


async def memory_jobs(
    ctx: ToolContext,
    job_id: Annotated[str | None, Field(description="one job; all recent ones without it")] = None,
) -> Annotated[t.CallToolResult, JobsOut]:
    """What became of memory_save: whether a job is done, and which notes it changed."""
    jobs = connection_of(ctx.request_context).app.jobs.list(job_id)
    rows = [
        JobOut(
            job_id=job.job_id,
            kind=job.kind,
            status=job.status,
            outcome=None if job.outcome is None else short(job.outcome),
            changed=list(job.changed)[:100],
            error=None if job.error is None else short(job.error),
            created=job.created,
            finished=job.finished,
        )
        for job in jobs
    ]
    counts = [len(rows), *(count for count in (200, 50, 10, 1) if count < len(rows))]
    outs = (JobsOut(jobs=rows[:count], total=len(rows)) for count in counts)
    return first_fitting(Answer(out, jobs_text(out)) for out in outs).result()


OFFERS = (
    Offer(memory_save, "Save to memory", writes=True, idempotent=False),
    Offer(memory_jobs, "Background jobs"),
)
