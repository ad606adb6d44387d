"""BM25 that can grow and shrink: postings on top of rank_bm25, the only file that knows it.

Score of a document D for a query: sum over its terms of
idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |D| / avgdl)), with Lucene's
idf(t) = log(1 + (N - df + 0.5) / (df + 0.5)), which is above zero in any collection
(rank_bm25's own is negative or zero in tiny ones). N, df and avgdl are taken at query time.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from rank_bm25 import BM25Okapi

from memory_mcp.index.best import Floats, Slots, best_of, best_where
from memory_mcp.index.sequence import NONE, Marks, Numbers, Reading, counted, length
from memory_mcp.index.statistics import K1, B, Statistics, bm25, lucene_idf, norms
from memory_mcp.index.vocabulary import Vocabulary

Key = TypeVar("Key", bound=Hashable)
Forms = Collection[str]
"""The document forms of one query term: counted as if they were one word."""

_ROOM = 64  # documents at first; twice as many whenever it is full
_FEW = 10  # times the number asked for: so many allowed documents are looked at one by one
_COUNT_BITS = 16  # of a posting, which is slot << 16 | tf: one number takes half the time of two
_MOST = (1 << _COUNT_BITS) - 1
_TERM_BITS = 48  # where the number of a term goes, above any slot


class WordIndex(BM25Okapi, Generic[Key]):  # type: ignore[misc]  # rank_bm25 has no types
    """Documents of terms under keys of the caller's choice (a `Documents`).

    `get_scores` and `get_batch_scores` keep the meaning they have in rank_bm25, by slot: the
    place of a document, which a later one may get when it is gone.

    Postings are sorted by slot. A removed document leaves them at once, for some microseconds a
    word: nothing is to be cleared up later, in one long go, while searches wait.
    """

    def __init__(
        self,
        corpus: Iterable[Sequence[str]] = (),
        k1: float = K1,
        b: float = B,
        mode: Literal["lucene", "okapi"] = "lucene",
    ) -> None:
        self.mode = mode
        self._vocabulary = Vocabulary()
        self._posts: list[array[int]] = []
        self._documents: list[Numbers | None] = []
        self._lengths = np.zeros(_ROOM, np.int32)
        self._orders = np.zeros(_ROOM, np.int64)
        self._keys: list[Key | None] = []
        self._slot_of: dict[Key, int] = {}
        self._free_slots: list[int] = []
        self._total = 0
        self._added = 0
        super().__init__(list(corpus), k1=k1, b=b)

    def _initialize(self, corpus: list[Sequence[str]]) -> dict[str, int]:
        for slot, document in enumerate(corpus):
            self.add(slot, document)  # type: ignore[arg-type]  # a plain corpus has its places as keys
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

    def holding(self, part: str) -> list[str]:
        """Terms that hold `part` anywhere."""
        return self._vocabulary.holding(part)

    def add(self, key: Key, words: Iterable[str]) -> None:
        """Put a document (its terms in order, "" where what follows is apart) under a key, in
        place of what was there."""
        self.remove(key)
        slot = self._new_slot()
        posts, place = self._posts, slot << _COUNT_BITS
        document = self._vocabulary.numbers(words)
        while len(posts) < len(self._vocabulary):
            posts.append(array("q"))
        for number, count in counted(document).items():
            own, posting = posts[number], place | min(count, _MOST)
            if own and own[-1] > place:
                own.insert(bisect_left(own, place), posting)
            else:
                own.append(posting)
        self._documents[slot] = document
        self._lengths[slot] = length(document)
        self._orders[slot] = self._added = self._added + 1
        self._keys[slot] = key
        self._slot_of[key] = slot
        self._total += length(document)

    def _new_slot(self) -> int:
        if self._free_slots:
            return self._free_slots.pop()
        slot = len(self._keys)
        if slot == len(self._lengths):
            self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
            self._orders = np.concatenate([self._orders, np.zeros_like(self._orders)])
        self._documents.append(None)
        self._keys.append(None)
        return slot

    def remove(self, key: Key) -> None:
        """Forget a document; an unknown key is ignored."""
        slot = self._slot_of.pop(key, None)
        document = self._documents[slot] if slot is not None else None
        if slot is None or document is None:
            return
        place = slot << _COUNT_BITS
        for number in counted(document):
            own = self._posts[number]
            del own[bisect_left(own, place)]
            if not own:
                self._vocabulary.forget(number)
        self._total -= int(self._lengths[slot])
        self._documents[slot], self._keys[slot], self._lengths[slot] = None, None, 0
        self._free_slots.append(slot)

    def frequencies(self, key: Key) -> dict[str, int]:
        """The terms of a document and how often each is in it; empty where there is none."""
        term = self._vocabulary.term
        return {term(number): n for number, n in counted(self._document(key)).items()}

    def words(self, key: Key) -> tuple[str, ...]:
        """The terms of a document in order, "" for a gap; none where there is no document."""
        return self._vocabulary.words(self._document(key))

    def _document(self, key: Key) -> Numbers:
        slot = self._slot_of.get(key)
        document = self._documents[slot] if slot is not None else None
        return NONE if document is None else document

    def read(
        self,
        keys: Sequence[Key],
        query: Sequence[Forms],
        statistics: Statistics,
        idf: Sequence[float],
        chain: Sequence[int],
    ) -> tuple[Floats, Marks]:
        """What `parts` gives, and whether the terms in the places of `chain` follow each other in
        each document, shape (keys, places - 1). For short documents: they are read."""
        slots, documents = self._slots(keys), self._documents
        there = [(documents[slot] or NONE) if slot >= 0 else NONE for slot in slots.tolist()]
        reading = Reading(there, list(map(self._vocabulary.known, query)))
        lengths = self._lengths[slots]
        scores = bm25(reading.times(), lengths, statistics, idf, self.k1, self.b)
        return scores, reading.following(chain)

    def parts(
        self,
        keys: Sequence[Key],
        query: Sequence[Forms],
        statistics: Statistics,
        idf: Sequence[float],
    ) -> Floats:
        """What each term adds to the score of each document, shape (keys, terms); 0 where it is
        not in it, or it is not there. For documents of any length: postings are looked at."""
        slots = self._slots(keys)
        return bm25(
            self._times(query, slots), self._lengths[slots], statistics, idf, self.k1, self.b
        )

    def _times(self, query: Sequence[Forms], slots: Slots) -> Slots:
        """How often the documents in these slots hold each term, shape (slots, terms). With the
        number of the term before the slot all postings are one ascending list."""
        posts, numbers = self._posted(query)
        terms = np.arange(len(query)) << _TERM_BITS
        if not len(posts):
            return np.zeros((len(slots), len(query)), np.int64)
        posts += terms.repeat(numbers)
        wanted = (slots[:, None] << _COUNT_BITS) + terms
        near = posts[np.minimum(posts.searchsorted(wanted), len(posts) - 1)]
        there = (near >> _COUNT_BITS == wanted >> _COUNT_BITS) & (slots >= 0)[:, None]
        times: Slots = np.where(there, near & _MOST, 0)
        return times

    def _slots(self, keys: Iterable[Key]) -> Slots:  # -1 where there is none
        return np.array([self._slot_of.get(key, -1) for key in keys], np.int64)

    def df(self, forms: Forms) -> int:
        """How many live documents hold any of the forms."""
        known = self._vocabulary.known(forms)
        if len(known) == 1:
            return len(self._posts[known[0]])
        return len(self._postings(known))

    def _postings(self, known: Sequence[int]) -> Slots:
        """Postings of any of some terms, each document once and ascending."""
        each = [np.frombuffer(self._posts[number], np.int64) for number in known]
        if len(each) < 2:
            return each[0] if each else np.empty(0, np.int64)
        posts = np.concatenate(each)
        slots, where = np.unique(posts >> _COUNT_BITS, return_inverse=True)
        counts = np.bincount(where, posts & _MOST, len(slots)).astype(np.int64)
        merged: Slots = slots << _COUNT_BITS | np.minimum(counts, _MOST)
        return merged

    def _posted(self, query: Sequence[Forms]) -> tuple[Slots, list[int]]:
        """Postings of all terms, one after the other, and how many each has. No view into a
        posting list outlives this: one that is looked at, if only by the frames of an error that
        somebody keeps, cannot grow."""
        each = [self._postings(self._vocabulary.known(forms)) for forms in query]
        return np.concatenate([np.empty(0, np.int64), *each]), list(map(len, each))

    def scores(
        self, query: Sequence[Forms], statistics: Statistics, idf: Sequence[float]
    ) -> Floats:
        """BM25 by slot, shape (slots,), zero where no term is. Statistics may be pooled ones."""
        if not self._keys:
            return np.zeros(0)
        posts, numbers = self._posted(query)
        slots, tf = posts >> _COUNT_BITS, posts & _MOST
        weights = np.asarray(idf).repeat(numbers)
        size = norms(statistics, self._lengths[: len(self._keys)], self.k1, self.b)
        parts = weights * tf * (self.k1 + 1) / (tf + size[slots])
        scores: Floats = np.bincount(slots, parts, len(self._keys)).astype(np.float64, copy=False)
        return scores

    def top(
        self,
        query: Sequence[Forms],
        limit: int,
        allowed: Collection[Key] | None = None,
        statistics: Statistics | None = None,
        idf: Sequence[float] | None = None,
    ) -> list[tuple[Key, float]]:
        """The best documents that hold a query term, best first; ties in the order of adding."""
        if not self._keys:
            return []
        pooled = statistics or self.statistics
        weights = (
            idf if idf is not None else [lucene_idf(pooled.documents, self.df(q)) for q in query]
        )
        total = self.scores(query, pooled, weights)
        found = np.flatnonzero(total)
        if allowed is None:
            best = best_of(total, self._orders, found, limit)
        elif len(allowed) <= _FEW * limit:
            best = best_of(total, self._orders, self._among(total, allowed), limit)
        else:
            keys = self._keys
            best = best_where(total, self._orders, found, lambda n: keys[n] in allowed, limit)
        hits = zip([self._keys[slot] for slot in best], total[best].tolist(), strict=True)
        return [(key, score) for key, score in hits if key is not None]

    def _among(self, total: Floats, keys: Collection[Key]) -> Slots:
        """Slots of those of the keys that have a score."""
        slots = self._slots(key for key in keys if key in self._slot_of)
        return slots[total[slots] > 0]

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
        frequencies = map(len, self._posts)
        each = [math.log(size - n + 0.5) - math.log(n + 0.5) for n in frequencies if n]
        return float(self.epsilon * sum(each) / len(each))
