"""What a call is about to change, noted before it does so: by that `repeats` answers a repeat."""

from __future__ import annotations

from memory_mcp.curate.write.step import Step
from memory_mcp.server.calls import ToolContext
from memory_mcp.server.ledger import Intention, digest_of_bytes, key_of, time_text
from memory_mcp.server.session import connection_of


def intend(
    ctx: ToolContext, tool: str, step: Step, *, whole: bool, also: tuple[str, ...] = ()
) -> None:
    """Note what a call is about to do, where a repeat of it may come. `whole`: the caller knows
    all of the new text; `also`: other notes that the change names. Blocking, briefly."""
    request = ctx.request_context
    connection = connection_of(request)
    if connection.ledger is None or request.request_id is None:
        return
    kept = connection.app.keeping(project=step.project).history.newest(step.reference)
    intention = Intention(
        tool=tool,
        reference=step.reference,
        before=digest_of_bytes(step.before),
        after=digest_of_bytes(step.after),
        kept=None if kept is None else time_text(kept),
        whole=whole,
        warnings=step.warnings,
        project=step.project,
        also=also,
    )
    connection.ledger.intend(key_of(request.request_id), intention)
