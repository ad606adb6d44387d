"""A hook of a client: its JSON on stdin, ours on stdout, and never in its way.

A client waits for its hooks. So there is one question to the engine, a hard stop, and whatever
goes wrong costs a line on stderr and nothing else: the exit code is 0, for other codes can block
what the user typed.
"""

from __future__ import annotations

import json
import os
import threading
import time

from memory_mcp.front.ask import BadSettings, Failure, NoEngine, ask
from memory_mcp.front.home import home_of
from memory_mcp.front.payload import Unreadable, payload_of
from memory_mcp.front.starting import launch
from memory_mcp.front.streams import claim, read_some, say, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

EVENTS = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
    "stop": "Stop",
}
"""Our names, and those of Claude Code and Codex."""

QUEUED = frozenset({"pre-compact", "session-end", "stop"})
"""After these a transcript waits for the curation; nothing is said."""

STOP_SECONDS = 0.7
START_SECONDS = 2.2
"""When a hook gives up, after the interpreter has started; the second where it may wait for an
engine to come up (session-start). Outside, 1 s and 2.5 s are promised."""

REASONER = "MEMORY_MCP_REASONER"
"""Set for a program that reasons for the memory. Where it is an agent that has our hooks, what it
is asked is no conversation with its user: nothing is recalled and nothing is queued."""

SPARE_SECONDS = 0.05
"""What an answer needs to reach the client: so much less time is the engine's."""

UNITS = 9500
"""UTF-16 units of all that is printed. Claude Code puts more than 10,000 into a file, of which
the model sees the beginning."""


class Hook:
    """One call of a hook. `begin`: when the process did, by the monotonic clock."""

    def __init__(
        self, event: str, flags: Mapping[str, object], environ: Mapping[str, str], begin: float
    ) -> None:
        self._event = event
        self._flags = flags
        self._environ = environ
        seconds = START_SECONDS if event == "session-start" else STOP_SECONDS
        self._deadline = begin + seconds
        self._seconds = seconds
        self._saying = threading.Lock()
        self._reasons = bool(environ.get(REASONER, "").strip())
        self._told = self._reasons  # it complains of nothing, either

    def run(self) -> None:
        """Read, ask, print. Raises nothing; the process may end in the middle of it."""
        claim()
        timer = threading.Timer(max(self._left(), 0.0), self._give_up)
        timer.daemon = True
        timer.start()
        try:
            self._answer()
        except (Unreadable, NoEngine, BadSettings, Failure, OSError) as error:
            self._complain(str(error))
        except Exception as error:  # noqa: BLE001 - the last frame: a prompt is never blocked
            self._complain(f"{type(error).__name__}: {error}")
        timer.cancel()

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _give_up(self) -> None:
        """End, with a line that says so unless another one is on its way. Who does not read stderr
        is not waited for."""
        text = f"the hook {self._event} ended without an answer after {self._seconds:g} s"
        last = threading.Thread(target=self._complain, args=(text,), daemon=True)
        last.start()
        last.join(SPARE_SECONDS)
        os._exit(0)

    def _complain(self, text: str) -> None:
        """One line on stderr, once: what went wrong and the hard stop may come together."""
        with self._saying:
            if not self._told:
                self._told = True
                say(" ".join(text.split()))

    def _answer(self) -> None:
        if self._event not in EVENTS:
            raise Unreadable(f"there is no hook {self._event!r}; there are {', '.join(EVENTS)}")
        payload = payload_of(read_some)
        if self._reasons:
            return
        named = payload.get("hook_event_name")
        if named is not None and named != EVENTS[self._event]:
            raise Unreadable(f"the input is of {named!r}, not of {EVENTS[self._event]}")
        if self._event in QUEUED:
            from memory_mcp.front.queueing import queue

            queue(
                home_of(self._environ, self._flags.get("home")), self._event, self._who(), payload
            )
        self._print(self._ask(payload))

    def _who(self) -> str | None:
        """The agent that flags or environment name; None: as the settings say."""
        named = self._flags.get("agent") or self._environ.get("MEMORY_MCP_AGENT")
        return None if named is None else str(named)

    def _ask(self, payload: Mapping[str, object]) -> str:
        """What the engine has to say to this. Raises what `ask` raises."""
        seconds = self._left()
        question = {
            "event": self._event,
            "payload": payload,
            "until": time.time() + seconds - SPARE_SECONDS,
        }
        may_wait = self._event == "session-start"
        try:
            found = ask(
                None,
                self._environ,
                self._flags,
                "hook",
                question,
                start=may_wait,
                seconds=seconds,
            )
        except NoEngine:
            if not may_wait and launch(
                home_of(self._environ, self._flags.get("home")), self._environ
            ):
                raise NoEngine("no engine ran; one starts now, for the next time") from None
            raise
        context = found.get("context") if isinstance(found, dict) else None
        return context if isinstance(context, str) else ""

    def _printed(self, context: str) -> str:
        """The answer as the client reads it."""
        inner = {"hookEventName": EVENTS[self._event], "additionalContext": context}
        answer = {"hookSpecificOutput": inner}
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n"

    def _print(self, context: str) -> None:
        if not context.strip() or self._event in QUEUED:
            return
        text = self._printed(context)
        if units_of(text) > UNITS:
            raise Failure(f"the engine's text is too long for a hook ({units_of(text)} units)")
        write(1, text.encode("utf-8", "replace"))


def units_of(text: str) -> int:
    """The length of a text in UTF-16 units, as clients written in JavaScript count."""
    return len(text) + sum(letter > "\uffff" for letter in text)


def run(event: str, flags: Mapping[str, object], environ: Mapping[str, str]) -> int:
    """Answer one hook of a client, on the standard streams; always 0."""
    Hook(event, flags, environ, time.monotonic()).run()
    return 0
