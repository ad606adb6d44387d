"""What the engine says to hooks: what fits the message and what was said before, or nothing."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_mcp.app import open_app
from memory_mcp.core.config import Config
from memory_mcp.core.ports import Vectors
from memory_mcp.front.hook import UNITS, units_of
from memory_mcp.recall.recall import VECTOR_SECONDS
from memory_mcp.recall.turn import Turn
from tests.fakes import HashEmbedder
from tests.server.engines import SECONDS, Place, engine
from tests.server.worlds import write_files

pytestmark = pytest.mark.anyio

FILES: dict[str, str | bytes] = {
    "memory/dog.md": "# Dog\n\nThe dog Pixel gets his pill at seven in the evening.\n",
    "memory/car.md": "# Car\n\nWinter tyres are stored at garage Novak.\n",
    "memory/brandl.md": "# Tom Brandl\n\nTom Brandl builds organs. His wife Vera sings alto.\n",
    "memory/okafor.md": "# Ada Okafor\n\nAda Okafor sails. Her husband Ben repairs clocks.\n",
}
PILL = "when does Pixel get his pill?"


async def say(place: Place, event: str, /, **said: Any) -> str:
    """The context for an event."""
    answer = await place.ask("hook", event=event, payload=said)
    assert "result" in answer, answer
    assert list(answer["result"]) == ["context"]
    text: str = answer["result"]["context"]
    return text


async def prompt(place: Place, text: str, session: str = "S", **said: Any) -> str:
    return await say(place, "user-prompt-submit", prompt=text, session_id=session, **said)


async def ready(place: Place) -> None:
    """Wait until the words of the notes are known."""
    answer = await place.ask(
        "tool", tool="memory_search", arguments={"query": "Pixel"}, settle=8, meaning=True
    )
    assert answer["result"]["structured"]["hits"]


def transcript(path: Path, *said: str) -> str:
    """A transcript of Claude Code in which a person and an agent speak in turns."""
    lines = []
    for number, text in enumerate(said):
        role = "assistant" if number % 2 else "user"
        lines.append(json.dumps({"type": role, "message": {"role": role, "content": text}}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


async def test_a_prompt_gets_what_fits_and_small_talk_gets_nothing(tmp_path: Path) -> None:
    async with engine(tmp_path, files=FILES) as place:
        await ready(place)
        text = await prompt(place, PILL)
        assert "seven in the evening" in text and "<MEMORY[memory/dog]" in text
        assert text.count("</MEMORY>") == text.count("<MEMORY[")
        assert await prompt(place, "thanks, go on") == ""
        assert await prompt(place, "") == ""
        assert await say(place, "user-prompt-submit") == ""


async def test_what_is_in_view_is_not_repeated_until_the_view_is_lost(tmp_path: Path) -> None:
    async with engine(tmp_path, files=FILES) as place:
        await ready(place)
        again = "at what time does Pixel get the pill?"
        assert "seven" in await prompt(place, PILL)
        assert "seven" not in await prompt(place, again)
        assert "seven" in await prompt(place, again, session="other")
        assert await say(place, "pre-compact", session_id="S") == ""
        assert "seven" in await prompt(place, again)
        await say(place, "session-start", session_id="S", source="clear")
        assert "seven" in await prompt(place, PILL)


async def test_a_session_starts_with_what_is_in_memory(tmp_path: Path) -> None:
    async with engine(tmp_path, files=FILES) as place:
        await ready(place)
        text = await say(place, "session-start", session_id="S", source="startup")
        assert "memory/dog" in text


@pytest.mark.parametrize("event", ["stop", "session-end", "pre-compact", "unknown"])
async def test_other_events_say_nothing(tmp_path: Path, event: str) -> None:
    async with engine(tmp_path, files=FILES) as place:
        assert await say(place, event, session_id="S", transcript_path="/none") == ""
        assert await say(place, event) == ""


async def test_a_follow_up_is_understood_from_the_transcript(tmp_path: Path) -> None:
    async with engine(tmp_path, files=FILES) as place:
        await ready(place)
        path = transcript(tmp_path / "t.jsonl", "Who is Tom Brandl?", "He builds organs.")
        text = await prompt(place, "and his wife?", transcript_path=path)
        assert "Vera" in text


async def test_the_message_itself_is_not_its_own_history(tmp_path: Path) -> None:
    async with engine(tmp_path, files=FILES) as place:
        await ready(place)
        message = "and his wife?"
        path = transcript(tmp_path / "t.jsonl", "Who is Tom Brandl?", "An organ builder.", message)
        alone = transcript(tmp_path / "alone.jsonl", message)
        text = await prompt(place, message, transcript_path=path)
        assert "Vera" in text
        bare = await prompt(place, message, session="b")
        assert await prompt(place, message, session="a", transcript_path=alone) == bare


@pytest.mark.parametrize("kind", ["missing", "pipe", "folder", "huge", "binary", "relative"])
async def test_a_transcript_that_cannot_be_read_costs_only_the_history(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "t.jsonl"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "huge":
            with path.open("wb") as file:
                file.truncate(1 << 36)
        case "binary":
            path.write_bytes(os.urandom(100_000))
        case _:
            pass
    async with engine(tmp_path / "home", files=FILES) as place:
        await ready(place)
        name = "../../etc/passwd" if kind == "relative" else str(path)
        assert "seven" in await prompt(place, PILL, transcript_path=name)


async def test_too_little_time_is_said_and_nothing_counts_as_shown(tmp_path: Path) -> None:
    async with engine(tmp_path, files=FILES) as place:
        await ready(place)
        said = {"prompt": PILL, "session_id": "S"}
        answer = await place.ask(
            "hook", event="user-prompt-submit", payload=said, until=time.time()
        )
        assert "no answer" in answer["failure"]
        assert "seven" in await prompt(place, PILL)


@pytest.mark.parametrize("payload", [None, [], "text", {"prompt": ["x"]}, {"session_id": 7}])
async def test_a_payload_of_another_shape_is_nothing(tmp_path: Path, payload: Any) -> None:
    async with engine(tmp_path, files=FILES) as place:
        answer = await place.ask("hook", event="user-prompt-submit", payload=payload)
        assert answer["result"] == {"context": ""}


@pytest.mark.parametrize("letter", ["x", "検", "🔥", '"'])
async def test_no_text_is_longer_than_a_hook_may_print(tmp_path: Path, letter: str) -> None:
    body = f"Roof beam inspection {letter * 20} says that the beam is sound. " * 30
    files: dict[str, str | bytes] = {
        f"memory/roof{number}.md": f"# Roof part {number}\n\n{body}" for number in range(12)
    }
    files["memory/MEMORY.md"] = f"# Index\n\n{body * 3}"
    async with engine(tmp_path, files={**FILES, **files}) as place:
        await ready(place)
        for text in (
            await prompt(place, "What do the roof beam inspection notes say?"),
            await say(place, "session-start", session_id="S"),
        ):
            assert 0 < units_of(json.dumps(text, ensure_ascii=False)) < UNITS - 100
            assert text.count("</MEMORY>") == text.count("<MEMORY[")


class Hung(HashEmbedder):
    """A model that has learnt the notes and then answers no more."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def query(self, text: str) -> Vectors:
        self.released.wait()
        return super().query(text)


async def test_a_model_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    model = Hung()
    write_files(tmp_path, FILES)
    config = Config.model_validate({"home": str(tmp_path)})
    async with open_app(config, embedder=lambda: model) as app:
        app.start()
        assert await app.settled(SECONDS)
        try:
            with anyio.fail_after(2 * VECTOR_SECONDS + 1):
                found = await app.recall.turn(PILL, [Turn("user", "the dog")], session="S")
        finally:
            model.released.set()
    assert "seven" in found.block


async def test_many_hooks_at_once_are_answered(tmp_path: Path) -> None:
    found: list[str] = []
    async with engine(tmp_path, files=FILES) as place:
        await ready(place)

        async def one(number: int) -> None:
            found.append(await prompt(place, PILL, session=str(number)))

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(one, number)
    assert len(found) == 10 and all("seven" in text for text in found)
