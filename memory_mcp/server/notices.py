"""Telling clients that notes changed, in both eras of the protocol."""

from __future__ import annotations

import logging
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as t
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from memory_mcp.server.addresses import INDEX, address
from memory_mcp.server.session import Connection

if TYPE_CHECKING:
    from memory_mcp.index.index import Index
    from memory_mcp.index.state import IndexEvent

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
    async def running(self, index: Index) -> AsyncIterator[None]:
        """Tell clients of changes while this is open. Opened more than once, one works."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run, index)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _run(self, index: Index) -> None:
        async with self._turn:
            stop = index.subscribe(self._heard)
            try:
                while True:
                    await self._news.wait()
                    await anyio.sleep(QUIET_SECONDS)
                    await self._tell()
            finally:
                stop()

    def _heard(self, event: IndexEvent) -> None:
        self._changed.update(event.changed)
        self._listing = self._listing or event.listing
        self._news.set()

    async def _tell(self) -> None:
        changed, listing = self._changed, self._listing
        self._changed, self._listing, self._news = set(), False, anyio.Event()
        addresses = [INDEX, *(address(reference) for reference in sorted(changed))]
        for uri in addresses:
            await self.bus.publish(ResourceUpdated(uri=uri))
        if listing:
            await self.bus.publish(ResourcesListChanged())
        for peer in list(self._peers):
            await self._tell_peer(peer, addresses, listing)

    async def _tell_peer(self, peer: Peer, addresses: list[str], listing: bool) -> None:
        for uri in addresses:
            if uri in peer.subscribed:
                await peer.session.send_resource_updated(uri)
        if listing and peer.ready:
            await peer.session.send_resource_list_changed()

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
