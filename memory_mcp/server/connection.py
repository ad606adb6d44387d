"""One client on a pair of byte streams: lines of JSON-RPC, in both eras of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio
import mcp_types as t
from anyio.abc import TaskGroup
from mcp.server import MCPServer
from mcp.server.runner import serve_dual_era_loop
from mcp.shared._context_streams import (
    ContextReceiveStream,
    ContextSendStream,
    create_context_streams,
)
from mcp.shared.message import SessionMessage

from memory_mcp.server.lines import Bad, ByteSource, dump, lines, parse
from memory_mcp.server.session import Connection
from memory_mcp.server.traffic import MOST_CALLS, Traffic

log = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
"""How long calls that are under way may still take when the client has gone."""

_ENDLESS = "subscriptions/listen"
_FREE = frozenset(
    (
        "initialize",
        "server/discover",
        "ping",
        "notifications/initialized",
        "notifications/cancelled",
    )
)
"""What can be answered before the memory is open."""


class ByteSink(Protocol):
    """Where bytes go; raises BrokenResourceError or ClosedResourceError where nobody listens."""

    async def send(self, item: bytes) -> None:
        """Send all of it."""
        ...


async def serve(
    stream_in: ByteSource,
    stream_out: ByteSink,
    server: MCPServer[Connection],
    state: Connection,
    first_answer: Callable[[], None] | None = None,
    ready: Callable[[], Awaitable[None]] | None = None,
    traffic: Traffic | None = None,
) -> None:
    """Serve one client until its input ends or its output breaks.

    A line that is no message is answered with an error where it has an id, else dropped with one
    line in the log. `first_answer` is called once, after the first reply was written; by default
    it starts the background work of the app. `ready` is awaited before the first message that
    needs more than the handshake is passed on. `traffic` shows what is under way, and takes the
    wish to begin nothing new. A call that is cut off because the client went is cancelled, and a
    change of a file that has begun is finished.
    """
    wire = _Wire(stream_out, first_answer or state.app.start, ready, traffic or Traffic())
    low = server._lowlevel_server
    inward, received = create_context_streams[SessionMessage | Exception](0)
    sent, outward = create_context_streams[SessionMessage](0)
    async with anyio.create_task_group() as tasks:

        async def drive() -> None:
            await serve_dual_era_loop(
                low,
                received,
                sent,
                lifespan_state=state,
                init_options=low.create_initialization_options(),
            )

        async def write() -> None:
            if not await wire.pump(outward):
                tasks.cancel_scope.cancel()

        tasks.start_soon(drive)
        tasks.start_soon(write)
        await wire.feed(stream_in, inward, tasks)


class _Wire:
    """Both directions of one client, and which of its requests are still open."""

    def __init__(
        self,
        sink: ByteSink,
        first_answer: Callable[[], None],
        ready: Callable[[], Awaitable[None]] | None,
        traffic: Traffic,
    ) -> None:
        self._sink = sink
        self._ready = ready
        self._first_answer: Callable[[], None] | None = first_answer
        self._traffic = traffic
        self._lock = anyio.Lock()
        self._rejecting = 0

    async def feed(
        self,
        source: ByteSource,
        inward: ContextSendStream[SessionMessage | Exception],
        tasks: TaskGroup,
    ) -> None:
        """Pass messages on; at the end of input wait a moment for the open calls.

        Answers to lines that are no message are written by `tasks`: a client that does not read
        must not keep us from seeing that it went.
        """
        async with inward:
            try:
                async for line in lines(source):
                    message = line if isinstance(line, Bad) else parse(line)
                    if isinstance(message, Bad):
                        self._reject(message, tasks)
                    elif not await self._take(message, inward):
                        tasks.cancel_scope.cancel()
                        return
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the other direction is gone, and with it the client
            with anyio.move_on_after(GRACE_SECONDS):
                await self._traffic.quiet()

    async def _take(
        self, message: t.JSONRPCMessage, inward: ContextSendStream[SessionMessage | Exception]
    ) -> bool:
        """Pass a message on; False where the client must be given up."""
        if isinstance(message, t.JSONRPCRequest):
            if self._traffic.leaving:
                return True
            if not await self._traffic.room():
                log.warning("a client takes no answers; it is given up")
                self._traffic.cut = True
                return False
        self._note(message)
        await self._wait_for(message)
        await inward.send(SessionMessage(message))
        return True

    async def _wait_for(self, message: t.JSONRPCMessage) -> None:
        free = getattr(message, "method", None) in _FREE
        if self._ready is not None and not free:
            await self._ready()
            self._ready = None

    async def pump(self, outward: ContextReceiveStream[SessionMessage]) -> bool:
        """Write messages until there are no more: True; False where nobody takes them."""
        async with outward:
            async for item in outward:
                try:
                    await self._write(item.message)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return False
        return True

    def _reject(self, bad: Bad, tasks: TaskGroup) -> None:
        log.warning("a line from the client was dropped: %s", bad.reason)
        replies = [reply for reply in bad.replies() if reply.id not in self._traffic]
        if replies and self._rejecting < MOST_CALLS:
            self._rejecting += 1
            tasks.start_soon(self._answer, replies)

    async def _answer(self, replies: list[t.JSONRPCError]) -> None:
        try:
            for reply in replies:
                await self._write(reply)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody takes it; the other direction notices that, too
        finally:
            self._rejecting -= 1

    async def _write(self, message: t.JSONRPCMessage) -> None:
        async with self._lock:
            if self._traffic.cut:
                return
            await self._sink.send(dump(message))
        if isinstance(message, (t.JSONRPCResponse, t.JSONRPCError)):
            self._traffic.closed(message.id)
            if self._first_answer is not None:
                start, self._first_answer = self._first_answer, None
                start()

    def _note(self, message: t.JSONRPCMessage) -> None:
        if isinstance(message, t.JSONRPCRequest) and message.method != _ENDLESS:
            self._traffic.opened(message.id)
        elif (
            isinstance(message, t.JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            self._traffic.closed((message.params or {}).get("requestId"))
        else:
            self._traffic.said()
