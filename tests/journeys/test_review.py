"""A review goes on where its engine was killed: real fronts, the real engine, real clients."""

from __future__ import annotations

import pytest

from tests.journeys.test_engine import House, house
from tests.server.worlds import MODES

__all__ = ["house"]

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(90)]


@pytest.mark.parametrize("mode", MODES)
async def test_a_review_goes_on_after_the_engine_was_killed_in_the_middle(
    house: House, mode: str
) -> None:
    house.environ["MEMORY_MCP_TOOLS"] = "core,curation"
    page = house.home / "wiki" / "tea.md"
    async with house.client(mode) as talk:
        opened = await talk.done("dream_review", action="start")
        await talk.done("wiki_create", path="tea", content="# Tea\n")
        first = house.kill()
        await talk.done("wiki_edit", path="tea", append="Green.")
        assert house.pid() != first
        async with house.client(mode) as other:
            assert "No review" in await other.refused("wiki_edit", path="tea", append="x")
        house.kill()
        await talk.done("wiki_move", path="tea", new_path="drinks/tea")
        house.kill()
        ended = await talk.done("dream_review", action="end", summary="Tidied.")
        assert ended["run"] == opened["run"]
    assert not page.exists()
    (log,) = (house.home / "wiki" / "logs").glob("*.md")
    assert log.read_text(encoding="utf-8").count("review: Tidied.") == 1
