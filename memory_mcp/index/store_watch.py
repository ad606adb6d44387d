"""Whether the store of vectors answers, and still has what it was given.

A server goes away, comes back, and may have lost what it had: somebody dropped its collection, or
it was started on an empty disk. Searches and writes tell what they meet with. Now and then, and
when somebody wants to know, it is asked how many vectors it has; where that is not the number
known here, what is there is learnt anew, and what is missing comes from the embedding cache.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

import anyio

from memory_mcp.core.config import Config
from memory_mcp.core.errors import StorageError
from memory_mcp.core.ports import Embedder
from memory_mcp.index.fill import Filler
from memory_mcp.index.lane import Lane
from memory_mcp.index.queue import Pulse
from memory_mcp.index.server import WAY_OUT, blamed
from memory_mcp.index.stores import open_store
from memory_mcp.notes.sources import Source

log = logging.getLogger(__name__)

_CHECK_SECONDS = 30.0
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 1.0, 60.0


class StoreWatch:
    """Opens the store of one index and knows how it is. Lives on the event loop."""

    def __init__(
        self, config: Config, sources: Sequence[Source], lane: Lane, filler: Filler, pulse: Pulse
    ) -> None:
        """`sources` may grow meanwhile."""
        self.trouble: str | None = None
        """Why the store cannot be asked; None where it can, or nobody tried."""
        self._config = config
        self._sources = sources
        self._lane = lane
        self._filler = filler
        self._pulse = pulse
        self._wake = anyio.Event()
        self._used = False
        self._pausing = False
        self._turns = 0
        """Looks that are over."""

    def fails(self, error: StorageError) -> None:
        """It could not be asked, or did not take what it was given: look at it soon."""
        if self.trouble is None:
            log.warning("words only for now: %s", error)
            self._wake.set()
        self.trouble = str(error)
        self._pulse.beat()

    def answers(self) -> None:
        """It could be asked."""
        if self.trouble is not None:
            self.trouble = None
            self._pulse.beat()

    def count(self, source_ids: Collection[str]) -> int:
        """How many vectors of some sources can be asked."""
        return 0 if self.trouble else self._lane.count(source_ids)

    @property
    def is_away(self) -> bool:
        """Whether `keep` waits for a server that was there."""
        return self.trouble is not None and self._lane.kind == "server"

    async def open(self, embedder: Embedder) -> bool:
        """Open the store for the vectors of a model, and learn what it has; also once more. False
        where it cannot be had now."""
        config, identity, size = self._config, embedder.identity, embedder.dimension
        passages = self._filler.passages
        self._used = True
        try:
            await self._lane.open(
                lambda: open_store(config, identity, size, passages),
                [source.id for source in self._sources],
            )
        except StorageError as error:
            self.fails(error)
            return False
        self.answers()
        return True

    async def keep(self, embedder: Embedder) -> None:
        """Look at an open store on a server again and again, until cancelled."""
        wait = _FIRST_WAIT_SECONDS
        while self._lane.kind == "server":
            await self.pause(wait if self.trouble else _CHECK_SECONDS)
            sound = await self._check(embedder)
            wait = _FIRST_WAIT_SECONDS if sound else min(2 * wait, _LONGEST_WAIT_SECONDS)

    async def _check(self, embedder: Embedder) -> bool:
        try:
            complete = await self._lane.is_complete()
        except StorageError as error:
            self.fails(error)
            return False
        if complete:
            self.answers()
            return True
        log.warning("the server has other vectors than it was given; looking at all of them")
        if not await self.open(embedder):
            return False
        await self._filler.put_bare()
        return True

    async def pause(self, seconds: float) -> None:
        """A look at the store is over; the next is due in so many seconds, or when `look` wants
        one, or trouble begins."""
        self._turns, self._pausing = self._turns + 1, True
        self._pulse.beat()
        with anyio.move_on_after(seconds):
            await self._wake.wait()
        self._wake, self._pausing = anyio.Event(), False

    async def look(self, seconds: float) -> None:
        """Have a server looked at from now on, so that `trouble` is of this moment; one that does
        not answer within so many seconds is in trouble, too."""
        url = self._config.vectors.url
        if url is None or not self._used:
            return
        enough = self._turns + (1 if self._pausing else 2)
        self._wake.set()
        with anyio.move_on_after(seconds):
            while self._turns < enough:
                await self._pulse.wait()
            return
        self.fails(StorageError(f"{blamed(url)} did not answer within {seconds:g} s. {WAY_OUT}"))
