"""Notes that contradict or replace each other are shown with the other side."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.note import Card
from memory_mcp.search.hit import Hit, side_by_side
from tests.server.worlds import talking, world

pytestmark = pytest.mark.anyio

NOTES = {
    "memory/valve.md": "# Valve\n\nThe boiler valve is V7, says the plumber.\n",
    "memory/boiler.md": "---\ncontradicts: valve\n---\n# Boiler\n\nThe boiler valve is V9.\n",
    "memory/old.md": "# Old\n\nThe boiler is in the attic.\n",
    "memory/new.md": "---\nsupersedes: old\n---\n# New\n\nThe boiler is in the cellar.\n",
}


async def test_a_hit_names_the_other_side_and_stands_beside_it(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there, talking(there) as talk:
        found = await talk.done("memory_search", query="boiler valve plumber")
        order = [hit["reference"] for hit in found["hits"]]
        assert abs(order.index("memory/valve") - order.index("memory/boiler")) == 1
        text = await talk.text("memory_search", query="boiler valve plumber")
        assert "· contradicts `memory/boiler`" in text and "· contradicts `memory/valve`" in text
        assert "· replaces `memory/old`" in text and "· superseded by `memory/new`" in text
        recalled = await talk.done(
            "memory_recall", message="Which boiler valve did the plumber name?"
        )
        assert "contradicts=memory/boiler" in recalled["block"]


def hit(name: str, *others: str) -> Hit:
    card = Card("memory", name, "0" * 12, 1, name, "")
    return Hit(card, 0.5, None, 0.5, (), contradicts=tuple(f"memory/{other}" for other in others))


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdefg")), max_size=6))
def test_every_hit_stays_and_those_without_a_contradiction_keep_their_order(
    given_hits: dict[str, set[str]],
) -> None:
    hits = [hit(name, *sorted(others)) for name, others in given_hits.items()]
    placed = side_by_side(hits)
    assert sorted(h.card.path for h in placed) == sorted(given_hits)
    named = {name for others in given_hits.values() for name in others}
    alone = [name for name, others in given_hits.items() if not others and name not in named]
    assert [h.card.path for h in placed if h.card.path in alone] == alone
