"""A plan that takes an inbox note over into the wiki, and what one sees of it on disk."""

from __future__ import annotations

from pathlib import Path

from memory_mcp.core.edit import EditRequest
from memory_mcp.curate.plans.plan import Change
from tests.curate.world import World

NOTES: dict[str, str | bytes] = {
    "memory/hedge": "---\ntags: [garden]\n---\nThe hedge is hornbeam, planted 2011.\n",
    "wiki/garden": "# Garden\r\n\r\nThe lawn is moss.\r\n",
    "wiki/bytes": b"\xff\xfe are no UTF-8\n",
}


async def promotion(there: World) -> tuple[Change, ...]:
    """The hedge goes to the page, a log is begun, and the inbox note goes."""
    planner = there.curation.parts.planner()
    page = planner.page("garden")
    await planner.edit(page, EditRequest(append="The hedge is hornbeam, planted 2011."))
    await planner.write(planner.page("logs/2026-05"), "- hedge → [[garden]]", reason="log")
    await planner.delete(planner.note("hedge"), reason="it is on wiki/garden")
    return planner.changes


def state(there: World) -> dict[str, bytes]:
    """All notes as they are on disk."""
    roots = [there.file("memory/x").parent, there.file("wiki/x").parent]
    return {str(p): p.read_bytes() for root in roots for p in sorted(root.rglob("*.md"))}


def record(there: World, run: str) -> Path:
    return there.home / ".history" / ".runs" / f"{run}.jsonl"
