"""Follow-ups find the note that the conversation is about, and what needs no note brings none."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality import golden
from benchmarks.recall import memory, recalled
from benchmarks.recall_prompts import dialogues, no_need

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(180)]


async def test_most_follow_ups_find_their_note_and_small_talk_finds_none(tmp_path: Path) -> None:
    golden.write_home(tmp_path)
    vault = {"vault": tmp_path / golden.SOURCES["vault"]}
    async with memory(tmp_path, vault, {"embedding": {"provider": "none"}}) as app:
        followed = [await recalled(app, prompt) for prompt in dialogues()]
        first = [await recalled(app, prompt.alone) for prompt in dialogues()]
        spared = [await recalled(app, prompt) for prompt in no_need()]
    assert sum(one.right for one in followed) >= 0.85 * len(followed)
    assert sum(one.right for one in first) <= 0.5 * len(first)
    assert sum(one.silent for one in spared) >= 0.9 * len(spared)
