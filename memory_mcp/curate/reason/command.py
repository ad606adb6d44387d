"""Any program as a chat model: the prompt on stdin, the answer on stdout; never by a shell."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from memory_mcp.core.chat import Function, Message, Reply
from memory_mcp.core.config import ReasonerChoice
from memory_mcp.core.errors import (
    AnswerError,
    BusyError,
    DeclinedError,
    SetupError,
    UnreachableError,
)
from memory_mcp.core.web import said
from memory_mcp.curate.reason.cost import counted, model_name
from memory_mcp.curate.reason.program import MOST_BYTES, Ended, run
from memory_mcp.curate.reason.written import answer_of, prompt_of

MARK = "MEMORY_MCP_REASONER"
"""Set for the program, so that the hooks of an agent that is one do not feed the memory."""

SECONDS = 600.0
"""For one answer: an agent may look around first."""


class Command:
    """A program; `setting` is the key of its section in the settings."""

    def __init__(
        self,
        choice: ReasonerChoice,
        environ: Mapping[str, str],
        folder: Path,
        setting: str = "reasoner",
        seconds: float = SECONDS,
    ) -> None:
        """`folder` is an empty one, made at need, in which the program runs: an agent finds no
        project there. Raises SetupError where the command cannot be read."""
        self._words = _words(choice.command, setting)
        self._environ = {**environ, MARK: "1"}
        self._folder, self._setting, self._seconds = folder, setting, seconds
        self._model = choice.model or Path(self._words[0]).name
        self.name = model_name(None, f"command {self._model}")

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """What the program printed. Functions are offered in the text; a schema stands there
        already. Raises ReasonerError."""
        prompt = prompt_of(messages, functions)
        ended = await self._run(prompt)
        text = self._answer(ended, prompt)
        first = 1 + sum(len(message.calls) for message in messages)
        answer, calls = answer_of(text, functions, first)
        tokens, _ = counted((), [prompt], text, ())
        return Reply(answer, calls, self.name, tokens, cut=False, estimated=True)

    async def _run(self, prompt: str) -> Ended:
        program = await anyio.to_thread.run_sync(self.program)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return await run(
                [program, *self._words[1:]],
                prompt.encode("utf-8", "replace"),
                self._environ,
                self._folder,
                self._seconds,
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
            raise SetupError(
                f"{program} cannot be run ({error}); check {self._setting}.command"
            ) from error

    def program(self) -> str:
        """The path of the program, as it is now. Raises UnreachableError."""
        named = os.path.expanduser(self._words[0])  # noqa: PTH111 - may be a name, not a path
        found = shutil.which(named, path=self._environ.get("PATH", os.defpath))
        if found is None:
            raise UnreachableError(
                f"the program {named!r} of {self._setting}.command is not there; install it, or"
                " give its whole path"
            )
        return found

    def _answer(self, ended: Ended, prompt: str) -> str:
        if ended.too_long:
            raise AnswerError(f"{self.name} printed more than {MOST_BYTES:,} bytes and was ended")
        if ended.late:
            raise BusyError(
                f"{self.name} did not answer within {self._seconds:g} s and was ended; try again"
                " later"
            )
        if ended.code:
            why = said(ended.err.decode("utf-8", "replace"), [prompt])
            raise DeclinedError(f"{self.name} ended with exit code {ended.code}{why}")
        return ended.out.decode("utf-8", "replace")


def _words(command: str | tuple[str, ...] | None, setting: str) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command or ())
    except ValueError as error:
        raise SetupError(
            f"{setting}.command cannot be split into words ({error}); close the quotes, or write"
            " it as a list"
        ) from error
    if not words or not words[0]:
        raise SetupError(f"{setting}.provider command needs {setting}.command; set it")
    head = words[0]
    variable, assigned, _ = head.partition("=")
    if assigned:  # no shell runs it; the value may be a key
        raise SetupError(
            f"{setting}.command begins with an assignment to {variable!r}; set that variable"
            " before, or begin with env"
        )
    if "/" in head and not head.startswith(("/", "~")):
        raise SetupError(
            f"{setting}.command begins with {head!r}, which is another file in each folder; give"
            " the whole path, or a name that is found on PATH"
        )
    return words
