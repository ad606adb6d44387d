"""BM25 that grows and shrinks scores as one that was built from scratch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memory_mcp.index.forward import ForwardIndex
from memory_mcp.index.sparse import WordIndex
from memory_mcp.index.statistics import lucene_idf
from memory_mcp.index.wordview import SourceWords, WordView

WORDS = ["oak", "iron", "stone", "gate", "moss", "rain", "lamp"]
documents = st.lists(st.sampled_from(WORDS), max_size=12)
steps = st.lists(st.tuples(st.integers(0, 9), st.none() | documents), max_size=40)
queries = st.lists(
    st.lists(st.sampled_from([*WORDS, "absent"]), min_size=1, max_size=3, unique=True),
    min_size=1,
    max_size=4,
)


@dataclass(frozen=True)
class Word:
    """A query term with its forms."""

    forms: tuple[str, ...]


def naive(corpus: dict[int, list[str]], query: Sequence[Sequence[str]]) -> dict[int, float]:
    """BM25 with Lucene's idf, by the book."""
    size = len(corpus)
    mean = sum(map(len, corpus.values())) / size if size else 0
    scores: dict[int, float] = {}
    for forms in query:
        tf = {key: sum(document.count(f) for f in forms) for key, document in corpus.items()}
        df = sum(1 for count in tf.values() if count)
        if not df:
            continue
        idf = math.log(1 + (size - df + 0.5) / (df + 0.5))
        for key, count in tf.items():
            if count:
                norm = 1.2 * (1 - 0.75 + 0.75 * len(corpus[key]) / mean)
                scores[key] = scores.get(key, 0) + idf * count * 2.2 / (count + norm)
    return scores


