"""Telling clients that notes changed, in both eras of the protocol."""

from __future__ import annotations

import logging
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as t
from anyio.abc import TaskGroup
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from memory_mcp.server.addresses import INDEX, address
from memory_mcp.server.session import Connection

if TYPE_CHECKING:
    from memory_mcp.index.state import IndexEvent
    from memory_mcp.index.view import IndexView

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.2
"""A burst of changes becomes one round of notices."""

_STATE_KEY = "memory-mcp"
Request = ServerRequestContext[Connection, Any]


class Peer:
    """A client of the handshake era: where to send, and what it subscribed to."""

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self.subscribed: set[str] = set()
        self.ready = False
        self._news: dict[str, None] = {}
        self._listing = False
        self._telling = False

    def hear(self, addresses: list[str], listing: bool) -> bool:
        """Something changed; whether it has to be told by a new task."""
        self._news.update(dict.fromkeys(uri for uri in addresses if uri in self.subscribed))
        self._listing = self._listing or (listing and self.ready)
        return bool(self._news or self._listing) and not self._telling

    async def tell(self) -> None:
        """Send what is new. A client that does not read is waited for here, and what changes
        meanwhile adds up."""
        self._telling = True
        try:
            while self._news or self._listing:
                news, listing = self._news, self._listing
                self._news, self._listing = {}, False
                for uri in news:
                    await self.session.send_resource_updated(uri)
                if listing:
                    await self.session.send_resource_list_changed()
        finally:
            self._telling = False


class Notices:
    """Collects what the index says has changed and tells every client that wants to know."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._peers: weakref.WeakSet[Peer] = weakref.WeakSet()
        self._changed: set[str] = set()
        self._listing = False
        self._news = anyio.Event()
        self._turn = anyio.Lock()

    def register(self, server: MCPServer[Connection]) -> None:
        """Answer the subscription requests of the handshake era."""
        low = server._lowlevel_server
        low.add_request_handler("resources/subscribe", t.SubscribeRequestParams, self._subscribe)
        low.add_request_handler(
            "resources/unsubscribe", t.UnsubscribeRequestParams, self._unsubscribe
        )
        low.add_notification_handler(
            "notifications/initialized", t.NotificationParams, self._initialized
        )

    @asynccontextmanager
    async def running(self, index: IndexView) -> AsyncIterator[None]:
        """Tell clients of changes while this is open. Opened more than once, one works."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run, index, tasks)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _run(self, index: IndexView, tasks: TaskGroup) -> None:
        async with self._turn:
            stop = index.subscribe(self._heard)
            try:
                while True:
                    await self._news.wait()
                    await anyio.sleep(QUIET_SECONDS)
                    await self._tell(tasks)
            finally:
                stop()

    def _heard(self, event: IndexEvent) -> None:
        self._changed.update(event.changed)
        self._listing = self._listing or event.listing
        self._news.set()

    async def _tell(self, tasks: TaskGroup) -> None:
        changed, listing = self._changed, self._listing
        self._changed, self._listing, self._news = set(), False, anyio.Event()
        addresses = [INDEX, *(address(reference) for reference in sorted(changed))]
        for uri in addresses:
            await self.bus.publish(ResourceUpdated(uri=uri))
        if listing:
            await self.bus.publish(ResourcesListChanged())
        for peer in list(self._peers):
            if peer.hear(addresses, listing):
                tasks.start_soon(peer.tell)

    async def _subscribe(self, ctx: Request, params: t.SubscribeRequestParams) -> t.EmptyResult:
        self._peer(ctx).subscribed.add(str(params.uri))
        return t.EmptyResult()

    async def _unsubscribe(
        self, ctx: Request, params: t.UnsubscribeRequestParams
    ) -> t.EmptyResult:
        self._peer(ctx).subscribed.discard(str(params.uri))
        return t.EmptyResult()

    async def _initialized(self, ctx: Request, params: t.NotificationParams) -> None:
        self._peer(ctx).ready = True

    def _peer(self, ctx: Request) -> Peer:
        """The client behind a request, kept alive by its connection and by nothing else."""
        state = ctx.session._connection.state
        peer: Peer = state.setdefault(_STATE_KEY, Peer(ctx.session))
        self._peers.add(peer)
        return peer
