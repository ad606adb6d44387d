"""Where a text came from that a model wrote: said in its header, and never lost on the way."""

from __future__ import annotations

from collections.abc import Mapping

from memory_mcp.core import frontmatter
from memory_mcp.core.metadata import metadata
from memory_mcp.core.note import Json
from memory_mcp.curate.plans.plan import Change
from memory_mcp.curate.plans.planner import Planner


def is_outside(data: bytes) -> bool:
    """Whether a note says that its text is from outside: a web page, a compaction, an import."""
    known = metadata(_values(data)).provenance
    return known is not None and not known.trusted


async def sign(planner: Planner, source: Mapping[str, Json]) -> None:
    """Say in each note that a plan creates where it came from, and keep in each that it changes
    what was said there before: a model writes neither away."""
    for change in planner.changes:
        wanted = _wanted(change, source)
        if wanted is not None and change.after is not None:
            text = change.after.decode("utf-8")
            signed = frontmatter.change(text, {"source": wanted})
            await planner.put(change.spot, signed.encode("utf-8"))


def _wanted(change: Change, source: Mapping[str, Json]) -> Json:
    """The `source` that a changed note must have; None where it is right as it is."""
    if change.after is None:
        return None
    now = _values(change.after).get("source")
    if change.before is None:
        said = now if isinstance(now, dict) else {} if now is None else {"kind": now}
        return {**said, **source}
    before = _values(change.before).get("source")
    return before if before is not None and before != now else None


def _values(data: bytes) -> Mapping[str, Json]:
    return frontmatter.split_and_load(data.decode("utf-8", "replace"))[1].values
