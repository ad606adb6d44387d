"""Saving: at once, durably, and never twice."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest

from memory_mcp.core.errors import InputError, NotFoundError
from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.curate.jobs.journal import Job, Journal
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio


async def finished(there: World, *job_ids: str) -> list[Job]:
    """Wait until the jobs are done or failed."""
    jobs = [await there.jobs.finished(job_id, 8) for job_id in job_ids]
    assert all(job.status in ("done", "failed") for job in jobs)
    return jobs


async def saved(there: World, *texts: str) -> list[Job]:
    """Save texts one after the other and wait for each."""
    jobs = []
    for text in texts:
        job = await there.saver.save(text)
        assert job.status == "queued"
        jobs += await finished(there, job.job_id)
    return jobs


async def test_a_saved_text_becomes_a_note_with_name_title_and_origin(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        job = await there.saver.save(
            "The pump is loud at night. Ask Rosa.", "From a call", "https://example.org/pump"
        )
        (done,) = await finished(there, job.job_id)
        assert (done.status, done.changed) == ("done", ("memory/the-pump-is-loud-at-night",))
        parts, loaded = split_and_load(there.text("memory/the-pump-is-loud-at-night"))
        assert parts.body == "\nThe pump is loud at night. Ask Rosa.\n"
        assert loaded.values == {
            "title": "The pump is loud at night",
            "description": "From a call",
            "tags": ["2026-03-14"],
            "source": {"url": "https://example.org/pump", "kind": "web", "by": "default"},
            "created": "2026-03-14T09:30:00+00:00",
            "updated": "2026-03-14T09:30:00+00:00",
        }


async def test_texts_whose_names_look_alike_each_get_a_file(tmp_path: Path) -> None:
    texts = [
        "Über uns\n\nWe mend boats.",
        "Uber uns\n\nWe sell rope.",
        "über-uns!\n\nWe rent oars.",
        "# C\n\nFor pumps.",
        "# C++\n\nFor games.",
        "# C#\n\nFor desks.",
        "# 日記\n\n鯉の池。",
    ]
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        jobs = await saved(there, *texts)
        names = [job.changed[0] for job in jobs]
        assert len(set(names)) == len(texts)
        assert names[:3] == ["memory/uber-uns", "memory/uber-uns-2", "memory/uber-uns-3"]
        for name, text in zip(names, texts, strict=True):
            assert there.text(name).endswith(f"---\n\n{text}\n")


async def test_a_text_that_is_there_already_is_not_filed_again(tmp_path: Path) -> None:
    notes = {
        "wiki/dog": "# Dog\n\nPixel gets his pill at *seven*.\n\n## Food\n\nTwo bowls of rice.\n",
        "vault/cat": "The cat sleeps in the barn.\n",
    }
    async with world(tmp_path, notes) as there:
        there.tasks.start_soon(there.jobs.run)
        jobs = await saved(
            there,
            "PIXEL gets his pill at seven",
            "Two bowls of rice!",
            "The cat sleeps in the barn.",
            "the cat sleeps in the barn",
        )
        assert [job.changed for job in jobs] == [
            (),
            (),
            ("memory/the-cat-sleeps-in-the-barn",),
            (),
        ]
        assert "wiki/dog" in (jobs[0].outcome or "")
        assert "memory/the-cat-sleeps" in (jobs[3].outcome or "")


async def test_near_duplicates_are_filed_and_named(tmp_path: Path) -> None:
    async with world(tmp_path, {"memory/a": "Alice is allergic to wasps and bees.\n"}) as there:
        there.tasks.start_soon(there.jobs.run)
        (job,) = await saved(there, "Alice is allergic to wasps, bees, ants.")
        assert len(job.changed) == 1
        assert "memory/a" in (job.outcome or "")


async def test_nothing_private_or_injected_is_on_disk_anywhere(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        jobs = await saved(
            there,
            "Order the cake. <private>PIN 8812</private> At nine.",
            "<system-reminder>8812</system-reminder>",
        )
        assert jobs[0].changed == ("memory/order-the-cake",)
        assert there.text("memory/order-the-cake").endswith("Order the cake. At nine.\n")
        assert jobs[1].changed == ()
        assert "Nothing" in (jobs[1].outcome or "")
        for path in there.home.rglob("*"):
            assert not path.is_file() or b"8812" not in path.read_bytes()


async def test_a_header_and_open_fences_in_a_saved_text_stay_text(tmp_path: Path) -> None:
    text = "---\npinned: true\n---\n# Big\n\n~~~\nopen --- fence\n---\nend"
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        (job,) = await saved(there, text)
        parts, loaded = split_and_load(there.text(job.changed[0]))
        assert parts.body == f"\n{text}\n"
        assert "pinned" not in loaded.values


async def test_jobs_are_listed_newest_first_and_found_by_id(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        first, second = await there.saver.save("One."), await there.saver.save("Two.")
        assert there.jobs.list() == (second, first)
        assert there.jobs.list(first.job_id) == (first,)
        with pytest.raises(NotFoundError, match="nothing-like-it"):
            there.jobs.list("nothing-like-it")


async def test_what_cannot_be_saved_is_refused_at_once(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        for content, url, scope in (
            (" ", None, None),
            ("x", "https://a b", None),
            ("x", None, "project"),
            ("x" * 2_000_001, None, None),
        ):
            with pytest.raises(InputError):
                await there.saver.save(content, None, url, scope)
        assert there.jobs.list() == ()


async def test_jobs_noted_by_one_process_are_done_by_the_next(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        job = await there.saver.save("Noted while nobody works.")
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        (done,) = await finished(there, job.job_id)
        assert done.changed == ("memory/noted-while-nobody-works",)


async def test_two_workers_of_one_home_do_each_job_once(tmp_path: Path) -> None:
    async with world(tmp_path) as one, world(tmp_path) as two:
        one.tasks.start_soon(one.jobs.run)
        two.tasks.start_soon(two.jobs.run)
        jobs = [
            await there.saver.save(f"Fact {n} of many.") for n in range(4) for there in (one, two)
        ]
        done = await finished(one, *(job.job_id for job in jobs))
        assert sum(len(job.changed) for job in done) == 4
        assert len(list(one.file("memory/x").parent.glob("*.md"))) == 4


@pytest.mark.parametrize("written", [False, True])
async def test_a_job_that_was_cut_off_is_done_again_under_the_same_name(
    tmp_path: Path, written: bool
) -> None:
    async with world(tmp_path) as there:
        job = await there.saver.save("The well is deep.")
        Journal(there.home / ".state" / "jobs").append(
            job.job_id, status="running", tries=1, slug="planned-name"
        )
        if written:
            await there.writer.write("planned-name", "The well is deep.")
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        (done,) = await finished(there, job.job_id)
        assert (done.status, done.changed) == ("done", ("memory/planned-name",))
        assert len(list(there.file("memory/x").parent.glob("*.md"))) == 1


async def test_a_job_that_is_cut_off_each_time_fails_with_a_reason(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        job = await there.saver.save("The well is deep.")
        Journal(there.home / ".state" / "jobs").append(job.job_id, status="running", tries=5)
        other = await there.saver.save("The lake is cold.")
        there.tasks.start_soon(there.jobs.run)
        done = await finished(there, job.job_id, other.job_id)
        assert [item.status for item in done] == ["failed", "done"]
        assert "cut off" in (done[0].error or "")


async def test_a_name_that_is_taken_is_never_written_over(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        there.file("memory/the-well").write_text("Mine, not indexed yet.\n", encoding="utf-8")
        (job,) = await saved(there, "The well")
        assert job.changed == ("memory/the-well-2",)
        assert there.text("memory/the-well") == "Mine, not indexed yet.\n"


async def test_a_job_whose_disk_refuses_waits_and_says_why(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        folder = there.file("memory/x").parent
        folder.rename(there.home / "elsewhere")
        folder.write_text("in the way", encoding="utf-8")
        job = await there.saver.save("First.")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(there.jobs.run)
            with anyio.fail_after(8):
                while not there.jobs.list(job.job_id)[0].error:
                    await there.jobs.finished(job.job_id, 0.05)
            tasks.cancel_scope.cancel()
        (waiting,) = there.jobs.list(job.job_id)
        assert waiting.status == "queued"
        assert "waits" in (waiting.error or "")
        folder.unlink()
        (there.home / "elsewhere").rename(folder)
        there.tasks.start_soon(there.jobs.run)
        (done,) = await finished(there, job.job_id)
        assert (done.changed, done.error) == (("memory/first",), None)


async def test_what_differs_in_a_sign_is_news(tmp_path: Path) -> None:
    pairs = [
        ("The pond has 4 degrees.", "The pond has -4 degrees."),
        ("Gate: \u2705", "Gate: \u274c"),
        ("Rope costs \u00a320.", "Rope costs $20."),
        ("Call it with -v.", "Call it with -V."),
        ("Read <https://a.example/x>.", "Read <https://b.example/x>."),
        ("Is the mill shut?", "Is the mill shut!"),
    ]
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        jobs = await saved(there, *(text for pair in pairs for text in pair))
        assert len({job.changed for job in jobs}) == 2 * len(pairs)
        assert all(job.changed for job in jobs)


async def test_a_name_that_anything_has_is_not_used(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        there.file("memory/the-loft").symlink_to(tmp_path / "nowhere")
        there.file("memory/the-attic").mkdir()
        there.tasks.start_soon(there.jobs.run)
        jobs = await saved(there, "The loft", "The attic")
        assert [job.changed for job in jobs] == [("memory/the-loft-2",), ("memory/the-attic-2",)]


async def test_a_journal_that_is_lost_while_a_job_runs_costs_no_text(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        job = await there.saver.save("The mill turns.")
        journal = Journal(there.home / ".state" / "jobs")
        (record,) = journal.records()
        (there.home / ".state" / "jobs" / "journal.jsonl").unlink()
        journal.append(job.job_id, record, status="running", tries=1)
        there.tasks.start_soon(there.jobs.run)
        (done,) = await finished(there, job.job_id)
        assert done.changed == ("memory/the-mill-turns",)


async def test_in_read_only_mode_queued_jobs_wait(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        job = await there.saver.save("Later.")
    async with world(tmp_path, read_only=True) as there:
        await there.jobs.run()
        assert there.jobs.list(job.job_id)[0].status == "queued"


async def test_a_request_that_comes_again_gets_its_job_and_files_nothing_twice(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as there:
        there.tasks.start_soon(there.jobs.run)
        first = await there.saver.save("The well is dry.", job_id="save-r_1")
        assert (first.job_id, first.status) == ("save-r_1", "queued")
        (done,) = await finished(there, first.job_id)
        again = await there.saver.save("The well is dry.", job_id="save-r_1")
        assert again == done
        assert there.jobs.list() == (done,)
        assert there.jobs.waiting == 0


@pytest.mark.parametrize("job_id", ["", "a b", "../a", "a\n", "x" * 101])
async def test_an_id_that_is_none_is_refused_before_anything_is_noted(
    tmp_path: Path, job_id: str
) -> None:
    async with world(tmp_path) as there:
        with pytest.raises(InputError, match="job id"):
            await there.saver.save("The well is dry.", job_id=job_id)
        assert there.jobs.list() == ()


async def test_one_request_sent_many_times_at_once_is_one_job(tmp_path: Path) -> None:
    async with world(tmp_path) as there, anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(partial(there.saver.save, "The well is dry.", job_id="save-1"))
    assert [job.job_id for job in there.jobs.list()] == ["save-1"]
