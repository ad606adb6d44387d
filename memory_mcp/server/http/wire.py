"""Connections as the web server has them, with bounds: how many, and how long they may dawdle."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 500
"""Open connections of a port. Each is a file handle of the engine, which needs some, too."""

HEAD_SECONDS = 10.0
"""How long the head of a request may take to arrive."""


class Wire(H11Protocol):
    """HTTP/1.1. One connection too many is closed at once, and one that does not say what it
    wants after a while: neither has a token yet, so neither may cost much."""

    connections_most = CONNECTIONS
    head_seconds = HEAD_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        if len(self.connections) > self.connections_most:
            transport.abort()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several of them."""
        answered = self.cycle
        super().data_received(data)
        if self.cycle is not answered:
            self._stop_waiting()
        if self._is_between():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_between(self) -> bool:
        """Whether there is no request that is being answered, nor one that is being read."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(self.head_seconds, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_slow(self) -> None:
        self._waiting = None
        if self._is_between() and not self.transport.is_closing():
            self.transport.close()
