"""What memory holds already of a text that is saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.curate.compare.held import held, nearest
from memory_mcp.index.view import IndexView
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio

NOTES = {
    "memory/kim-diet": "---\ntitle: What Kim eats\n---\nKim eats fish on Fridays.\n",
    "wiki/house": "# House\n\n## Boiler\n\nThe boiler was serviced on 12 March 2026 by Hallam.\n\n"
    "## Key\n\nThe spare key hangs in the cellar.\n",
    "memory/old-port": "The database listens on port 5432.\n",
    "memory/new-port": "---\nsupersedes: memory/old-port\n---\nThe database port is 5433.\n",
    "vault/cat": "The cat sleeps in the barn.\n",
}


def view(there: World) -> IndexView:
    """All of the memory."""
    return IndexView(there.index, there.index.sources)


async def saved(there: World, text: str) -> tuple[str, tuple[str, ...]]:
    """Save a text: what is said about it, and what changed."""
    job = await there.saver.save(text)
    done = await there.jobs.finished(job.job_id, 8)
    assert done.status == "done"
    return done.outcome or "", done.changed


async def test_a_text_that_stands_there_in_other_writing_is_not_filed_again(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, NOTES) as there:
        there.tasks.start_soon(there.jobs.run)
        outcome, changed = await saved(there, "Boiler: serviced on 2026-03-12 by Hallam.")
        assert changed == ("memory/boiler-serviced-on-2026-03-12-by-hallam",)
        outcome, changed = await saved(there, "Boiler: serviced by Hallam on 12 March 2026.")
        assert changed == ()
        assert outcome == (
            "Nothing new: memory/boiler-serviced-on-2026-03-12-by-hallam says it already."
        )


async def test_another_value_is_filed_and_the_contradiction_named(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        there.tasks.start_soon(there.jobs.run)
        outcome, changed = await saved(there, "Kim eats no fish on Fridays.")
        assert changed == ("memory/kim-eats-no-fish-on-fridays",)
        assert "It may contradict memory/kim-diet: “Kim eats fish on Fridays.”" in outcome


async def test_a_new_fact_is_filed_and_what_is_new_named(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        there.tasks.start_soon(there.jobs.run)
        text = "The boiler was serviced on 12 March 2026 by Hallam, invoice HX-77."
        outcome, changed = await saved(there, text)
        assert len(changed) == 1
        assert "wiki/house is near; new to it: invoice, HX-77." in outcome


async def test_what_was_replaced_is_news_when_it_is_said_again(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        there.tasks.start_soon(there.jobs.run)
        text = "The database listens on port 5432."
        (item,) = [x for x in await nearest(view(there), text) if x.novelty.kind == "same"]
        assert (item.reference, item.superseded_by) == ("memory/old-port", "memory/new-port")
        _, changed = await saved(there, text)
        assert len(changed) == 1


async def test_vaults_and_other_subjects_are_not_held(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        assert (await held(view(there), "The cat sleeps in the barn.")).same is None
        assert await nearest(view(there), "  ") == ()
        found = await nearest(view(there), "Granite weighs 2,700 kg per cubic metre.")
        assert [item.reference for item in found] == []


async def test_long_texts_are_the_same_only_where_they_are_equal(tmp_path: Path) -> None:
    long = "\n\n".join(f"Row {n} of the ledger names {n * 7} goats." for n in range(900))
    async with world(tmp_path, {"memory/ledger": long}) as there:
        assert (await held(view(there), long)).same == "memory/ledger"
        assert (await held(view(there), f"{long}\n\nAnd one cow.")).same is None
        assert (await held(view(there), "Row 899 of the ledger names 6294 goats.")).same is None


async def test_today_and_tomorrow_are_other_days_when_they_are_said_again(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/plumber": "The plumber comes tomorrow.\n"}) as there:
        standing = await held(view(there), "The plumber comes tomorrow.")
        assert standing.same is None
        assert standing.told == "memory/plumber says the same, perhaps of another day."


async def test_what_stands_under_a_heading_that_takes_it_back_is_not_held(tmp_path: Path) -> None:
    note = "# Boat\n\n## Rejected\n\nPaint it red.\n\n## Sails\n\nThe jib is torn.\n"
    async with world(tmp_path, {"wiki/boat": note}) as there:
        assert (await held(view(there), "Paint it red.")).same is None
        assert (await held(view(there), "The jib is torn.")).same == "wiki/boat"
