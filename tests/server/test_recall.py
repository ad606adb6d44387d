"""Recall as clients meet it: the tool, the instructions, the port."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_mcp.recall.kept import keep, kept
from tests.server.ports import place
from tests.server.worlds import MODES, talking, world

pytestmark = pytest.mark.anyio

NOTES = {
    "memory/dog.md": "# Dog\n\nThe dog Pixel gets his pill at seven in the evening.\n",
    "wiki/karl.md": "# Karl\n\nKarl is a carpenter. His wife is called Anna.\n",
}


@pytest.mark.parametrize("mode", MODES)
async def test_the_tool_shows_the_block_and_how_the_query_was_built(
    tmp_path: Path, mode: str
) -> None:
    async with world(tmp_path, NOTES) as there, talking(there, mode) as talk:
        for _ in range(2):  # what it shows does not count as shown
            found = await talk.done("memory_recall", message="when does Pixel get his pill?")
            assert "seven in the evening" in found["block"]
        assert [hit["reference"] for hit in found["hits"]] == ["memory/dog"]
        assert found["query"]["words"] == ["pixel", "pill"]
        text = await talk.text("memory_recall", message="when does Pixel get his pill?")
        assert text == found["block"]


async def test_history_comes_as_objects_texts_or_json(tmp_path: Path) -> None:
    turns = [{"role": "user", "text": "who is karl?"}, {"role": "assistant", "content": "A man."}]
    async with world(tmp_path, NOTES) as there, talking(there) as talk:
        for history in (turns, "who is karl?", '[{"text": "who is karl?"}]', {"text": "karl?"}):
            found = await talk.done("memory_recall", message="and his wife?", history=history)
            assert found["hits"][0]["reference"] == "wiki/karl"
            assert found["query"]["history_weight"] > 0
        await talk.refused("memory_recall", message="x", history=[{"role": "tool", "text": "y"}])
        await talk.refused("memory_recall", message="x", history=3)
        await talk.refused("memory_recall", message=" ")


async def test_where_memory_has_nothing_to_say_the_tool_points_at_the_search(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, NOTES) as there, talking(there) as talk:
        found = await talk.done("memory_recall", message="thanks, go on")
        assert (found["block"], found["hits"]) == ("", [])
        assert found["query"]["silent"]
        text = await talk.text("memory_recall", message="thanks, go on")
        assert "memory_search" in text
        assert "\n" not in text


@pytest.mark.parametrize("mode", MODES)
async def test_instructions_keep_their_bytes_until_a_note_changes(
    tmp_path: Path, mode: str
) -> None:
    async with world(tmp_path, NOTES) as there:

        async def told() -> str:
            await there.app.recall.fresh_section()
            async with talking(there, mode) as talk:
                text = talk.client.instructions
                assert text is not None
                return text

        first = await told()
        assert "memory_search" in first[:500]
        assert "`memory/dog`" in first[:4000]
        for message in ("when does Pixel get his pill?", "who is karl?"):
            await there.app.recall.turn(message, session="s")
            assert await told() == first
        await there.app.writer.write("cat", "# Cat\n\nThe cat is called Minka.\n")
        second = await told()
        assert "`memory/cat`" in second
        assert await told() == second


async def test_the_section_is_kept_for_a_handshake_before_the_memory_is_open(
    tmp_path: Path,
) -> None:
    keep(str(tmp_path), "default", "- `memory/dog`\n")
    assert kept(str(tmp_path), "other") == ""
    async with world(tmp_path, start=False) as there, talking(there) as talk:
        assert "`memory/dog`" in (talk.client.instructions or "")


async def test_the_port_previews_a_turn(tmp_path: Path) -> None:
    async with place(tmp_path, NOTES) as there, there.asking() as http:
        asked = {"message": "and his wife?", "history": [{"role": "user", "text": "who is karl?"}]}
        answer = await http.post("/api/recall-preview", json=asked)
        assert answer.status_code == 200
        assert answer.json()["hits"][0]["reference"] == "wiki/karl"
        assert answer.json()["query"]["history"] == ["who is karl?"]
        bad: list[Any] = [{}, {"message": ""}, {"message": "x", "more": 1}, []]
        for wrong in bad:
            refused = await http.post("/api/recall-preview", json=wrong)
            assert refused.status_code == 400
            assert "Send JSON such as" in refused.json()["error"]
        assert (await http.get("/api/recall-preview")).status_code == 405
