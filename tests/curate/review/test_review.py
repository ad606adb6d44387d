"""Reviews: whose they are, how long, and how much they may do."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.core.errors import RefusedError
from memory_mcp.curate.review.end import conclude
from memory_mcp.curate.review.review import CHANGES, MINUTES, Review, Reviews
from tests.curate.world import world
from tests.fakes import FixedClock

ONE, TWO = "a" * 32, "b" * 32


def reviews(tmp_path: Path) -> tuple[Reviews, FixedClock]:
    clock = FixedClock()
    return Reviews(tmp_path / "reviews", clock), clock


def test_a_review_is_open_for_its_session_alone_and_outlives_a_process(tmp_path: Path) -> None:
    kept, clock = reviews(tmp_path)
    with pytest.raises(RefusedError, match=r"No review is open.*dream_review"):
        kept.current(ONE)
    review = kept.start(ONE, "lucid-1")
    again = Reviews(tmp_path / "reviews", clock)
    assert again.current(ONE) == review
    with pytest.raises(RefusedError, match="No review is open"):
        again.current(TWO)


def test_it_expires_and_a_start_in_time_renews_it(tmp_path: Path) -> None:
    kept, clock = reviews(tmp_path)
    first = kept.start(ONE)
    clock.advance(MINUTES * 60 - 1)
    assert kept.current(ONE) == first
    renewed = kept.start(ONE)
    assert renewed.run == first.run
    clock.advance(MINUTES * 60 - 1)
    assert kept.current(ONE) == renewed
    clock.advance(1)
    with pytest.raises(RefusedError, match=r"expired.*action=start"):
        kept.current(ONE)
    assert kept.start(ONE).run != first.run


def test_it_makes_some_changes_until_it_is_started_again(tmp_path: Path) -> None:
    kept, _ = reviews(tmp_path)
    kept.start(ONE)
    for number in range(CHANGES):
        kept.current(ONE)
        kept.changed(ONE, {f"page-{number}": "created"})
    with pytest.raises(RefusedError, match=rf"{CHANGES} changes.*action=start"):
        kept.current(ONE)
    assert kept.start(ONE).left == CHANGES
    assert len(kept.current(ONE).pages) == CHANGES


def test_what_was_created_stays_so_in_the_log(tmp_path: Path) -> None:
    kept, _ = reviews(tmp_path)
    kept.start(ONE)
    kept.changed(ONE, {"a": "created", "b": "changed"})
    assert kept.changed(ONE, {"a": "changed"}).pages == {"a": "created", "b": "changed"}


def test_a_damaged_file_is_no_review_and_old_ones_are_swept(tmp_path: Path) -> None:
    kept, clock = reviews(tmp_path)
    kept.start(ONE)
    file = tmp_path / "reviews" / f"{ONE}.json"
    file.write_text('{"run": 1', encoding="utf-8")
    with pytest.raises(RefusedError):
        kept.current(ONE)
    kept.start(ONE)
    clock.advance(8 * 24 * 3600)
    kept.start(TWO)
    assert not file.exists()


@pytest.mark.anyio
async def test_its_end_is_logged_once_and_is_taken_back_with_it(tmp_path: Path) -> None:
    async with world(tmp_path, {"wiki/tea": "# Tea\n", "wiki/old": "# Old\n"}) as w:
        parts, runs = w.curation.parts, w.curation.runs
        planner = parts.planner()
        await planner.move(planner.page("old"), planner.page("new"))
        await runs.apply("review-1", planner.changes)
        pages = {"tea": "changed", "old": "moved to new", "gone": "deleted"}
        review = Review("review-1", "2026-03-14T10:00:00+00:00", pages=pages)
        await conclude(parts, runs, review, "Tidied\nthe drinks.")
        await conclude(parts, runs, review, "Tidied\nthe drinks.")
        log = w.text("wiki/logs/2026-03")
        assert log.count("review:") == 1
        assert (
            "- 2026-03-14 09:30 review: Tidied the drinks."
            " (changed [[tea]]; moved old → [[new]]; deleted gone)\n"
        ) in log
        assert "[[tea" in w.text("wiki/index")
        await runs.restore("review-1")
        assert not w.file("wiki/logs/2026-03").exists() and not w.file("wiki/index").exists()
        assert w.file("wiki/old").exists() and not w.file("wiki/new").exists()


@pytest.mark.anyio
async def test_one_that_changed_nothing_leaves_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, {"wiki/tea": "# Tea\n"}) as w:
        review = Review("review-1", "2026-03-14T10:00:00+00:00")
        await conclude(w.curation.parts, w.curation.runs, review, "Looked.")
        assert not w.file("wiki/logs/2026-03").exists()


def test_copies_of_a_sync_tool_are_no_reviews(tmp_path: Path) -> None:
    kept, _ = reviews(tmp_path)
    kept.start(ONE)
    copy = tmp_path / "reviews" / f"{ONE} (conflicted copy).json"
    copy.write_bytes((tmp_path / "reviews" / f"{ONE}.json").read_bytes())
    assert kept.start(TWO).run != kept.current(ONE).run
    assert copy.exists()
