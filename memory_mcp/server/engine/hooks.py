"""What the memory says to the hooks of a client: at the start of a session, and at each prompt."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from memory_mcp.core.errors import StorageError
from memory_mcp.curate.transcripts.speech import last_speeches
from memory_mcp.curate.transcripts.tail import lines_from_end
from memory_mcp.recall.turn import Turn
from memory_mcp.server.session import Options

if TYPE_CHECKING:
    from memory_mcp.app import App

SECONDS = 1.0
"""How long an answer may take where the hook does not say."""

HISTORY_SECONDS = 0.2
"""How long the transcript is waited for; it may lie on a share. Without it there is no history."""

TURNS = 12
"""Turns of a transcript that are read; recall takes the last ones in which something was said."""


class Hooks:
    """Answers hooks. `open_app` gives the memory of a client."""

    def __init__(self, open_app: Callable[[Options], Awaitable[App]]) -> None:
        self._open_app = open_app

    async def answer(self, question: Mapping[str, Any], options: Options) -> dict[str, str]:
        """The text for an event as `context`; empty where there is nothing to say.

        `question`: event, payload (what the client said), until when it waits (seconds since the
        epoch). Raises MemoryMcpError; StorageError where the time is too short, and then nothing
        counts as shown.
        """
        until = question.get("until")
        most = until - time.time() if isinstance(until, (int, float)) else SECONDS
        event = str(question.get("event"))
        payload = question.get("payload")
        said = payload if isinstance(payload, Mapping) else {}
        with anyio.move_on_after(most):
            return {"context": await self._say(event, said, options)}
        raise StorageError(f"the memory had no answer for the hook {event} in time")

    async def _say(self, event: str, said: Mapping[str, Any], options: Options) -> str:
        app = await self._open_app(options)
        session = _text(said, "session_id") or None
        if event == "session-start":
            source = _text(said, "source") or "startup"
            return await app.recall.opening(session=session, source=source)
        if event == "user-prompt-submit":
            prompt = _text(said, "prompt")
            if not prompt.strip():
                return ""
            turns = await _history(_text(said, "transcript_path"), prompt)
            place = _text(said, "cwd") or None
            found = await app.recall.turn(prompt, turns, session=session, place=place)
            return found.block
        if event == "pre-compact" and session is not None:
            await app.recall.reset(session)
        return ""


async def _history(path: str, prompt: str) -> tuple[Turn, ...]:
    """The last turns before a prompt; none where the transcript does not give them in time."""
    with anyio.move_on_after(HISTORY_SECONDS):
        return await anyio.to_thread.run_sync(_read, path, prompt, abandon_on_cancel=True)
    return ()


def _read(path: str, prompt: str) -> tuple[Turn, ...]:
    found = last_speeches(lines_from_end(path), TURNS, prompt) if path else ()
    return tuple(Turn(said.role, said.text) for said in found)


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""
