"""Prompts and instructions: the English that comes from Markdown files."""

from __future__ import annotations

import os
from pathlib import Path

import mcp_types as t
import pytest
from mcp.shared.exceptions import MCPError

from memory_mcp.settings.prompts import LONGEST, fill, load, shipped
from tests.server.worlds import MODES, Talk, talking, world

pytestmark = pytest.mark.anyio


async def rendered(talk: Talk, name: str, **arguments: str) -> str:
    result = await talk.client.get_prompt(name, arguments)
    (message,) = result.messages
    assert message.role == "user"
    assert isinstance(message.content, t.TextContent)
    return message.content.text


@pytest.mark.parametrize("mode", MODES)
async def test_the_prompts_are_offered_and_filled(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path) as place, talking(place, mode) as talk:
        prompts = {prompt.name: prompt for prompt in (await talk.client.list_prompts()).prompts}
        assert list(prompts) == ["remember", "recall", "enrich", "review", "orient"]
        assert all(prompt.description and prompt.title for prompt in prompts.values())
        assert "{tea}" in await rendered(talk, "recall", topic="{tea}")
        assert "Alice moved" in await rendered(talk, "remember", what="Alice moved")
        assert "the conversation so far" in await rendered(talk, "remember")
        assert "memory_list" in await rendered(talk, "orient")
        assert "inbox of memory, as far as it is about this: tea," in await rendered(
            talk, "enrich", focus=" tea "
        )
        assert "inbox of memory, so that" in await rendered(talk, "enrich")
        assert "wait, those of lucid-1. " in await rendered(talk, "review", dream_id="lucid-1")
        assert "that wait. " in await rendered(talk, "review")


@pytest.mark.parametrize("mode", MODES)
async def test_a_wrong_prompt_is_an_invalid_request(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path) as place, talking(place, mode) as talk:
        with pytest.raises(MCPError, match="remember, recall, enrich, review, orient") as caught:
            await talk.client.get_prompt("recal")
        assert caught.value.error.code == t.INVALID_PARAMS
        with pytest.raises(MCPError, match="topic"):
            await talk.client.get_prompt("recall", {"topic": " "})
        with pytest.raises(MCPError, match=r"no argument 'subject'.*topic") as caught:
            await talk.client.get_prompt("recall", {"topic": "tea", "subject": "tea"})
        assert caught.value.error.code == t.INVALID_PARAMS
        with pytest.raises(MCPError, match="takes: none"):
            await talk.client.get_prompt("orient", {"what": "tea"})


async def test_the_users_own_versions_go_before_the_shipped_ones(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "orient.md").write_text("Look around.", encoding="utf-8")
    (folder / "prompt.md").write_text("Answer in Danish.\n", encoding="utf-8")
    async with world(tmp_path) as place, talking(place) as talk:
        assert await rendered(talk, "orient") == "Answer in Danish.\n\nLook around."
        assert (await rendered(talk, "recall", topic="tea")).startswith("Answer in Danish.\n\n")


def test_a_users_own_version_that_is_no_usable_file_costs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "remember.md").mkdir()
    (folder / "recall.md").symlink_to(tmp_path / "nowhere")
    (folder / "instructions.md").write_text("x" * 1_000_000, encoding="utf-8")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "orient.md")
    for name in ("remember", "recall", "orient"):
        assert load(name, str(tmp_path)) == shipped(name)
    assert len(load("instructions", str(tmp_path))) == LONGEST


@pytest.mark.parametrize(
    "name", ["instructions", "remember", "recall", "enrich", "review", "orient"]
)
def test_every_shipped_prompt_is_there_and_is_short(name: str) -> None:
    text = shipped(name)
    assert load(name) == text
    assert 300 < len(text) < 3500


def test_the_instructions_name_each_place_that_tools_write_to() -> None:
    (line,) = [line for line in shipped("instructions").splitlines() if "read-only" in line]
    for place in ("`memory` is your inbox", "`scope`", "`wiki` change in a review"):
        assert place in line


def test_other_braces_stay_when_a_prompt_is_filled() -> None:
    assert fill("{a} {b} {{a}}", a="{b}") == "{b} {b} {{b}}"


def test_a_prompt_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        load("none")
