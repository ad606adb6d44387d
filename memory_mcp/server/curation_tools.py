"""The tools by which an agent has memory put in order."""

from __future__ import annotations

from typing import Annotated

import mcp_types as t
from pydantic import Field

from memory_mcp.curate.jobs.kinds import MOST_DAYS
from memory_mcp.server.answers import Answer
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.session import connection_of
from memory_mcp.server.text_curation import enrich_text
from memory_mcp.server.wire_curation import RunOut


async def memory_enrich(
    ctx: ToolContext,
    focus: Annotated[
        str | None, Field(description="only notes about this; all of the inbox without it")
    ] = None,
    delete_older_than_days: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_DAYS,
            description="put away conversations older than this, of configured folders only, once"
            " all that was found in them is decided; 0: none",
        ),
    ] = 0,
) -> Annotated[t.CallToolResult, RunOut]:
    """Put memory in order behind: distil conversations, file the inbox into the wiki, take out
    copies, build the index anew. Returns at once; memory_jobs tells what became of it.
    """
    connection = connection_of(ctx.request_context)
    call = connection.call(ctx.request_context.request_id)
    mark = None if call is None else call.job_id.rpartition("-")[2]
    enrich = connection.app.curation.enrich
    job = await enrich.add(focus, delete_older_than_days, mark=mark)
    out = RunOut(job_id=job.job_id, status=job.status)
    return Answer(out, enrich_text(out)).result()


OFFERS = (
    Offer(memory_enrich, "Put memory in order", writes=True, idempotent=False, tools="curation"),
)
