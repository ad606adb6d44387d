"""What the memory says to the hooks of a client: at the start of a session, and at each prompt."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from memory_mcp.core.errors import StorageError
from memory_mcp.core.transcript import Speech, last_speeches
from memory_mcp.curate.transcripts import lines_from_end
from memory_mcp.server.session import Options

if TYPE_CHECKING:
    from memory_mcp.app import App

SECONDS = 1.0
"""How long an answer may take where the hook does not say."""

HISTORY_SECONDS = 0.2
"""How long the transcript is waited for; it may lie on a share. Without it there is no history."""

UNITS = 9000
"""What the text may take in JSON where the hook does not say, in UTF-16 units."""


class Hooks:
    """Answers hooks. `open_app` gives the memory of a client."""

    def __init__(self, open_app: Callable[[Options], Awaitable[App]]) -> None:
        self._open_app = open_app

    async def answer(self, question: Mapping[str, Any], options: Options) -> dict[str, str]:
        """The text for an event as `context`; empty where there is nothing to say.

        `question`: event, payload (what the client said), seconds and units to keep within.
        Raises MemoryMcpError, StorageError where the time is too short: nothing counts as shown
        to the client then.
        """
        seconds = _number(question.get("seconds"), SECONDS)
        event = str(question.get("event"))
        payload = question.get("payload")
        said = payload if isinstance(payload, Mapping) else {}
        units = int(_number(question.get("units"), UNITS))
        with anyio.move_on_after(seconds):
            return {"context": await self._say(event, said, options, units)}
        raise StorageError(f"the memory had no answer for the hook {event} after {seconds:.2g} s")

    async def _say(self, event: str, said: Mapping[str, Any], options: Options, units: int) -> str:
        app = await self._open_app(options)
        session = _text(said, "session_id") or None
        if event == "session-start":
            source = _text(said, "source") or "startup"
            return await app.recall.opening(session=session, source=source, units=units)
        if event == "user-prompt-submit":
            prompt = _text(said, "prompt")
            if not prompt.strip():
                return ""
            turns = await _history(
                _text(said, "transcript_path"), app.config.recall.query_turns, prompt
            )
            found = await app.recall.turn(prompt, turns, session=session, units=units)
            return found.block
        if event == "pre-compact" and session is not None:
            app.recall.forget(session)
        return ""


async def _history(path: str, most: int, prompt: str) -> tuple[Speech, ...]:
    """The last turns before a prompt; none where the transcript does not give them in time."""
    read = functools.partial(_read, path, most, prompt)
    with anyio.move_on_after(HISTORY_SECONDS):
        return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
    return ()


def _read(path: str, most: int, prompt: str) -> tuple[Speech, ...]:
    return last_speeches(lines_from_end(path), most, prompt) if path else ()


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""


def _number(value: object, usual: float) -> float:
    return float(value) if isinstance(value, (int, float)) else usual
