"""BM25 that can grow and shrink: postings on top of rank_bm25, the only file that knows it.

Score of a document D for a query: sum over its terms of
idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |D| / avgdl)), with Lucene's
idf(t) = log(1 + (N - df + 0.5) / (df + 0.5)), which is above zero in any collection
(rank_bm25's own is negative or zero in tiny ones). N, df and avgdl are taken at query time.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

Key = TypeVar("Key", bound=Hashable)
Forms = Collection[str]
"""The document forms of one query term: counted as if they were one word."""
Floats = npt.NDArray[np.float64]
Slots = npt.NDArray[np.int32]

K1, B = 1.2, 0.75  # Lucene's; on our questions they hardly matter
_COUNT_BITS = 16  # of a posting, which is slot << 16 | tf: one number takes half the time of two
_MOST = (1 << _COUNT_BITS) - 1
COMPACT_FROM = 1000  # dead documents before their postings are worth rewriting (122 ms at 10,000)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What scores depend on beyond one document; pooled over several indexes by adding."""

    documents: int
    length: int

    @property
    def average(self) -> float:
        """Mean length of a document, 1 where there is nothing to divide."""
        return self.length / self.documents if self.length else 1.0


class WordIndex(BM25Okapi, Generic[Key]):  # type: ignore[misc]  # rank_bm25 has no types
    """Documents of counted terms under keys of the caller's choice.

    `get_scores` and `get_batch_scores` keep the meaning they have in rank_bm25, by slot: the
    place of a document in the order of adding (compaction moves it).
    """

    def __init__(
        self,
        corpus: Iterable[Sequence[str]] = (),
        k1: float = K1,
        b: float = B,
        mode: Literal["lucene", "okapi"] = "lucene",
    ) -> None:
        self.mode = mode
        self._empty()
        super().__init__(list(corpus), k1=k1, b=b)

    def _empty(self) -> None:
        self._ids: dict[str, int] = {}
        self._terms: list[str] = []
        self._posts: list[array[int]] = []
        self._gone: dict[int, int] = {}
        self._documents: list[tuple[array[int], array[int]] | None] = []
        self._lengths = array("l")
        self._keys: list[Key | None] = []
        self._slot_of: dict[Key, int] = {}
        self._total = 0
        self._dead = 0
        self._joined = (0, "\n")

    def _initialize(self, corpus: list[Sequence[str]]) -> dict[str, int]:
        for slot, document in enumerate(corpus):
            counts: dict[str, int] = {}
            for term in document:
                counts[term] = counts.get(term, 0) + 1
            self.add(slot, counts)  # type: ignore[arg-type]  # a plain corpus has its places as keys
        return {}

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        """Nothing in advance: idf is taken at query time."""

    @property
    def statistics(self) -> Statistics:
        """Live documents and their total length."""
        return Statistics(len(self._slot_of), self._total)

    def __len__(self) -> int:
        return len(self._slot_of)

    def __contains__(self, key: object) -> bool:
        return key in self._slot_of

    def keys(self) -> Collection[Key]:
        """Keys of all live documents."""
        return self._slot_of.keys()

    def vocabulary(self) -> Collection[str]:
        """All terms, also of documents that are gone."""
        return self._ids.keys()

    def holding(self, part: str) -> list[str]:
        """Terms that hold `part` anywhere, also of documents that are gone. They are looked for
        in one long text, 1 ms for 100,000 terms, where asking each one takes ten times that."""
        if self._joined[0] != len(self._terms):
            self._joined = (len(self._terms), "\n".join(["", *self._terms, ""]))
        text = self._joined[1]
        found = []
        place = text.find(part)
        while place > 0:
            end = text.index("\n", place)
            found.append(text[text.rindex("\n", 0, place) + 1 : end])
            place = text.find(part, end)
        return found

    def add(self, key: Key, counts: Mapping[str, int]) -> None:
        """Put a document (term -> how often) under a key, in place of what was there."""
        self.remove(key)
        slot = len(self._keys)
        ids, posts, place = self._ids, self._posts, slot << _COUNT_BITS
        numbers = array("i", [ids[t] if t in ids else self._new_term(t) for t in counts])
        times = array("i", [min(count, _MOST) for count in counts.values()])
        for number, count in zip(numbers, times, strict=True):
            posts[number].append(place | count)
        length = sum(times)
        self._documents.append((numbers, times))
        self._lengths.append(length)
        self._keys.append(key)
        self._slot_of[key] = slot
        self._total += length

    def _new_term(self, term: str) -> int:
        number = self._ids[term] = len(self._terms)
        self._terms.append(term)
        self._posts.append(array("q"))
        return number

    def remove(self, key: Key) -> None:
        """Forget a document; an unknown key is ignored. Its postings stay until compaction."""
        slot = self._slot_of.pop(key, None)
        if slot is None:
            return
        document = self._documents[slot]
        for number in document[0] if document is not None else ():
            self._gone[number] = self._gone.get(number, 0) + 1
        self._total -= self._lengths[slot]
        self._documents[slot], self._keys[slot] = None, None
        self._dead += 1
        if self._dead > COMPACT_FROM and self._dead * 4 > len(self._keys):
            self._compact()

    def _compact(self) -> None:
        live = [(key, self.frequencies(key)) for key in self._slot_of]
        self._empty()
        for key, counts in live:
            self.add(key, counts)

    def frequencies(self, key: Key) -> dict[str, int]:
        """The terms of a document and how often each is in it; empty where there is none."""
        slot = self._slot_of.get(key)
        document = self._documents[slot] if slot is not None else None
        if document is None:
            return {}
        return {self._terms[n]: count for n, count in zip(*document, strict=True)}

    def df(self, forms: Forms) -> int:
        """How many live documents hold any of the forms."""
        known = [number for form in set(forms) if (number := self._ids.get(form)) is not None]
        if len(known) == 1:
            return self._df(known[0])
        return len(self._postings(forms)[0]) if known else 0

    def _df(self, number: int) -> int:
        return len(self._posts[number]) - self._gone.get(number, 0)

    def _postings(self, forms: Forms) -> tuple[Slots, Floats]:
        """Live slots, each once, and the summed tf."""
        known = [number for form in set(forms) if (number := self._ids.get(form)) is not None]
        if not known:
            return np.empty(0, np.int32), np.empty(0, np.float64)
        posts = np.concatenate([np.array(self._posts[n], np.int64) for n in known])
        slots: Slots = (posts >> _COUNT_BITS).astype(np.int32)
        counts: Floats = (posts & _MOST).astype(np.float64)
        if self._dead:
            live = self._live()[slots]
            slots, counts = slots[live], counts[live]
        if len(known) > 1:
            slots, where = np.unique(slots, return_inverse=True)
            return slots, np.bincount(where, counts, len(slots)).astype(np.float64)
        return slots, counts

    def _live(self) -> npt.NDArray[np.bool_]:
        live = np.zeros(len(self._keys), np.bool_)
        live[list(self._slot_of.values())] = True
        return live

    def scores(
        self, query: Sequence[Forms], statistics: Statistics, idf: Sequence[float]
    ) -> Floats:
        """BM25 by slot, shape (slots,), zero where no term is. Statistics may be pooled ones."""
        total = np.zeros(len(self._keys))
        lengths = np.array(self._lengths, np.float64)
        for forms, weight in zip(query, idf, strict=True):
            slots, tf = self._postings(forms)
            norm = self.k1 * (1 - self.b + self.b * lengths[slots] / statistics.average)
            total[slots] += weight * tf * (self.k1 + 1) / (tf + norm)
        return total

    def top(
        self,
        query: Sequence[Forms],
        limit: int,
        allowed: Collection[Key] | None = None,
        statistics: Statistics | None = None,
        idf: Sequence[float] | None = None,
    ) -> list[tuple[Key, float]]:
        """The best documents that hold a query term, best first; ties in the order of adding."""
        pooled = statistics or self.statistics
        weights = (
            idf if idf is not None else [lucene_idf(pooled.documents, self.df(q)) for q in query]
        )
        total = self.scores(query, pooled, weights)
        if allowed is not None:
            keep = [slot for key in allowed if (slot := self._slot_of.get(key)) is not None]
            found = np.array(sorted(slot for slot in keep if total[slot] > 0), np.int64)
        else:
            found = np.flatnonzero(total)
        if len(found) > limit > 0:
            found = found[np.sort(np.argpartition(-total[found], limit - 1)[:limit])]
        order = found[np.argsort(-total[found], kind="stable")][: max(0, limit)]
        return [(self._key(int(slot)), float(total[slot])) for slot in order]

    def _key(self, slot: int) -> Key:
        key = self._keys[slot]
        assert key is not None
        return key

    def get_scores(self, query: Sequence[str]) -> Floats:
        """As in rank_bm25: the score of every slot; a removed document has 0."""
        each = [(term,) for term in query]
        return self.scores(each, self.statistics, [self._weight(term) for term in query])

    def get_batch_scores(self, query: Sequence[str], doc_ids: Sequence[int]) -> list[Any]:
        """As in rank_bm25: the scores of some slots."""
        scores: list[Any] = self.get_scores(query)[list(doc_ids)].tolist()
        return scores

    def _weight(self, term: str) -> float:
        df = self.df((term,))
        if self.mode == "lucene":
            return lucene_idf(len(self), df)
        return self._okapi_idf(df) if df else 0.0

    def _okapi_idf(self, df: int) -> float:
        """rank_bm25's idf: below zero it becomes a share (epsilon) of the mean over all terms."""
        size = len(self)
        idf = math.log(size - df + 0.5) - math.log(df + 0.5)
        if idf >= 0:
            return idf
        frequencies = map(self._df, range(len(self._terms)))
        each = [math.log(size - n + 0.5) - math.log(n + 0.5) for n in frequencies if n]
        return float(self.epsilon * sum(each) / len(each))


def lucene_idf(documents: int, df: int) -> float:
    """log(1 + (N - df + 0.5) / (df + 0.5)): Lucene's, above zero in any collection."""
    if documents == 0:
        return 0.0
    return math.log(1 + (documents - df + 0.5) / (df + 0.5))
