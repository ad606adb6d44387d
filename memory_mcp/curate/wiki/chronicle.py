"""What the wiki says of itself: the monthly log and the index, planned with what they tell of."""

from __future__ import annotations

from collections.abc import Sequence

from memory_mcp.core.note import Card
from memory_mcp.core.parse import parse
from memory_mcp.curate.parts import Parts
from memory_mcp.curate.plans.plan import Change
from memory_mcp.curate.plans.planner import WIKI, Planner
from memory_mcp.curate.wiki.index_page import index_page
from memory_mcp.curate.wiki.page_log import Logged, log_path, logged
from memory_mcp.curate.wiki.page_names import INDEX, is_own
from memory_mcp.notes.sources import Source


async def plan_log(parts: Parts, planner: Planner, done: Sequence[Logged]) -> None:
    """Plan a line for each page in this month's log."""
    if not done:
        return
    now = parts.clock.now()
    spot = planner.page(log_path(now))
    current = await planner.read(spot)
    old = None if current is None else current.decode("utf-8", "surrogateescape")
    text = logged(old, now, done, parts.config.curation.language)
    await planner.put(spot, text.encode("utf-8", "surrogateescape"), reason="log")


async def plan_index(parts: Parts, planner: Planner) -> None:
    """Plan the index as it is to be with all that is planned. An empty wiki gets none."""
    wiki = next((source for source in parts.index.sources if source.kind == WIKI), None)
    if wiki is None:
        return
    spot = planner.page(INDEX)
    current = await planner.read(spot)
    cards = _cards(parts, wiki, planner.changes)
    if current is None and all(is_own(card.path) for card in cards):
        return
    old = None if current is None else current.decode("utf-8", "surrogateescape")
    text = index_page(old, cards, parts.config.curation.language)
    if text is not None:
        await planner.put(spot, text.encode("utf-8", "surrogateescape"), reason="index")


def _cards(parts: Parts, wiki: Source, changes: Sequence[Change]) -> list[Card]:
    """The pages as they will be."""
    known = {entry.card.path: entry.card for entry in parts.index.entries((wiki.id,))}
    for change in changes:
        if change.spot.source.id != wiki.id:
            continue
        known.pop(change.spot.path, None)
        if change.after is not None:
            path, chunking = change.spot.path, parts.config.chunking
            known[path] = parse(wiki.name, wiki.kind, path, change.after, "", chunking).card
    return list(known.values())
