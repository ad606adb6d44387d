"""Ports: only where two implementations live today."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from memory_mcp.core.band import Band
from memory_mcp.core.chat import Function, Message, Reply
from memory_mcp.core.note import Labels

Vectors = npt.NDArray[np.float32]
Tokens = npt.NDArray[np.int8]
"""Directions of the tokens of a text, shape (tokens, bytes of one); see `index.tokens`."""


class Clock(Protocol):
    """The only way to know the time."""

    def now(self) -> datetime:
        """The current time, with its offset."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors. Blocking; called on a worker thread."""

    @property
    def identity(self) -> str:
        """Provider, weights, dimension, prefixes, pooling, normalisation: what may be mixed."""
        ...

    @property
    def model(self) -> str:
        """A short name for people."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def band(self) -> Band | None:
        """Where its cosines lie; None where its constants are known, or it does not show."""
        ...

    @property
    def batch(self) -> int:
        """How many texts one call of `passages` should get at most."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of texts to find, shape (len(texts), dimension). Raises EmbeddingError."""
        ...

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,). Raises EmbeddingError."""
        ...


@runtime_checkable
class TokenReader(Protocol):
    """An embedder that tells the tokens of a text, too, with which a question is compared word by
    word. Blocking; called on a worker thread."""

    def read(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """What `passages` gives, and the tokens of each text. Raises EmbeddingError."""
        ...

    def ask(self, text: str) -> tuple[Vectors, Tokens | None]:
        """What `query` gives, and the tokens of a question that is no paste."""
        ...


class VectorIndex(Protocol):
    """Nearest neighbours among the unit vectors of one source, by integer ids. Blocking; owned by
    one lane. Raises StorageError."""

    def add(self, ids: Sequence[int], vectors: Vectors, labels: Sequence[Labels] = ()) -> None:
        """Add or replace vectors, each with the labels that a filter by rule looks at; a store
        that has no such filters leaves them out."""
        ...

    def remove(self, ids: Sequence[int]) -> None:
        """Forget vectors; unknown ids are ignored."""
        ...

    def nearest(
        self,
        vector: Vectors,
        limit: int,
        allowed: Collection[int] | None = None,
        above: float | None = None,
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the nearest, of `allowed` or of all, best first; those that are not
        better than `above` may be left out."""
        ...

    def cosines(self, vector: Vectors, ids: Collection[int]) -> dict[int, float]:
        """Exact cosine of those of the ids that have a vector."""
        ...

    def vectors(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of these ids, where there are any."""
        ...

    def ids(self) -> Iterator[int]:
        """All ids."""
        ...

    def count(self) -> int:
        """How many vectors there are."""
        ...

    def close(self) -> None:
        """Let go of all resources."""
        ...


class VectorStore(Protocol):
    """The vectors of one home and one model."""

    @property
    def kind(self) -> str:
        """memory | edge | server."""
        ...

    def collection(self, source_id: str) -> VectorIndex:
        """The vectors of a source; made where there are none."""
        ...

    def close(self) -> None:
        """Let go of all resources."""
        ...


class Term(Protocol):
    """A word of a question with the forms it has in documents (`core.words.QueryTerm`)."""

    @property
    def forms(self) -> Collection[str]:
        """All forms that count as this word."""
        ...


class Words(Protocol):
    """What some sources hold in words (`index.wordview.WordView`)."""

    @property
    def source_ids(self) -> Collection[str]:
        """The sources whose words these are."""
        ...

    def passages(
        self,
        terms: Sequence[Term],
        limit: int,
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> list[tuple[int, float]]:
        """(point, BM25) of the best passages that hold a term, of those `allowed` by source or of
        all, best first."""
        ...


class WordSearch(Protocol):
    """Finds the passages that hold the words of a question. Lives on the event loop."""

    @property
    def trouble(self) -> str | None:
        """Why words are looked for more slowly than they could be; None where they are not."""
        ...

    @property
    def idle(self) -> bool:
        """Whether all words are where they are looked for."""
        ...

    async def best(
        self,
        words: Words,
        terms: Sequence[Term],
        limit: int,
        allowed: Mapping[str, Collection[int]] | None = None,
    ) -> list[tuple[int, float]]:
        """What `words.passages` gives, of passages that are live still. Answers in any case."""
        ...

    async def run(self) -> None:
        """Keep the words where they are looked for what the notes are, until cancelled."""
        ...

    async def close(self) -> None:
        """Let go of all resources."""
        ...


class Reasoner(Protocol):
    """A chat model that files, merges and reviews."""

    @property
    def name(self) -> str:
        """Provider and model, for people and records."""
        ...

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The answer to a conversation. It may call `functions`; with a `schema`, a JSON schema of
        an object, its text should be JSON of that form, which the caller still has to check.
        Raises ReasonerError."""
        ...


class Toolbox(Protocol):
    """The functions that a model may call while it works on a job, and what carries them out."""

    @property
    def functions(self) -> Sequence[Function]:
        """What is offered."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Carry out one of the functions; the text that the model reads. Raises MemoryMcpError,
        whose text the model is told, so that it can correct itself."""
        ...
