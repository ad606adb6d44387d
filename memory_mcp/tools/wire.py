"""Requests to a server of MCP over a link, one at a time, whatever becomes of an engine."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from memory_mcp import __version__
from memory_mcp.core.errors import EngineError

TRIES = 3
"""How many engines may be lost over one request."""

_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "memory-mcp-tools", "version": __version__},
}


class Link(Protocol):
    """A way to a server, as those of the front."""

    @property
    def recognises(self) -> bool:
        """Whether it knows a request that comes for the second time."""
        ...

    def send(self, data: bytes) -> None:
        """Send all of it. Raises OSError."""
        ...

    def lines(self) -> Iterator[bytes]:
        """Whole lines until the server is gone."""
        ...

    def interrupt(self) -> None:
        """End `lines`, from another thread."""
        ...

    def close(self) -> object:
        """Let go."""
        ...


class Wire:
    """One client of the server. Safe to use from several threads: their requests take turns."""

    def __init__(self, connect: Callable[[list[str]], Link], seconds: float) -> None:
        """`connect` makes a link, and is told the ids of requests that come for the second time;
        `seconds` is the longest that a request may take."""
        self._connect = connect
        self._seconds = seconds
        self._turn = threading.Lock()
        self._link: Link | None = None
        self._lines: Iterator[bytes] = iter(())
        self._prefix = os.urandom(8).hex()
        self._count = 0
        self._late = False
        self.opening: dict[str, Any] = {}
        """What the server said when hands were shaken last."""

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The whole answer to a request, a result or an error of the protocol in it.

        A request that an engine took with it is asked of the next one, which knows what was done
        already. Raises EngineError where no server answers, or not in time."""
        with self._turn:
            self._count += 1
            number = f"{self._prefix}-{self._count}"
            message = {"id": number, "method": method, "params": dict(params or {})}
            sent: list[str] = []
            for _ in range(TRIES):
                link = self._ready(sent)
                if sent and not link.recognises:
                    break
                sent = [number]
                answer = self._exchange(link, message)
                if answer is not None:
                    return answer
                self._drop()
            raise EngineError(
                f"{method} was not answered: the server of the memory ended while it was at work."
                " It may have been done: read the note before you repeat a change."
            )

    def open(self) -> None:
        """Shake hands now, where that was not done yet. Raises as `request`."""
        with self._turn:
            self._ready([])

    def close(self) -> None:
        """Hang up; the next request would call again."""
        with self._turn:
            self._drop()

    def _ready(self, repeated: list[str]) -> Link:
        if self._link is not None:
            return self._link
        for _ in range(TRIES):
            link = self._link = self._connect(repeated)
            self._lines = iter(link.lines())
            self._count += 1
            number = f"{self._prefix}-{self._count}"
            hello = {"id": number, "method": "initialize", "params": _HELLO}
            answer = self._exchange(link, hello)
            if answer is not None and "result" in answer:
                self.opening = answer["result"]
                self._send(link, {"method": "notifications/initialized"})
                return link
            self._drop()
        raise EngineError("the server of the memory does not shake hands; see memory-mcp doctor")

    def _exchange(self, link: Link, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to a message; None where the link broke. Raises EngineError if it is late."""
        self._late = False
        timer = threading.Timer(self._seconds, self._expire, (link,))
        timer.daemon = True
        timer.start()
        try:
            answer = self._answer(message["id"]) if self._send(link, message) else None
        finally:
            timer.cancel()
        if answer is None and self._late:
            self._drop()
            raise EngineError(
                f"{message['method']} was not answered within {self._seconds:g} s. It may be done"
                " yet: read the note before you repeat a change."
            )
        return answer

    def _expire(self, link: Link) -> None:
        self._late = True
        link.interrupt()

    def _send(self, link: Link, message: Mapping[str, Any]) -> bool:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n"
        try:
            link.send(line)
        except OSError:
            return False
        return True

    def _answer(self, number: str) -> dict[str, Any] | None:
        for line in self._lines:
            said = json.loads(line)
            if said.get("id") == number and "method" not in said:
                answer: dict[str, Any] = said
                return answer
        return None

    def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()
