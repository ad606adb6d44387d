"""Running a command against an open memory: open, start, wait, act, close."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import anyio

from memory_mcp.cli import render
from memory_mcp.cli.context import project_here
from memory_mcp.core.config import Config
from memory_mcp.core.counting import counted
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.index.state import IndexState

if TYPE_CHECKING:
    from memory_mcp.app import App

Result = TypeVar("Result")

POLL_SECONDS = 0.05
"""How often the progress bar, and who waits for words, looks at the index."""

PATIENCE_SECONDS = 0.5
"""What takes no longer needs no progress bar."""


@dataclass(frozen=True, slots=True)
class Wait:
    """What a command waits for before it acts, and for how long at most."""

    seconds: float
    meaning: bool
    """Wait for the vectors too, not only for names and words."""
    lack: str = "the answer may lack them"
    """What follows where some notes still wait then."""


WORDS = Wait(60.0, meaning=False)
"""For commands that need names: they answer from what is known by then."""

MEANING = Wait(60.0, meaning=True)
"""For a search. A large new folder takes longer; then it answers with what is there."""

BRIEFLY = Wait(2.0, meaning=True, lack="similar ones among them are not named")
"""For a write, which needs nothing but lists similar notes."""


def unchanging(config: Config) -> Config:
    """The settings for a process that changes no note, and works on no job."""
    writing = config.writing.model_copy(update={"read_only": True})
    return config.model_copy(update={"writing": writing})


def with_memory(
    config: Config, act: Callable[[App], Awaitable[Result]], wait: Wait | None = WORDS
) -> Result:
    """The result of `act` on an open memory, after `wait`. Raises what `act` raises."""
    return anyio.run(_act, config, act, wait)


async def _act(
    config: Config, act: Callable[[App], Awaitable[Result]], wait: Wait | None
) -> Result:
    from memory_mcp.app import open_app  # the whole house: only for commands that need it

    failure: MemoryMcpError | None = None
    async with open_app(config, project_here(config)) as app:
        app.start()
        if wait is not None:
            await prepared(app, wait)
        try:
            result = await act(app)
        except MemoryMcpError as error:
            failure = error  # raised again outside, where no task group wraps it
    if failure is not None:
        raise failure
    return result


async def prepared(app: App, wait: Wait) -> None:
    """Wait for the index while a bar shows how far it is; say so where the time was too short."""
    with render.progress("Indexing") as advance, anyio.move_on_after(wait.seconds):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_show, app, advance, wait)
            if wait.meaning:
                await app.settled()
            else:
                await _words(app)
            tasks.cancel_scope.cancel()
    left = _left(app, wait)
    if left:
        waits = "waits" if left == 1 else "wait"
        render.remark(f"Still indexing: {counted(left, 'note')} {waits}, and {wait.lack}.")


def _left(app: App, wait: Wait) -> int:
    """How many notes wait for what the command waits for."""
    state = app.index.state()
    return state.pending if wait.meaning else state.unread


async def _words(app: App) -> None:
    while True:
        if not app.index.state().unread:
            return
        await anyio.sleep(POLL_SECONDS)


async def _show(app: App, advance: render.Advance, wait: Wait) -> None:
    await anyio.sleep(PATIENCE_SECONDS)
    most = 0
    while True:
        left = _left(app, wait)
        most = max(most, left)
        advance(most - left, most)
        await anyio.sleep(POLL_SECONDS)


def rebuild(config: Config, embeddings: bool) -> IndexState:
    """Build the index again, with a bar; what it says about itself afterwards."""

    async def act(app: App) -> IndexState:
        with render.progress("Indexing") as advance:
            await app.index.rebuild(advance, embeddings=embeddings)
            await app.settled()
        return app.index.state()

    return with_memory(config, act, WORDS)
