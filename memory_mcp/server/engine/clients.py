"""Who is connected, and what is going on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio

from memory_mcp.server.session import Options
from memory_mcp.server.traffic import Traffic

SUCCESSION_SECONDS = 10.0
"""How long a client that is back waits for the end of its broken connection."""


@dataclass(slots=True)
class Client:
    """One connection: a client of MCP, one that asks one thing, or one that holds a port open."""

    kind: str
    pid: int
    since: float
    """Seconds of the event loop's clock, as `last`."""
    options: Options
    calls: int = 0
    """Requests that wait for an answer."""
    last: float = 0.0
    """When it last said something."""
    traffic: Traffic | None = None
    """What is under way, for a client of MCP."""
    dismissed: anyio.Event = field(default_factory=anyio.Event)
    """Set when it has to look for another engine."""
    session: str = ""
    """The name that a client keeps over all its connections; empty: it has none."""
    farewell: str = ""
    """The event that tells it so; empty: nothing is said, the connection just ends."""

    def as_json(self, now: float) -> dict[str, Any]:
        """How `engine status` shows it."""
        return {
            "kind": self.kind,
            "pid": self.pid,
            "agent": self.options.agent,
            "read_only": self.options.read_only,
            "tools": list(self.options.tools),
            "connected_s": round(now - self.since, 1),
            "idle_s": round(now - max(self.last, self.since), 1),
            "calls": self.calls,
        }


@dataclass(slots=True)
class Clients:
    """All connections. Lives on the event loop."""

    _all: dict[int, Client] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _changed: anyio.Event = field(default_factory=anyio.Event)
    last: float = field(default_factory=anyio.current_time)
    """When anybody last said something, came or went."""

    def __iter__(self) -> Iterator[Client]:
        return iter(tuple(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def add(self, client: Client) -> Callable[[], None]:
        """Count a client; the result ends that."""
        number = next(self._numbers)
        self._all[number] = client
        self.touch()

        def end() -> None:
            self._all.pop(number, None)
            self.touch()

        return end

    async def succeed(self, client: Client) -> None:
        """End an earlier connection of the same client. What was begun there ends first: the
        client will ask for it again."""
        with anyio.move_on_after(SUCCESSION_SECONDS):
            while earlier := [one for one in self if self._is_same(one, client)]:
                for one in earlier:
                    one.dismissed.set()
                await self._changed.wait()

    def _is_same(self, one: Client, client: Client) -> bool:
        return one is not client and bool(one.session) and one.session == client.session

    def heard(self, client: Client, calls: int) -> None:
        """A client said something, or got an answer; so many of its calls are open now."""
        client.calls = calls
        client.last = anyio.current_time()
        self.touch()

    def touch(self) -> None:
        """Something happened."""
        self.last = anyio.current_time()
        self._changed.set()
        self._changed = anyio.Event()

    @property
    def busy(self) -> bool:
        """Whether a call is open, or a port is held."""
        return any(client.calls or client.kind == "serve" for client in self._all.values())

    async def none_left(self) -> None:
        """Wait until everybody has gone."""
        while self._all:
            await self._changed.wait()

    def dismiss(self, farewell: str) -> None:
        """Send everybody to the next engine, once the calls that are open are answered. What a
        client says from now on is left to that engine."""
        for client in self:
            client.farewell = farewell
            client.dismissed.set()
            if client.traffic is not None:
                client.traffic.leaving = True

    def cut(self) -> None:
        """From now on nobody gets an answer: the next engine gives it."""
        for client in self:
            if client.traffic is not None:
                client.traffic.cut = True
