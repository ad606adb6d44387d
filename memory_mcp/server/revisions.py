"""Which revision of a note a client knows, when it comes to change it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from memory_mcp.core.errors import ConflictError, MemoryMcpError, NotFoundError
from memory_mcp.server.session import Connection


@asynccontextmanager
async def read_before(
    connection: Connection, reference: str, given: str | None
) -> AsyncIterator[str | None]:
    """The revision that the caller knows of a note: the one it gave, else the one it read last.

    Changes of a note by one client take turns, so that it is not in conflict with its own.
    Where that note is gone the reading is forgotten after the conflict: there is nothing to read
    again, and the next call may create it anew.
    """
    try:
        async with connection.turn(reference):
            yield given or connection.session.revision(reference)
    except ConflictError:
        with suppress(MemoryMcpError):
            await _forget_if_gone(connection, reference)
        raise


async def _forget_if_gone(connection: Connection, reference: str) -> None:
    try:
        await connection.app.reader.get(reference, max_chars=1)
    except NotFoundError:
        connection.session.forget(reference)
