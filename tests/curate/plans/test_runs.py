"""A plan is carried out whole or not at all, goes on after a kill, and can be taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import ConflictError, NotFoundError, RefusedError, StorageError
from memory_mcp.curate.plans.plan import Change, references, unified_diff
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.index.view import IndexView
from memory_mcp.notes.lock import locked
from memory_mcp.notes.sources import Source
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio

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


class Refusing(IndexView):
    """An index at whose refresh, right after a note was written, the disk begins to refuse."""

    def __init__(self, view: IndexView, refuse: Callable[[], object]) -> None:
        vars(self).update(vars(view))
        self.refuse = refuse

    async def refresh(self, source: Source, path: str) -> None:
        """Take the note in, then refuse."""
        await super().refresh(source, path)
        self.refuse()


def protect(*paths: Path) -> None:
    for path in paths:
        path.chmod(0o444)


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


@pytest.mark.parametrize("made", range(4))
async def test_a_plan_that_a_kill_cut_off_is_gone_on_with(tmp_path: Path, made: int) -> None:
    """The record is there, and so many of the files had been changed."""
    async with world(tmp_path, NOTES) as there:
        before, runs = state(there), there.curation.runs
        changes = await promotion(there)
        await runs.apply("deep-1", changes)
        after = state(there)
        await runs.restore("deep-1")
        record(there, "undo-deep-1").unlink()  # as if it had never been taken back
        path = record(there, "deep-1")
        first, _ = path.read_text(encoding="utf-8").splitlines()
        path.write_text(f'{first}\n{{"plan": 1, "en', encoding="utf-8")  # cut while it was written
        for change in changes[:made]:
            there.file(change.reference).unlink(missing_ok=True)
            if change.after is not None:
                there.file(change.reference).write_bytes(change.after)

        assert await runs.recover() == ("deep-1",)
        assert state(there) == after
        assert await runs.recover() == ()
        assert set(await runs.changed("deep-1")) == set(references(changes))
        await runs.restore("deep-1")
        assert state(there) == before


async def test_what_another_process_left_is_gone_on_with_while_jobs_are_done(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, NOTES) as there:
        runs = there.curation.runs
        changes = await promotion(there)
        await runs.apply("import-1", changes)
        after = state(there)
        await runs.restore("import-1")
        begun = record(there, "import-1").read_bytes().splitlines(keepends=True)[0]
        for run in ("import-1", "undo-import-1"):
            record(there, run).unlink()
        there.tasks.start_soon(there.curation.run, 0.05)
        job = await there.saver.save("Rosa keeps bees in Linz since 2019.")
        await there.jobs.finished(job.job_id, 9)  # all that is done at a start was done

        after |= {path: data for path, data in state(there).items() if "rosa" in path}
        record(there, "import-1").write_bytes(begun)  # and then a kill
        with anyio.fail_after(9):
            while await runs.changed("import-1") != references(changes):
                await anyio.lowlevel.checkpoint()
        assert state(there) == after


async def test_what_another_process_is_carrying_out_is_left_to_it(tmp_path: Path) -> None:
    """A record without its end is no sign of a kill while the lock of its run is held."""
    async with world(tmp_path, NOTES) as there:
        runs, parts = there.curation.runs, there.curation.parts
        await runs.apply("deep-1", await promotion(there))
        path = record(there, "deep-1")
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
        with locked(next(there.history.locks.glob("run-*.lock")), "the run deep-1"):
            other = Runs(path.parent, there.history, parts.index, there.clock, read_only=False)
            assert await other.recover() == ()
        assert await runs.recover() == ("deep-1",)


async def test_a_cut_off_plan_whose_note_was_changed_since_is_put_back(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        before, runs = state(there), there.curation.runs
        changes = await promotion(there)
        await runs.apply("deep-1", changes)
        await runs.restore("deep-1")
        path = record(there, "deep-1")
        first, _ = path.read_text(encoding="utf-8").splitlines()
        path.write_text(first + "\n", encoding="utf-8")
        page = changes[0]
        assert page.after is not None
        there.file(page.reference).write_bytes(page.after)
        there.file("memory/hedge").write_text("The hedge is yew.\n", encoding="utf-8")

        await runs.recover()
        now = state(there)
        assert now.pop(str(there.file("memory/hedge"))) == b"The hedge is yew.\n"
        before.pop(str(there.file("memory/hedge")))
        assert now == before
        assert await runs.changed("deep-1") == ()


async def test_a_cut_off_run_that_was_taken_back_stays_taken_back(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        runs, before = there.curation.runs, state(there)
        changes = await promotion(there)
        await runs.apply("deep-1", changes)
        path = record(there, "deep-1")
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])  # killed before its end
        await runs.restore("deep-1")
        assert state(there) == before
        await runs.recover()
        assert state(there) == before


async def test_a_plan_that_was_cut_off_ends_before_the_next_of_its_run_begins(
    tmp_path: Path,
) -> None:
    """So the last line of a record tells whether anything is open."""
    async with world(tmp_path, NOTES) as there:
        runs = there.curation.runs
        await runs.apply("deep-1", await promotion(there))
        path = record(there, "deep-1")
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
        planner = there.curation.parts.planner()
        await planner.edit(planner.page("garden"), EditRequest(append="And a pond."))
        await runs.apply("deep-1", planner.changes)
        ends = [
            (line["plan"], line["end"])
            for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())
            if "end" in line
        ]
        assert ends == [(1, "done"), (2, "done")]


async def test_of_a_run_that_has_ended_only_the_last_line_is_looked_at(tmp_path: Path) -> None:
    async with world(tmp_path, NOTES) as there:
        await there.curation.runs.apply("deep-1", await promotion(there))
        path = record(there, "deep-1")
        first, last = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(first + b'{"plan": 9, "end": "done"}\n')
        assert await there.curation.runs.recover() == ()
        path.write_bytes(first + last[:-4])  # cut while it was written
        assert await there.curation.runs.recover() == ("deep-1",)
        assert await there.curation.runs.recover() == ()


async def test_what_a_disk_refused_to_end_is_ended_before_others_build_upon_it(
    tmp_path: Path,
) -> None:
    """The disk refuses the second note of a plan, and also to put back the first."""
    async with world(tmp_path, NOTES) as there:
        parts, at = there.curation.parts, there.home / ".history" / ".runs"
        page, log = there.file("wiki/garden"), there.file("wiki/logs/2026-05")
        log.parent.mkdir(parents=True)
        log.write_bytes(b"# Log\n")
        refusing = Refusing(parts.index, partial(protect, page, log))
        runs = Runs(at, there.history, refusing, there.clock, read_only=False)
        planner = parts.planner()
        await planner.edit(planner.page("garden"), EditRequest(append="The hedge is hornbeam."))
        await planner.edit(planner.page("logs/2026-05"), EditRequest(append="- hedge"))
        with pytest.raises(StorageError):
            await runs.apply("deep-1", planner.changes)
        assert "hornbeam" in there.text("wiki/garden") and "hedge" not in log.read_text("utf-8")

        refusing.refuse = list
        for item in (page, log):
            item.chmod(0o644)
        planner = parts.planner()
        await planner.edit(planner.page("logs/2026-05"), EditRequest(append="- another"))
        with pytest.raises(ConflictError):  # the plan before is ended, and this one is too old
            await runs.apply("deep-2", planner.changes)
        assert "- hedge" in log.read_text("utf-8")
        log.write_bytes(log.read_bytes() + b"- by hand\n")
        after = state(there)
        again = Runs(at, there.history, parts.index, there.clock, read_only=False)
        assert await again.recover() == ()
        assert state(there) == after


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