@given(steps, queries)
@settings(max_examples=300, deadline=None)
def test_after_any_changes_scores_are_those_of_a_naive_bm25(
    changes: list[tuple[int, list[str] | None]], query: list[list[str]]
) -> None:
    index: WordIndex[int] = WordIndex()
    corpus: dict[int, list[str]] = {}
    for key, document in changes:
        if document is None:
            index.remove(key)
            corpus.pop(key, None)
        else:
            index.add(key, document)
            corpus[key] = document
    expected = naive(corpus, query)
    found = dict(index.top(query, 100))
    assert found.keys() == expected.keys()
    for key, score in found.items():
        assert score == pytest.approx(expected[key], rel=1e-9)
        assert score > 0
    for forms in query:
        assert index.df(forms) == sum(1 for d in corpus.values() if set(forms) & set(d))
    for key, document in corpus.items():
        assert index.frequencies(key) == Counter(document)


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), min_size=1, max_size=15),
    st.lists(st.sampled_from([*WORDS, "absent"]), min_size=1, max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_in_okapi_mode_a_static_corpus_scores_as_in_rank_bm25(
    corpus: list[list[str]], query: list[str]
) -> None:
    theirs = BM25Okapi(corpus)
    ours: WordIndex[int] = WordIndex(corpus, k1=1.5, b=0.75, mode="okapi")
    assert ours.get_scores(query).tolist() == pytest.approx(theirs.get_scores(query).tolist())
    places = list(range(0, len(corpus), 2))
    assert ours.get_batch_scores(query, places) == pytest.approx(
        theirs.get_batch_scores(query, places)
    )


@given(steps, steps, queries, st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_pooled_sources_score_as_one_collection(
    left: list[tuple[int, list[str] | None]],
    right: list[tuple[int, list[str] | None]],
    query: list[list[str]],
    limit: int,
) -> None:
    sources = {"a": SourceWords(), "b": SourceWords()}
    corpus: dict[int, list[str]] = {}
    for name, offset, changes in (("a", 0, left), ("b", 100, right)):
        for key, document in changes:
            point = offset + key
            if document is None:
                sources[name].passages.remove(point)
                corpus.pop(point, None)
            else:
                sources[name].passages.add(point, document)
                corpus[point] = document
    view = WordView(sources)
    terms = [Word(tuple(forms)) for forms in query]
    expected = naive(corpus, query)
    best = sorted(expected.values(), reverse=True)[:limit]
    assert [score for _, score in view.passages(terms, limit)] == pytest.approx(best)
    odd = {point for point in corpus if point % 2}
    allowed = {"a": odd, "b": odd}
    kept = {point: score for point, score in expected.items() if point % 2}
    assert dict(view.passages(terms, 100, allowed)) == pytest.approx(kept)
    every = {
        "b": [point for point in corpus if point >= 100],
        "a": [*[point for point in corpus if point < 100], 99],
    }
    parts, _ = view.of_passages(terms, every)
    every_one = [*every["b"], *every["a"]]
    scores = dict(zip(every_one, parts.sum(axis=1).tolist(), strict=True))
    assert scores == pytest.approx(
        dict.fromkeys(every_one, 0.0) | dict(view.passages(terms, 1000))
    )


@given(
    documents=st.lists(st.sampled_from(WORDS), min_size=80, max_size=160),
    step=st.integers(1, 7),
    limit=st.integers(0, 9),
)
def test_a_filter_leaves_the_best_of_what_it_allows(
    documents: list[str], step: int, limit: int
) -> None:
    index: WordIndex[int] = WordIndex()
    for key, word in enumerate(documents):
        index.add(key, [word] * (1 + key % 3) + ["all"])
    query = [("oak",), ("iron", "all")]
    allowed = set(range(0, len(documents), step))
    everything = index.top(query, len(documents))
    kept = [hit for hit in everything if hit[0] in allowed][:limit]
    assert index.top(query, limit, allowed) == kept


def test_one_document_and_none_have_scores_that_make_sense() -> None:
    index: WordIndex[str] = WordIndex()
    assert index.top([("oak",)], 5) == []
    assert index.get_scores(["oak"]).tolist() == []
    index.add("only", ["oak"])
    ((key, score),) = index.top([("oak",)], 5)
    assert key == "only"
    assert score > 0
    index.add("only", [])
    assert index.top([("oak",)], 5) == []


def test_more_mentions_never_score_lower_in_two_documents() -> None:
    index: WordIndex[str] = WordIndex()
    index.add("once", ["moss", "rain", "rain", "rain"])
    index.add("often", ["moss"] * 4)
    assert [key for key, _ in index.top([("moss",)], 5)] == ["often", "once"]


def test_idf_is_above_zero_even_for_a_word_that_is_everywhere() -> None:
    assert lucene_idf(1, 1) == pytest.approx(0.2877, abs=1e-4)
    assert lucene_idf(0, 0) == 0.0
    assert lucene_idf(100, 100) > 0


def test_places_that_were_taken_again_change_no_score() -> None:
    index: WordIndex[int] = WordIndex()
    fresh: WordIndex[int] = WordIndex()
    size = 2200
    for key in range(size):
        index.add(key, [WORDS[key % 7]] * (1 + key % 3) + [WORDS[(key * 3) % 7]])
    for key in range(0, size, 2):
        index.remove(key)
    for key in range(1, size, 2):
        fresh.add(key, [WORDS[key % 7]] * (1 + key % 3) + [WORDS[(key * 3) % 7]])
    for some in (index, fresh):
        for key in range(size, size + 50):
            some.add(key, ["iron", "only"])
    assert len(index) == len(fresh)
    index.remove(-1)
    assert index.top([("oak",), ("iron",)], 50) == fresh.top([("oak",), ("iron",)], 50)


def test_a_passage_is_said_to_hold_every_term_of_which_it_has_a_form() -> None:
    sources = {"a": SourceWords(), "b": SourceWords()}
    sources["a"].passages.add(1, ["oak", "moss", "oak"])
    sources["b"].passages.add(2, ["iron"])
    sources["b"].passages.add(3, [])
    terms = [Word(("oak", "iron")), Word(("rain",)), Word(("moss", "oak"))]
    view, there = WordView(sources), {"b": [2, 3], "a": [1, 4], "c": [5]}
    parts, follow = view.of_passages(terms, there, (0, 2))
    assert [row.nonzero()[0].tolist() for row in parts] == [[0], [], [0, 2], [], []]
    assert follow.tolist() == [[False], [False], [True], [False], [False]]
    nothing, none = view.of_passages(terms, {}, (0, 1, 2))
    assert (nothing.shape, none.shape) == ((0, 3), (0, 2))


def test_whole_notes_are_ranked_by_source_and_path() -> None:
    sources = {"a": SourceWords(), "b": SourceWords()}
    sources["a"].notes.add("garden", ["oak", "oak"])
    sources["b"].notes.add("garden", ["oak", "iron"])
    view = WordView(sources)
    assert [key for key, _ in view.notes([Word(("oak",))], 5)] == [
        ("a", "garden"),
        ("b", "garden"),
    ]
    all_notes = dict(view.notes([Word(("oak",))], 5))
    parts = view.of_notes([Word(("oak",))], {"b": ["garden"], "c": ["garden"]})
    assert parts.tolist() == [[pytest.approx(all_notes["b", "garden"])], [0.0]]


def test_an_error_that_is_kept_does_not_stop_the_index_from_growing() -> None:
    index: WordIndex[int] = WordIndex()
    index.add(0, ["oak"])
    kept = []
    for ask in (index.scores, lambda *given: index.parts([0], *given)):
        with pytest.raises(TypeError) as caught:
            ask([("oak",)], index.statistics, ["no number"])  # type: ignore[list-item]
        kept.append(caught.value.__traceback__)  # its frames hold what they worked on
    for key in range(1, 500):
        index.add(key, ["oak"])
    assert len(index.top([("oak",)], 1000)) == 500


def test_a_word_may_be_there_more_often_than_a_posting_counts() -> None:
    index: WordIndex[str] = WordIndex()
    index.add("much", ["oak"] * 70_000)
    index.add("more", ["oak"] * 140_000)
    assert index.frequencies("much") == {"oak": 70_000}
    assert {key for key, _ in index.top([("oak",)], 5)} == {"much", "more"}
    index.remove("much")
    assert index.df(["oak"]) == 1


@pytest.mark.parametrize("make", [WordIndex, ForwardIndex])
def test_a_form_that_folds_to_nothing_is_in_no_document(make: type[WordIndex[int]]) -> None:
    index = make()
    index.add(0, ["oak", "", "iron"])
    index.add(1, ["", ""])
    assert index.df([""]) == 0
    assert index.top([("",)], 5) == []
    assert index.parts([0, 1], [("",)], index.statistics, [1.0]).tolist() == [[0.0], [0.0]]
    apart = [("oak",), ("",), ("iron",)]
    _, follow = index.read([0], apart, index.statistics, [1.0] * 3, (0, 1, 2))
    assert follow.tolist() == [[False, False]]


@given(
    documents=st.dictionaries(
        st.integers(0, 5), st.lists(st.sampled_from([*WORDS, ""]), max_size=9), max_size=5
    ),
    query=queries,
)
def test_what_follows_what_is_told_by_the_order_of_the_words(
    documents: dict[int, list[str]], query: list[list[str]]
) -> None:
    index: WordIndex[int] = WordIndex()
    for key, document in documents.items():
        index.add(key, document)
    given = (query, index.statistics, [1.5 + place for place in range(len(query))])
    parts, found = index.read(range(6), *given, range(len(query)))
    assert parts == pytest.approx(index.parts(range(6), *given))
    for key in range(6):
        there = set(pairwise(documents.get(key, [])))
        expected = [not there.isdisjoint(product(left, right)) for left, right in pairwise(query)]
        assert found[key].tolist() == expected
        assert index.words(key) == tuple(documents.get(key, ()))
