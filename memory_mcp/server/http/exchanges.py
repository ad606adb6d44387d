"""The requests that are being answered, so that a port can be closed without losing one."""

from __future__ import annotations

import logging

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_mcp.index.frames import frames
from memory_mcp.server.http.guard import Refusal

log = logging.getLogger(__name__)

_STREAM = b"text/event-stream"
_LISTEN = b"subscriptions/listen"


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.cancel = anyio.CancelScope()
        self.endless = False
        """An answer that has no end of its own: a stream of news."""
        self.started = self.ended = False
        self._receive = receive
        self._send = send
        self._over = anyio.Event()
        self._news = scope["method"] == "GET" or (b"mcp-method", _LISTEN) in scope["headers"]
        self._streams = False

    def hang_up(self) -> None:
        """From now on the client has gone, as far as whoever answers can see."""
        self._over.set()

    async def receive(self) -> Message:
        """The next part of the request, or word that the client has gone."""
        message: Message = {"type": "http.disconnect"}

        async def take(scope: anyio.CancelScope) -> None:
            nonlocal message
            message = await self._receive()
            scope.cancel()

        if not self._over.is_set():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(take, tasks.cancel_scope)
                await self._over.wait()
                tasks.cancel_scope.cancel()
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.started = True
            kinds = [value for name, value in message["headers"] if name == b"content-type"]
            self._streams = any(kind.startswith(_STREAM) for kind in kinds)
            self.endless = self._news and self._streams
        elif message["type"] == "http.response.body":
            self.ended = not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """Close what was cut off in order: its reader sees an end, not an error."""
        if not self.started:
            await _busy({"type": "http"}, self.receive, self.send)
        elif self._streams and not self.ended:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


class Exchanges:
    """Counts requests on their way through; the outermost layer of the port.

    An error inside becomes a plain 500, with nothing of a note in the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: set[_Exchange] = set()
        self._leaving = False
        self._changed = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; nothing but HTTP is spoken here."""
        if scope["type"] != "http":
            return
        exchange = _Exchange(scope, receive, send)
        if self._leaving:
            await exchange.end()
            return
        self._open.add(exchange)
        try:
            with exchange.cancel:
                await self._answer(scope, exchange)
            await exchange.end()
        finally:
            self._open.discard(exchange)
            self._changed.set()

    async def finish(self) -> None:
        """Take nothing new, and wait for the answers that are under way. News are no answers."""
        self._leaving = True
        while not all(exchange.endless for exchange in self._open):
            await self._change()

    async def cut(self, seconds: float) -> None:
        """End everything that is still open: first by a word, after `seconds` by force."""
        self._leaving = True
        for exchange in self._open:
            exchange.hang_up()
        with anyio.move_on_after(seconds):
            while self._open:
                await self._change()
        for exchange in self._open:
            exchange.cancel.cancel()

    async def _change(self) -> None:
        self._changed = anyio.Event()
        await self._changed.wait()

    async def _answer(self, scope: Scope, exchange: _Exchange) -> None:
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception as error:  # noqa: BLE001 - the last frame: the client must get an answer
            log.error("a request failed: %s", frames(error))
            if not exchange.started:
                failed = Refusal(500, "the server failed; its log says more")
                await failed(scope, exchange.receive, exchange.send)


_busy = Refusal(
    503,
    "the server is closing; try again in a moment",
    (("retry-after", "1"), ("connection", "close")),
)
