"""`/sse` and `/messages/`: the older transport, a stream for each client and a door for its posts.

A connection is served as one on stdio is: both eras, and a memory of its own of what was read.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

import anyio
import mcp_types as t
from mcp.server.runner import serve_dual_era_loop
from mcp.server.sse import SseServerTransport
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream
from mcp.shared.message import SessionMessage
from starlette.types import Receive, Scope, Send

from memory_mcp.server.http.grants import Grant
from memory_mcp.server.http.guard import BODY_LIMIT, GRANT
from memory_mcp.server.http.rooms import Memories
from memory_mcp.server.session import Connection

_ENDLESS = "subscriptions/listen"


class Calls:
    """The requests of all streams that have no answer yet."""

    def __init__(self) -> None:
        self._open: set[tuple[int, str | int]] = set()
        self._none = anyio.Event()

    def began(self, stream: int, message: t.JSONRPCMessage) -> None:
        """A message came in."""
        if isinstance(message, t.JSONRPCRequest) and message.method != _ENDLESS:
            self._open.add((stream, message.id))

    def ended(self, stream: int, message: t.JSONRPCMessage) -> None:
        """A message went out."""
        if isinstance(message, (t.JSONRPCResponse, t.JSONRPCError)) and message.id is not None:
            self._open.discard((stream, message.id))
            self._look()

    def left(self, stream: int) -> None:
        """The stream is gone, and nobody waits for its answers."""
        self._open = {item for item in self._open if item[0] != stream}
        self._look()

    async def none(self) -> None:
        """Wait until there is none."""
        while self._open:
            self._none = anyio.Event()
            await self._none.wait()

    def _look(self) -> None:
        if not self._open:
            self._none.set()


class Streams:
    """The streams of all grants, `/sse`."""

    def __init__(self, memories: Memories, path: str) -> None:
        self._memories = memories
        self._path = path
        self._doors: dict[str, SseServerTransport] = {}
        self._calls = Calls()
        self._last = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a client for as long as it listens."""
        grant: Grant = scope[GRANT]
        memory = await self._memories(grant.options.agent)
        low = memory.server._lowlevel_server
        self._last = number = self._last + 1
        try:
            async with self.door(grant).connect_sse(scope, receive, send) as (inward, outward):
                await serve_dual_era_loop(
                    low,
                    _Inward(inward, lambda message: self._calls.began(number, message)),
                    _Outward(outward, lambda message: self._calls.ended(number, message)),
                    lifespan_state=Connection(memory.app, grant.options),
                    init_options=low.create_initialization_options(),
                )
        finally:
            self._calls.left(number)

    async def quiet(self) -> None:
        """Wait until every call is answered."""
        await self._calls.none()

    def door(self, grant: Grant) -> SseServerTransport:
        """Where the clients of a grant post: they reach the streams of that grant only."""
        if grant.name not in self._doors:
            self._doors[grant.name] = SseServerTransport(
                self._path, max_request_body_size=BODY_LIMIT
            )
        return self._doors[grant.name]


class Posts:
    """What clients post to their streams, `/messages/`."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a message on."""
        door = self._streams.door(scope[GRANT])
        await door.handle_post_message(scope, receive, send)


class _Closes(Protocol):
    async def aclose(self) -> None: ...


class _Wrapped:
    """A stream around another, which it closes."""

    _inner: _Closes

    async def aclose(self) -> None:
        """Take or send no more."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Inward(_Wrapped):
    """A stream of messages from a client, each told to `heard` as it passes."""

    def __init__(
        self,
        inner: ContextReceiveStream[SessionMessage | Exception],
        heard: Callable[[t.JSONRPCMessage], None],
    ) -> None:
        self._inner: ContextReceiveStream[SessionMessage | Exception] = inner
        self._heard = heard

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context of the sender of the last message."""
        return self._inner.last_context

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises EndOfStream."""
        item = await self._inner.receive()
        if isinstance(item, SessionMessage):
            self._heard(item.message)
        return item

    def __aiter__(self) -> _Inward:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _Outward(_Wrapped):
    """A stream of messages to a client, each told to `said` when it was taken."""

    def __init__(
        self,
        inner: ContextSendStream[SessionMessage],
        said: Callable[[t.JSONRPCMessage], None],
    ) -> None:
        self._inner: ContextSendStream[SessionMessage] = inner
        self._said = said

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        await self._inner.send(item)
        self._said(item.message)
