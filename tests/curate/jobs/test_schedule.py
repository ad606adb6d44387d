"""Passes that begin by the clock."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_mcp.core.config import CurationSettings
from memory_mcp.curate.curation import Curation
from memory_mcp.curate.jobs.journal import Journal
from memory_mcp.curate.jobs.schedule import Due, Schedule, due
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
HOUR = 3600.0


def ago(**period: float) -> str:
    """A time before now."""
    return (NOW - timedelta(**period)).isoformat()


def schedule(made: World, **settings: object) -> Schedule:
    """The schedule of a world."""
    parts = made.curation.parts
    chosen = CurationSettings.model_validate(settings)
    return Schedule(made.jobs, made.clock, chosen, parts.state)


def queue(made: World, name: str, agent: str | None = None) -> Path:
    """A transcript that waits."""
    path = made.curation.parts.state / "transcripts" / "queue" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"path": "/t", "agent": agent}), encoding="utf-8")
    return path


async def test_a_pass_is_due_once_its_period_is_over() -> None:
    settings = CurationSettings(deep_hours=12, lucid_days=7)
    assert due(settings, NOW, {"deep": ago(hours=11), "lucid": ago(days=6)}) == ()
    found = due(settings, NOW, {"deep": ago(hours=12), "lucid": ago(days=7)})
    assert [item.phase for item in found] == ["deep", "lucid"]


async def test_times_that_were_missed_are_caught_up_with_once() -> None:
    found = due(CurationSettings(deep_hours=12, lucid_days=0), NOW, {"deep": ago(days=90)})
    assert found == (Due("deep", f"after-{''.join(filter(str.isalnum, ago(days=90)))}"),)


async def test_a_period_of_nothing_turns_a_pass_off() -> None:
    settings = CurationSettings(deep_hours=0, lucid_days=0, rem=False)
    last = {"deep": ago(days=90), "lucid": ago(days=90)}
    assert due(settings, NOW, last, frozenset({"t 1"})) == ()


async def test_a_time_in_the_future_is_a_wrong_clock() -> None:
    later = (NOW + timedelta(days=400)).isoformat()
    found = due(CurationSettings(), NOW, {"deep": later, "lucid": ago(days=1)})
    assert [item.phase for item in found] == ["deep"]


async def test_a_new_home_begins_one_period_later(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        look = schedule(made, deep_hours=12, lucid_days=0).look
        assert await look() == ()
        made.clock.advance(11 * HOUR)
        assert await look() == ()
        made.clock.advance(HOUR)
        [job] = await look()
        assert made.jobs.list(job)[0].kind == "dream-deep"


async def test_the_times_outlive_the_engine_and_no_job_is_added_twice(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        await schedule(made, lucid_days=0).look()
        made.clock.advance(100 * HOUR)
        state = made.curation.parts.state / "schedule" / "default.json"
        before = state.read_bytes()
        [job] = await schedule(made, lucid_days=0).look()
        assert await schedule(made, lucid_days=0).look() == ()
        state.write_bytes(before)  # killed before it was noted that the job is there
        assert await schedule(made, lucid_days=0).look() == ()
        await made.jobs.cancel(job)
        assert await schedule(made, lucid_days=0).look() == (job,)
        assert [item.job_id for item in made.jobs.list()] == [job]


async def test_a_pass_that_still_runs_is_not_begun_again(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        await schedule(made, lucid_days=0).look()
        await made.jobs.add("dream-deep", {})
        made.clock.advance(100 * HOUR)
        assert await schedule(made, lucid_days=0).look() == ()


async def test_rem_begins_when_a_transcript_waits(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        look = schedule(made).look
        assert await look() == ()
        queue(made, "a")
        [job] = await look()
        assert made.jobs.list(job)[0].kind == "dream-rem"
        await made.jobs.cancel(job)
        assert await look() == ()  # it could not be taken from the queue; not at once again
        queue(made, "b")
        made.clock.advance(1)
        [second] = await look()
        await made.jobs.cancel(second)
        made.clock.advance(6 * HOUR)
        assert len(await look()) == 1


async def test_transcripts_of_another_agent_are_not_ours(tmp_path: Path) -> None:
    async with world(tmp_path) as made:
        queue(made, "a", "somebody")
        assert await schedule(made).look() == ()


async def test_only_a_home_with_a_reasoner_that_may_write_has_a_schedule(tmp_path: Path) -> None:
    reasoner = {"provider": "command", "command": ["true"]}
    journal = Journal(tmp_path / "jobs")
    async with world(tmp_path, settings={"reasoner": reasoner}) as made:
        assert made.curation.schedule is not None
        parts = made.curation.parts
        config = parts.config.model_copy(
            update={"writing": parts.config.writing.model_copy(update={"read_only": True})}
        )
        assert Curation(replace(parts, config=config), journal).schedule is None
    async with world(tmp_path / "none") as made:
        assert made.curation.schedule is None
