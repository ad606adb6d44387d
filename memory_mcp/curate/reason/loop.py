"""A model at work with functions: asked, its calls carried out, asked again, within limits."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from memory_mcp.core.chat import FunctionCall, Message, Reply, Spent
from memory_mcp.core.errors import AnswerError, MemoryMcpError
from memory_mcp.core.framing import one_line
from memory_mcp.core.ports import Reasoner, Toolbox
from memory_mcp.curate.reason.reading import object_of

Ended = Literal[
    "answered", "empty", "cut", "rounds", "calls", "tokens", "seconds", "repeated failure"
]
"""Why the work ended: by an answer, by one without a text or cut at its limit, or by a limit."""

_NAME = 60


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a model may work on one job."""

    rounds: int = 16
    calls: int = 60
    tokens: int = 100_000  # half of a day's, by default; checked between answers
    seconds: float = 900.0
    failures: int = 3  # of one and the same call


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of it: the last text, and what it took."""

    text: str
    spent: Spent
    rounds: int
    calls: int
    ended: Ended

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, each once."""
        return self.spent.models

    @property
    def tokens(self) -> int:
        """What it cost."""
        return self.spent.tokens


async def work(
    reasoner: Reasoner, system: str, task: str, toolbox: Toolbox, limits: Limits | None = None
) -> Worked:
    """Let the model work until it answers without a call, or a limit ends it.

    Calls are carried out one after the other. Raises ReasonerError from the model; an error of a
    call is told to the model, which can correct itself.
    """
    run = _Run(reasoner, toolbox, limits or Limits(), system, task)
    with anyio.move_on_after(run.limits.seconds):
        await run.go()
    return run.worked()


class _Run:
    """One piece of work under way."""

    def __init__(
        self, reasoner: Reasoner, toolbox: Toolbox, limits: Limits, system: str, task: str
    ) -> None:
        self.limits = limits
        self._reasoner, self._toolbox = reasoner, toolbox
        self._messages = [Message("system", system), Message("user", task)]
        self._spent = Spent()
        self._rounds = self._calls = 0
        self._failed: Counter[tuple[str, str]] = Counter()
        self._text = ""
        self._ended: Ended = "seconds"  # unless something else ends it before

    async def go(self) -> None:
        """Ask and carry out in turn; sets why it ended."""
        functions = tuple(self._toolbox.functions)
        while True:
            reply = await self._reasoner.reply(self._messages, functions)
            self._spent = self._spent.plus(reply)
            self._rounds += 1
            self._text = reply.text.encode("utf-8", "replace").decode("utf-8")
            ended = self._end_after(reply) or await self._carry_out(reply)
            if ended is None and self._rounds >= self.limits.rounds:
                ended = "rounds"
            if ended is not None:
                self._ended = ended
                return

    def worked(self) -> Worked:
        """What came of it until now."""
        return Worked(self._text, self._spent, self._rounds, self._calls, self._ended)

    def _end_after(self, reply: Reply) -> Ended | None:
        if not reply.calls:
            if reply.cut:
                return "cut"
            return "answered" if reply.text.strip() else "empty"
        return "tokens" if self._spent.tokens >= self.limits.tokens else None

    async def _carry_out(self, reply: Reply) -> Ended | None:
        """The calls of an answer in their order."""
        self._messages.append(Message("assistant", reply.text, reply.calls))
        for call in reply.calls:
            if self._calls >= self.limits.calls:
                return "calls"
            self._calls += 1
            try:
                text = await self._call(call)
            except MemoryMcpError as error:
                text = f"Error: {error}"
                self._failed[call.name, call.arguments] += 1
                if self._failed[call.name, call.arguments] >= self.limits.failures:
                    return "repeated failure"
            self._messages.append(Message("tool", text, call_id=call.call_id))
        return None

    async def _call(self, call: FunctionCall) -> str:
        names = [function.name for function in self._toolbox.functions]
        if call.name not in names:
            raise AnswerError(_unknown(call.name, names))
        try:
            arguments = object_of(call.arguments)
        except AnswerError as error:
            raise AnswerError(
                f"the call of {call.name} was not made: {error}; write its arguments as one JSON"
                " object"
            ) from error
        return await self._toolbox.call(call.name, arguments)


def _unknown(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name[:_NAME], names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return f"there is no function {one_line(name, _NAME)!r}; {hint}"
