"""Finding the client behind a request, where all requests of a grant share one state."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memory_mcp.app import App
from memory_mcp.server.session import Connection, Options, Patience

_KEY = "memory-mcp client"


class Visitors(Connection):
    """The state that the SDK hands to every request of a grant.

    A session of the handshake era is a client with its own memory of what it has read. In the
    newer era there are no sessions: each request is a client that has read nothing, and only the
    first of them all waits for the index.
    """

    __slots__ = ("_together",)

    def __init__(self, app: App, options: Options) -> None:
        super().__init__(app, options)
        self._together = Patience()

    def behind(self, request: ServerRequestContext[Connection, Any]) -> Connection:
        """The client of the session that the request belongs to."""
        state = request.session._connection.state
        known: Connection | None = state.get(_KEY)
        if known is None:
            modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
            patience = self._together if modern else None
            known = state[_KEY] = Connection(
                self.app, self.options, patience=patience, lasting=not modern
            )
        return known
