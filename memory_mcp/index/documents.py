"""Documents of terms: what the words of a source need of whatever keeps them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from memory_mcp.index.best import Floats
from memory_mcp.index.sequence import Marks
from memory_mcp.index.sparse import Forms, Key
from memory_mcp.index.statistics import Statistics


class Documents(Protocol[Key]):
    """Documents of terms under keys. `sparse.WordIndex` has postings and finds the best at
    once; `forward.ForwardIndex` has none, and half of the size."""

    @property
    def statistics(self) -> Statistics:
        """Live documents and their total length."""
        ...

    def __len__(self) -> int: ...

    def __contains__(self, key: object) -> bool: ...

    def add(self, key: Key, words: Iterable[str]) -> None:
        """Put a document (its terms in order, "" where what follows is apart) under a key, in
        place of what was there."""
        ...

    def remove(self, key: Key) -> None:
        """Forget a document; an unknown key is ignored."""
        ...

    def frequencies(self, key: Key) -> dict[str, int]:
        """The terms of a document and how often each is in it; empty where there is none."""
        ...

    def words(self, key: Key) -> tuple[str, ...]:
        """The terms of a document in order, "" for a gap; none where there is no document."""
        ...

    def holding(self, part: str) -> list[str]:
        """Terms that hold `part` anywhere."""
        ...

    def df(self, forms: Forms) -> int:
        """How many live documents hold any of the forms."""
        ...

    def read(
        self,
        keys: Sequence[Key],
        query: Sequence[Forms],
        statistics: Statistics,
        idf: Sequence[float],
        chain: Sequence[int],
    ) -> tuple[Floats, Marks]:
        """What `parts` gives, and whether the terms in the places of `chain` follow each other in
        each document, shape (keys, places - 1)."""
        ...

    def parts(
        self,
        keys: Sequence[Key],
        query: Sequence[Forms],
        statistics: Statistics,
        idf: Sequence[float],
    ) -> Floats:
        """What each term adds to the BM25 of each document, shape (keys, terms); 0 where it is not
        in it, or it is not there."""
        ...

    def top(
        self,
        query: Sequence[Forms],
        limit: int,
        allowed: Collection[Key] | None = None,
        statistics: Statistics | None = None,
        idf: Sequence[float] | None = None,
    ) -> list[tuple[Key, float]]:
        """The best documents that hold a query term, best first; ties in the order of adding."""
        ...
