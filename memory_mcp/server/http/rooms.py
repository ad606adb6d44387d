"""`/mcp`: one room for each grant, so that no token reaches the session of another."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from memory_mcp.app import App
from memory_mcp.server.http.grants import Grant
from memory_mcp.server.http.guard import BODY_LIMIT, GRANT
from memory_mcp.server.http.visitors import Visitors
from memory_mcp.server.session import Connection

SESSIONS = 1000
"""Sessions of one grant that may be open at once; each costs a task and what it has read."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a grant talks to: the memory of its agent, and the server that speaks for it."""

    app: App
    server: MCPServer[Connection]


Memories = Callable[[str], Awaitable[Memory]]
"""The memory of an agent, once it is open."""


class Rooms:
    """Streamable HTTP for all grants. A room is opened when its first guest comes."""

    def __init__(self, memories: Memories, tasks: TaskGroup) -> None:
        self._memories = memories
        self._tasks = tasks
        self._rooms: dict[str, StreamableHTTPSessionManager] = {}
        self._lock = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request on the endpoint."""
        room = await self._room(scope[GRANT])
        await room.handle_request(scope, receive, send)

    async def quiet(self) -> None:
        """Wait until every call is answered: here the requests themselves tell."""

    async def _room(self, grant: Grant) -> StreamableHTTPSessionManager:
        async with self._lock:
            if grant.name not in self._rooms:
                self._rooms[grant.name] = await self._tasks.start(self._keep, grant)
            return self._rooms[grant.name]

    async def _keep(
        self, grant: Grant, *, task_status: TaskStatus[StreamableHTTPSessionManager]
    ) -> None:
        memory = await self._memories(grant.options.agent)
        room = StreamableHTTPSessionManager(
            app=_with_state(memory.server, Visitors(memory.app, grant.options)),
            max_request_body_size=BODY_LIMIT,
            max_sessions=SESSIONS,
        )
        async with room.run():
            task_status.started(room)
            await anyio.sleep_forever()


def _with_state(server: MCPServer[Connection], state: Connection) -> Any:
    """The server as the session manager wants it: it asks the lifespan for the state. The copy
    shares everything else with the server."""
    low = copy.copy(server._lowlevel_server)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[Connection]:
        yield state

    low.lifespan = lifespan
    return low
