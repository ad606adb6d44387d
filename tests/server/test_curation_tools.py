"""Putting memory in order, asked for by a client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.worlds import MODES, talking, world

pytestmark = pytest.mark.anyio

TOOLS: Any = ("core", "curation")


@pytest.mark.parametrize("mode", MODES)
async def test_enriching_is_a_job_that_says_what_it_did(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path, tools=TOOLS) as there, talking(there, mode) as talk:
        await talk.done("memory_write", slug="hedge", content="The hedge is hornbeam.")
        await talk.done("memory_write", slug="hedge-2", content="The hedge is hornbeam.")
        job = await talk.done("memory_enrich", deleteOlderThanDays="0", focus="null")
        assert (set(job), job["status"]) == ({"job_id", "status"}, "queued")
        await there.app.jobs.finished(job["job_id"], 9)
        (row,) = (await talk.done("memory_jobs", job_id=job["job_id"]))["jobs"]
        assert (row["kind"], row["status"]) == ("enrich", "done")
        assert row["changed"] == ["memory/hedge-2"]
        assert "your own agent does the rest" in row["outcome"]
        assert "from 0 to" in await talk.refused("memory_enrich", delete_older_than_days=-1)


async def test_it_is_offered_with_the_set_curation_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as there, talking(there) as talk:
        offered = (await talk.client.list_tools()).tools
        assert "memory_enrich" not in {tool.name for tool in offered}
    writing = {"read_only": True}
    async with world(tmp_path, tools=TOOLS, writing=writing) as there, talking(there) as talk:
        assert "may only read" in await talk.refused("memory_enrich")
