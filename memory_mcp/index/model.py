"""The embedding model of this process: loaded behind everybody's back, asked on worker threads.

A thread that waits for a far machine is left behind when its task is cancelled.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from memory_mcp.core.errors import EmbeddingError, ModelError
from memory_mcp.core.ports import Embedder, TokenReader, Tokens, Vectors
from memory_mcp.index.queue import Pulse
from memory_mcp.index.state import EmbedderState, EmbedderStateName

log = logging.getLogger(__name__)

Given = TypeVar("Given")
Answer = TypeVar("Answer")

Asked = tuple[Vectors, Tokens | None]
"""The vector of a question, and its tokens."""
Read = tuple[Vectors, Sequence[Tokens] | None]
"""Vectors of texts, and the tokens of each."""

_REMEMBERED = 256  # questions
_QUERY_SECONDS = 5.0  # a search does not wait longer for the vector of its question


class Model:
    """State and use of the embedder that `factory` loads; None: embeddings are switched off."""

    def __init__(self, factory: Callable[[], Embedder] | None, pulse: Pulse) -> None:
        self._factory = factory
        self._pulse = pulse
        self._state: EmbedderStateName = "off" if factory is None else "loading"
        self._embedder: Embedder | None = None
        self._error: str | None = None
        self._known: OrderedDict[str, Asked] = OrderedDict()
        self._passages = CapacityLimiter(1)
        self._queries = CapacityLimiter(2)
        self._answered = anyio.Event()

    @property
    def state(self) -> EmbedderStateName:
        """loading | ready | off | failed."""
        return self._state

    @property
    def embedder(self) -> Embedder | None:
        """The embedder while it can be used."""
        return self._embedder if self._state == "ready" else None

    @property
    def error(self) -> str | None:
        """Why it cannot be used, or why it could not be loaded yet."""
        return self._error

    def describe(self) -> EmbedderState:
        """The state as a value."""
        embedder = self._embedder
        return EmbedderState(
            self._state,
            embedder.model if embedder else None,
            embedder.dimension if embedder else None,
            self._error,
            embedder.band if embedder else None,
        )

    async def load(self) -> bool:
        """Load the embedder if it is not loaded. Never raises but to be cancelled: the reason of a
        failure is in `error`. False where trying again later may help."""
        if self._factory is None or self._embedder is not None:
            return True
        try:
            self._embedder = await to_thread.run_sync(self._factory, abandon_on_cancel=True)
        except ModelError as error:
            self.fail(str(error))
            return True
        except EmbeddingError as error:
            self.fail(str(error))
            return False
        except Exception as error:  # noqa: BLE001 - a library's own error costs only the vectors
            self.fail(f"the embedding model could not be loaded: {error}")
            return True
        self._state, self._error = "ready", None
        self._pulse.beat()
        return True

    def fail(self, reason: str) -> None:
        """Give the model up: words only from here on."""
        self._state, self._error = "failed", reason
        log.warning("words only: %s", reason)
        self._pulse.beat()

    async def passages(self, texts: Sequence[str]) -> Read:
        """Unit vectors of texts, and their tokens where the model tells them. Raises
        EmbeddingError; a ModelError gives the model up."""
        embedder = self.embedder
        if embedder is None:
            raise EmbeddingError("there is no embedding model")
        work = partial(_explained, _reader(embedder), texts)
        self._answered = anyio.Event()
        try:
            return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._passages)
        except ModelError as error:
            self.fail(str(error))
            raise

    def tokens(self, text: str) -> Tokens | None:
        """The tokens of a question that was asked not long ago, where the model tells them. Never
        asks the model: who could not wait for the vector does not wait for the tokens either."""
        known = self._known.get(text)
        return None if known is None else known[1]

    async def query(self, text: str, seconds: float | None = None) -> Vectors | None:
        """The unit vector of a question; None where there is no model, or none in time. Repeats
        are remembered."""
        embedder = self.embedder
        if embedder is None:
            return None
        known = self._known.get(text)
        if known is not None:
            self._known.move_to_end(text)
            return known[0]
        asked: Asked | None = None
        with anyio.move_on_after(_QUERY_SECONDS if seconds is None else seconds):
            asked = await self._ask(embedder, text)
        if asked is not None:
            self._known[text] = asked
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return None if asked is None else asked[0]

    async def _ask(self, embedder: Embedder, text: str) -> Asked | None:
        work = partial(_explained, _asker(embedder), text)
        try:
            asked = await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._queries)
            self._answered.set()
            return asked
        except ModelError as error:
            self.fail(str(error))
        except EmbeddingError as error:
            log.warning("a question was searched by words only: %s", error)
        return None

    async def answer(self) -> None:
        """Wait until the embedder has answered a question since it was last given passages: one
        that was away then is back."""
        await self._answered.wait()


def _reader(embedder: Embedder) -> Callable[[Sequence[str]], Read]:
    if isinstance(embedder, TokenReader):
        return embedder.read
    return lambda texts: (embedder.passages(texts), None)


def _asker(embedder: Embedder) -> Callable[[str], Asked]:
    if isinstance(embedder, TokenReader):
        return embedder.ask
    return lambda text: (embedder.query(text), None)


def _explained(ask: Callable[[Given], Answer], given: Given) -> Answer:
    """Whatever a library raises costs the vectors and nothing else. Its text stays out: it may
    quote what was embedded."""
    try:
        return ask(given)
    except EmbeddingError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise EmbeddingError(f"the embedding model failed with an unexpected {kind}") from error
