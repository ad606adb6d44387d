"""A plan is carried out whole or not at all, and can be taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import ConflictError, NotFoundError, RefusedError, StorageError
from memory_mcp.curate.plans.plan import references, unified_diff
from tests.curate.plans.promotions import NOTES, promotion, record, state
from tests.curate.world import world

pytestmark = pytest.mark.anyio


async def test_a_plan_touches_nothing_until_it_is_carried_out(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        before = state(there)
        changes = await promotion(there)
        assert state(there) == before
        assert references(changes) == ("wiki/garden", "wiki/logs/2026-05", "memory/hedge")
        diff = unified_diff(changes)
        assert "+++ b/wiki/garden.md" in diff and "+The hedge is hornbeam" in diff
        assert "+++ /dev/null" in diff and "--- /dev/null" in diff

        changed = await there.curation.runs.apply("deep-1", changes)
        assert changed == references(changes)
        assert "hornbeam" in there.text("wiki/garden")
        assert not there.file("memory/hedge").exists()


async def test_a_run_of_several_plans_is_taken_back_byte_for_byte(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        before, runs = state(there), there.curation.runs
        await runs.apply("deep-1", await promotion(there))
        planner = there.curation.parts.planner()
        await planner.edit(planner.page("garden"), EditRequest(append="And a pond."))
        await planner.put(planner.page("bytes"), b"\xfe\x00other bytes")
        await runs.apply("deep-1", planner.changes)
        after = state(there)

        back = await runs.restore("deep-1")
        assert set(back) == {"wiki/garden", "wiki/logs/2026-05", "memory/hedge", "wiki/bytes"}
        assert state(there) == before
        assert await runs.restore("deep-1") == (), "taken back twice is once"

        await runs.restore("undo-deep-1")
        assert state(there) == after, "taking back can be taken back, too"


async def test_a_note_that_changed_meanwhile_stops_the_whole_plan(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        changes = await promotion(there)
        there.file("memory/hedge").write_text("The hedge is yew.\n", encoding="utf-8")
        before = state(there)
        with pytest.raises(ConflictError, match="memory/hedge"):
            await there.curation.runs.apply("deep-1", changes)
        assert state(there) == before
        assert not record(there, "deep-1").exists()


async def test_taking_back_can_be_taken_back_again_and_again(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        runs, before = there.curation.runs, state(there)
        await runs.apply("deep-1", await promotion(there))
        after = state(there)
        for _ in range(3):
            await runs.restore("deep-1")
            assert state(there) == before
            await runs.restore("undo-deep-1")
            assert state(there) == after


async def test_what_somebody_changed_since_is_not_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        await there.curation.runs.apply("deep-1", await promotion(there))
        there.file("wiki/garden").write_text("Mine now.\n", encoding="utf-8")
        before = state(there)
        with pytest.raises(ConflictError, match="wiki/garden"):
            await there.curation.runs.restore("deep-1")
        assert state(there) == before


async def test_what_somebody_changed_in_between_is_not_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        runs = there.curation.runs
        await runs.apply("deep-1", await promotion(there))
        there.file("wiki/garden").write_text("Mine now.\n", encoding="utf-8")
        planner = there.curation.parts.planner()
        await planner.edit(planner.page("garden"), EditRequest(append="And a pond."))
        await runs.apply("deep-1", planner.changes)
        before = state(there)
        with pytest.raises(ConflictError, match="somebody else"):
            await runs.restore("deep-1")
        assert state(there) == before


async def test_what_was_taken_back_can_be_done_and_taken_back_again(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        before, runs = state(there), there.curation.runs
        changes = await promotion(there)
        done = set(await runs.apply("deep-1", changes))
        after = state(there)
        for _ in range(3):
            assert set(await runs.restore("deep-1")) == done
            assert (state(there), await runs.changed("deep-1")) == (before, ())
            assert await runs.restore("deep-1") == ()
            assert set(await runs.restore("undo-deep-1")) == done
            assert (state(there), set(await runs.changed("deep-1"))) == (after, done)
        await runs.restore("deep-1")
        await runs.apply("deep-1", changes)
        assert (state(there), set(await runs.changed("deep-1"))) == (after, done)
        await runs.restore("deep-1")
        assert (state(there), await runs.changed("deep-1")) == (before, ())


async def test_a_run_that_was_taken_back_by_hand_is_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        runs = there.curation.runs
        changes = await promotion(there)
        await runs.apply("deep-1", changes)
        for change in changes:
            there.file(change.reference).unlink(missing_ok=True)
            if change.before is not None:
                there.file(change.reference).write_bytes(change.before)
        assert await runs.restore("deep-1") == ()
        assert await runs.changed("deep-1") == ()


async def test_an_unknown_run_and_a_read_only_memory_are_named(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        with pytest.raises(NotFoundError, match="no-such-run"):
            await there.curation.runs.restore("no-such-run")
    async with world(tmp_path / "ro", NOTES, read_only=True) as there:
        with pytest.raises(RefusedError, match="read-only"):
            await there.curation.runs.apply("x", ())


async def test_the_record_tells_whose_notes_it_holds(tmp_path: Path) -> None:
    """A run of another agent's inbox is neither taken back nor gone on with from here."""
    async with world(tmp_path, NOTES) as there:
        await there.curation.runs.apply("deep-1", await promotion(there))
        path = record(there, "deep-1")
        first, _ = path.read_text(encoding="utf-8").splitlines()
        line = json.loads(first)
        for change in line["changes"]:
            change["source"] = change["source"].replace("memory:default", "memory:jay")
        path.write_text(json.dumps(line) + "\n", encoding="utf-8")
        assert any(c["source"] == "memory:jay" for c in line["changes"])
        assert await there.curation.runs.recover() == ()
        with pytest.raises(Exception, match="another agent"):
            await there.curation.runs.restore("deep-1")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("deep-1 (conflicted copy)", b'{"plan": 1, "changes": []}\n'),
        ("deep-1.sync-conflict-20261130-101010", b'{"plan": 1, "changes": []}\n'),
        ("._deep-1", b"\0\5"),
        ("deep-1", b'{"plan": "x"}\n'),
        ("deep-1", b'{"plan": null, "changes": []}\n'),
        ("deep-1", b'{"plan": 1, "changes": 5}\n'),
        ("deep-1", b'{"plan": 1, "changes": [5]}\n'),
        ("deep-1", b'{"plan": 1, "changes": [{"source": "wiki"}]}\n'),
        ("deep-1", b"[" * 100_000 + b"\n"),
    ],
)
async def test_an_odd_or_damaged_record_stops_no_work(
    tmp_path: Path, name: str, data: bytes
) -> None:
    async with world(tmp_path, NOTES) as there:
        path = record(there, name)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        there.tasks.start_soon(there.curation.run)
        job = await there.saver.save("Rosa keeps bees in Linz since 2019.")
        done = await there.jobs.finished(job.job_id, 9)
        assert (done.status, done.error) == ("done", None)
        assert path.read_bytes() == data


async def test_a_damaged_record_is_named_where_its_run_is_to_be_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        record(there, "deep-1").parent.mkdir(parents=True)
        record(there, "deep-1").write_bytes(b'{"plan": 1, "changes": [{"source": "wiki"}]}\n')
        with pytest.raises(StorageError, match=r"deep-1 was damaged.*memory-mcp history"):
            await there.curation.runs.restore("deep-1")
