"""A plan that a kill or a disk cut off is gone on with or put back, by one process at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import ConflictError, StorageError
from memory_mcp.curate.plans.plan import references
from memory_mcp.curate.plans.runs import Runs
from memory_mcp.index.view import IndexView
from memory_mcp.notes.lock import locked
from memory_mcp.notes.sources import Source
from tests.curate.plans.promotions import NOTES, promotion, record, state
from tests.curate.world import world

pytestmark = pytest.mark.anyio


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


@pytest.mark.parametrize(
    "spoil",
    [
        lambda other: other.symlink_to("nowhere"),
        lambda other: other.mkdir(),
        lambda other: other.write_text('{"plan": 1e999, "changes": []}\n', encoding="utf-8"),
        lambda other: other.write_bytes(b"\xff\xfe\x00{\n"),
        lambda other: other.write_text(
            '{"plan": 1, "changes": [{"source": "memory", "path": 5, "reference": "",'
            ' "before": null, "after": "x"}]}\n',
            encoding="utf-8",
        ),
        lambda other: other.write_text(
            '{"plan": 1, "changes": [{"source": "memory", "path": "../../../x", "reference": "",'
            ' "before": null, "after": "x"}]}\n',
            encoding="utf-8",
        ),
    ],
    ids=["link to nowhere", "folder", "number", "bytes", "path", "way out of the home"],
)
async def test_what_is_no_record_keeps_no_other_plan_from_being_gone_on_with(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    async with world(tmp_path, NOTES) as there:
        runs = there.curation.runs
        changes = await promotion(there)
        await runs.apply("deep-1", changes)
        after = state(there)
        await runs.restore("deep-1")
        record(there, "undo-deep-1").unlink()
        path = record(there, "deep-1")
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
        spoil(record(there, "a-foreign"))

        assert "deep-1" in await runs.recover()
        assert state(there) == after
        assert not list(tmp_path.rglob("x.md"))  # noqa: ASYNC240
