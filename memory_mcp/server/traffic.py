"""What is under way on one connection, for whoever has to end it in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import anyio

Id = str | int

MOST_CALLS = 128
"""Calls of one client that may be open at once. Their answers wait in memory where it does not
read; before another call is taken, one of them must have gone out."""

PATIENCE_SECONDS = 60.0
"""A client that takes no answer for so long while so many wait is given up."""


class Traffic:
    """The open calls of one connection. Lives on the event loop."""

    def __init__(self, heard: Callable[[int], None] | None = None) -> None:
        """`heard` is told how many calls are open, with each message and each answer."""
        self._open: Counter[Id] = Counter()
        self._heard = heard
        self._changed = anyio.Event()
        self.leaving = False
        """No new call is begun: another engine will do it."""
        self.cut = False
        """Nothing more is written: what was not answered is done elsewhere."""

    @property
    def calls(self) -> int:
        """How many calls have no answer yet."""
        return self._open.total()

    def __contains__(self, number: object) -> bool:
        return number in self._open

    def said(self) -> None:
        """The client sent something that opens no call."""
        self._tell()

    def opened(self, number: Id) -> None:
        """A call has begun."""
        self._open[number] += 1
        self._tell()

    def closed(self, number: object) -> None:
        """A call was answered or cancelled; one that is not known does not count."""
        if isinstance(number, (str, int)) and self._open[number] > 1:
            self._open[number] -= 1
        elif isinstance(number, (str, int)):
            del self._open[number]
        self._tell()

    async def room(self) -> bool:
        """Wait until another call may begin; False where the client takes no answers."""
        while self.calls >= MOST_CALLS:
            with anyio.move_on_after(PATIENCE_SECONDS) as waiting:
                await self._changed.wait()
            if waiting.cancelled_caught:
                return False
        return True

    async def quiet(self) -> None:
        """Wait until no call is open."""
        while self._open:
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
        if self._heard is not None:
            self._heard(self.calls)
