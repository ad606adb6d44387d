"""Asking the engine of a home, where one runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup
from memory_mcp.cli.running import Wait
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.front.ask import BadSettings, Failure, NoEngine, ask
from memory_mcp.front.endpoint import home_of, pid_of

ANSWER_SECONDS = 5.0
"""How long an engine may take to answer, or to tell how far it is."""

LOOK_SECONDS = 10.0
"""How long it may take to find what a command has changed."""


def asked(
    setup: Setup,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    seconds: float = ANSWER_SECONDS,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """What the running engine answers; None where none runs, or this command wants none.

    Raises MemoryMcpError with why the engine could not do it.
    """
    if setup.flags.get("in_process"):
        return None
    try:
        return ask(
            None,
            os.environ,
            setup.flags,
            name,
            arguments or {},
            start=False,
            seconds=seconds,
            progress=progress,
        )
    except NoEngine as error:
        if pid_of(home_of(os.environ, setup.flags.get("home"))) is not None:
            render.remark(f"Without the engine that clients share: {error.reason}.")
        return None
    except BadSettings:
        return None  # the command reads the settings itself, and says what is wrong
    except Failure as error:
        raise MemoryMcpError(str(error)) from error


def tool(setup: Setup, name: str, wait: Wait | None, **arguments: Any) -> dict[str, Any] | None:
    """The structured answer of a tool of the running engine, after it has taken over what is on
    disk as far as `wait` says; None where none runs.

    Raises MemoryMcpError with the tool's refusal.
    """
    answer = settled(setup, "tool", wait, {"tool": name, "arguments": arguments})
    if answer is None:
        return None
    if answer["is_error"]:
        raise MemoryMcpError(answer["text"])
    structured: dict[str, Any] = answer["structured"]
    return structured


def settled(setup: Setup, name: str, wait: Wait | None, question: Mapping[str, Any]) -> Any:
    """What the running engine answers after it has taken over what is on disk as far as `wait`
    says; None where none runs. Raises as `asked`."""
    until = {} if wait is None else {"settle": wait.seconds, "meaning": wait.meaning}
    with render.progress("Indexing") as advance:
        return asked(
            setup, name, {**question, **until}, seconds=2 * ANSWER_SECONDS, progress=advance
        )


def show_engine(setup: Setup, references: Sequence[str]) -> None:
    """Let the running engine see notes that this command has changed, so that its clients find
    them at once. It would see them anyway a moment later: that it cannot be told is no failure."""
    try:
        asked(setup, "look", {"references": list(references)}, seconds=LOOK_SECONDS)
    except MemoryMcpError as error:
        render.remark(f"The engine that clients share sees the change a little later: {error}")
