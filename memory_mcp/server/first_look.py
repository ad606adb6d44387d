"""A client that comes right after a start waits a moment, so that its first answer is no half."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from memory_mcp.server.session import Patience, connection_of

if TYPE_CHECKING:
    from memory_mcp.index.view import IndexView
    from memory_mcp.server.calls import ToolContext

WAIT_SECONDS = 1.5
"""How long a client waits, counted from its first call, for the notes to be known by their names
and words."""

_LOOK_SECONDS = 0.05

Tell = Callable[[int, int], Awaitable[None]]


async def first_look(ctx: ToolContext) -> None:
    """Wait until the notes are known by names and words, as long as a client may wait for that."""
    connection = connection_of(ctx.request_context)

    async def tell(done: int, total: int) -> None:
        await ctx.report_progress(done, total, "reading notes")

    await wait_for_words(connection.patience, connection.app.index, tell)


async def wait_for_words(patience: Patience, index: IndexView, tell: Tell | None = None) -> None:
    """Wait until the notes are known by names and words, as long as `patience` lasts. `tell` hears
    how many of how many are."""
    now = anyio.current_time()
    if patience.until is None:
        patience.until = now + WAIT_SECONDS
    most = told = 0
    with anyio.move_on_after(patience.until - now):
        while (left := index.state().unread) > 0:
            most = max(most, left)
            if tell is not None and most - left >= told:
                await tell(most - left, most)
                told = most - left + 1
            await anyio.sleep(_LOOK_SECONDS)
