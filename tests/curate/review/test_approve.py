"""A finding is carried out once, dismissed once, and can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_mcp.core.errors import ConflictError, RefusedError
from memory_mcp.curate.review.approve import Approvals, run_of
from memory_mcp.curate.review.findings import Finding
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio


def finding(**values: Any) -> Finding:
    header = {
        "finding_id": "f1",
        "kind": "fact",
        "action": "memory_write",
        "reference": "memory/tea",
        "reason": "Said.",
        "arguments": {"slug": "tea", "content": "# Tea\n\nGreen.\n"},
    }
    return Finding(**{**header, **values})


def kept(place: World, *findings: Finding) -> tuple[Approvals, str]:
    dream = place.curation.dreams.add("rem", "2026-03-01", "talk", findings)
    return place.curation.approvals, dream.dream_id


async def test_applying_twice_is_once_and_can_be_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        approvals, dream_id = kept(place, finding(), finding(finding_id="f2"))
        preview = await approvals.preview(dream_id, "f1")
        assert [item.reference for item in preview] == ["memory/tea"]
        assert not place.file("memory/tea").exists()
        first = await approvals.apply(dream_id, "f1")
        text = place.text("memory/tea")
        again = await approvals.apply(dream_id, "f1")
        assert (first.status, first.changed, first.left) == ("applied", ("memory/tea",), 1)
        assert again == first
        assert place.text("memory/tea") == text
        await place.curation.runs.restore(run_of(dream_id, "f1"))
        assert not place.file("memory/tea").exists()


async def test_an_approval_that_a_kill_cut_off_is_finished_once(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        approvals, dream_id = kept(place, finding())
        run = run_of(dream_id, "f1")
        await place.curation.runs.apply(run, await approvals.preview(dream_id, "f1"))
        text = place.text("memory/tea")  # carried out, and killed before it was noted
        done = await approvals.apply(dream_id, "f1")
        assert (done.status, done.changed) == ("applied", ("memory/tea",))
        assert place.text("memory/tea") == text


async def test_a_conflict_leaves_the_finding_pending_and_says_so(tmp_path: Path) -> None:
    notes = {"memory/tea": "# Tea\n\nBlack.\n"}
    gone = finding(
        finding_id="f2",
        action="memory_delete",
        arguments={"slug": "tea", "if_revision": "0123456789ab"},
    )
    async with world(tmp_path, notes) as place:
        approvals, dream_id = kept(place, finding(), gone)
        with pytest.raises(ConflictError, match=r"exists since.* stays pending"):
            await approvals.apply(dream_id, "f1")
        with pytest.raises(ConflictError, match="stays pending"):
            await approvals.apply(dream_id, "f2")
        assert len(place.curation.dreams.get(dream_id).pending) == 2
        assert place.text("memory/tea") == "# Tea\n\nBlack.\n"
        done = await approvals.apply(dream_id, "f1", "I merged it.", resolved_manually=True)
        assert (done.status, done.changed, done.left) == ("applied", (), 1)
        assert place.text("memory/tea") == "# Tea\n\nBlack.\n"


async def test_what_was_decided_is_not_decided_otherwise(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        approvals, dream_id = kept(place, finding(), finding(finding_id="f2"))
        await approvals.apply(dream_id, "f1")
        with pytest.raises(RefusedError, match="restore --run"):
            await approvals.dismiss(dream_id, "f1")
        await approvals.dismiss(dream_id, "f2", "no")
        with pytest.raises(RefusedError, match="was dismissed"):
            await approvals.apply(dream_id, "f2")
        assert (await approvals.dismiss(dream_id)).left == 0
