"""The journal of jobs: durable, shared, and forgiving."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from filelock import FileLock

from memory_mcp.core.errors import StorageError
from memory_mcp.curate.jobs import journal as journal_module
from memory_mcp.curate.jobs.journal import KEEP, Job, Journal

AT = "2026-03-14T09:30:00+00:00"


def queue(journal: Journal, job_id: str, content: str = "text") -> None:
    journal.append(job_id, kind="save", status="queued", created=AT, request={"content": content})


def test_a_job_and_its_changes_are_there_for_another_reader(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "jobs")
    queue(journal, "a", "ünï\ncode")
    journal.append("a", status="running", tries=1)
    journal.append("a", slug="x")
    journal.append("a", status="done", outcome="Filed.", changed=["memory/x"], finished=AT)
    (record,) = Journal(tmp_path / "jobs").records()
    assert record.job == Job("a", "save", "done", AT, "Filed.", ("memory/x",), None, AT)
    assert (record.slug, record.tries) == ("x", 1)
    assert record.request == {"content": "ünï\ncode"}


def test_readers_see_what_others_append_later(tmp_path: Path) -> None:
    first, second = Journal(tmp_path), Journal(tmp_path)
    assert second.records() == ()
    queue(first, "a")
    assert [record.job.job_id for record in second.records()] == ["a"]
    second.append("a", status="running", tries=1)
    assert first.records()[0].job.status == "running"


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_that_was_cut_costs_nothing_but_itself(tmp_path: Path, cut: int) -> None:
    journal = Journal(tmp_path)
    queue(journal, "a")
    queue(journal, "b")
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal(tmp_path)
    assert [record.job.job_id for record in again.records()] == ["a"]
    queue(again, "c")
    assert [record.job.job_id for record in Journal(tmp_path).records()][:1] == ["a"]
    assert [record.job.job_id for record in Journal(tmp_path).records()][-1] == "c"


def test_lines_that_are_no_records_are_skipped(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    queue(journal, "a")
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'\xff\xfe\n{}\n[1]\n{"job_id": "z"}\n{"job_id": "a", "status": "odd"}\n\n')
    assert [record.job.status for record in Journal(tmp_path).records()] == ["queued"]


def test_the_journal_is_for_the_owner_only(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "jobs")
    queue(journal, "a")
    assert (tmp_path / "jobs").stat().st_mode & 0o077 == 0
    assert (tmp_path / "jobs" / "journal.jsonl").stat().st_mode & 0o077 == 0


def test_appends_of_many_threads_all_arrive(tmp_path: Path) -> None:
    def work(name: str) -> None:
        journal = Journal(tmp_path)
        for number in range(10):
            queue(journal, f"{name}-{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Journal(tmp_path).records()) == 40


def test_a_large_journal_is_rewritten_without_losing_open_jobs(tmp_path: Path) -> None:
    journal, other = Journal(tmp_path), Journal(tmp_path)
    queue(journal, "open")
    size = journal_module._MAX_BYTES // (KEEP + 10) + 1
    for number in range(KEEP + 10):
        queue(journal, f"job-{number}", "x" * size)
        journal.append(f"job-{number}", status="done", finished=AT)
    assert len(other.records()) == KEEP + 11
    journal.compact()
    assert (tmp_path / "journal.jsonl").stat().st_size < journal_module._MAX_BYTES // 5
    for reader in (journal, other, Journal(tmp_path)):
        ids = [record.job.job_id for record in reader.records()]
        assert ids == ["open", *(f"job-{number}" for number in range(10, KEEP + 10))]
    assert other.records()[0].request == {"content": "text"}


def test_texts_of_failed_jobs_outlive_the_rewriting(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    queue(journal, "lost", "the only copy")
    journal.append("lost", status="failed", error="why", finished=AT)
    size = journal_module._MAX_BYTES // (KEEP + 1) + 1
    for number in range(KEEP + 1):
        queue(journal, f"job-{number}", "x" * size)
        journal.append(f"job-{number}", status="done", finished=AT)
    journal.compact()
    first = Journal(tmp_path).records()[0]
    assert (first.job.job_id, first.request) == ("lost", {"content": "the only copy"})


def test_a_line_that_is_nested_without_end_is_skipped(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    queue(journal, "a")
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b"[" * 100_000 + b"\n")
    queue(journal, "b")
    assert [record.job.job_id for record in Journal(tmp_path).records()] == ["a", "b"]


def test_a_job_that_the_file_does_not_know_is_written_again_or_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    queue(journal, "a", "words")
    (known,) = journal.records()
    (tmp_path / "journal.jsonl").unlink()
    with pytest.raises(StorageError, match="damaged"):
        journal.append("a", status="running")
    assert journal.append("a", known, status="running").request == {"content": "words"}
    assert [record.job.status for record in Journal(tmp_path).records()] == ["running"]


def test_a_disk_that_refuses_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file", encoding="utf-8")
    with pytest.raises(StorageError, match="jobs"):
        queue(Journal(tmp_path / "jobs"), "a")


def test_a_job_that_is_noted_again_stays_as_it_is(tmp_path: Path) -> None:
    first, second = Journal(tmp_path), Journal(tmp_path)
    first.add("a", kind="save", agent="rook", created="2026-01-01", request={"content": "x"})
    first.append("a", status="done", outcome="Filed.")
    again = second.add("a", kind="save", agent="jay", created="2027-01-01", request={})
    assert (again.agent, again.job.status, again.job.created) == ("rook", "done", "2026-01-01")


def test_a_job_keeps_its_agent_through_changes_and_compaction(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for number in range(3):
        journal.add(
            str(number), kind="save", agent="jay", created="-", request={"c": "x" * 500_000}
        )
        journal.append(str(number), status="running")
    journal.compact()
    assert {record.agent for record in Journal(tmp_path).records()} == {"jay"}


def test_many_jobs_of_one_agent_push_no_other_agents_jobs_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add("first", kind="save", agent="jay", created="-", request={"c": "x" * 1_100_000})
    journal.append("first", status="done")
    lines = (
        f'{{"job_id":"r{number}","kind":"save","agent":"rook","created":"-","request":{{}},'
        '"status":"done"}\n'
        for number in range(KEEP + 5)
    )
    with (tmp_path / "journal.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(lines)
    journal.compact()
    kept = [record.job.job_id for record in Journal(tmp_path).records()]
    assert kept[0] == "first"
    assert len(kept) == KEEP + 1
    assert "r0" not in kept


def test_who_is_worked_for_is_not_left(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for agent in ("jay", "Jay", "rook"):
        journal.add(f"job-{agent}", kind="save", agent=agent, created="-", request={})
    journal.append("job-rook", status="done")
    with FileLock(journal.lock_path("jay")):
        assert Journal(tmp_path).owners_left() == {("Jay", None)}
    assert journal.owners_left() == {("jay", None), ("Jay", None)}
