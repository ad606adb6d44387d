"""A forward index answers as one with postings does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.index.forward import ForwardIndex
from memory_mcp.index.sparse import WordIndex

WORDS = ["oak", "elm", "ash", "oakwood", "iron"]
steps = st.lists(
    st.tuples(
        st.integers(0, 5), st.none() | st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)
    ),
    max_size=20,
)
queries = st.lists(
    st.lists(st.sampled_from([*WORDS, "absent"]), min_size=1, max_size=2, unique=True),
    min_size=1,
    max_size=4,
)


@given(steps, queries, st.integers(1, 5), st.sets(st.integers(0, 5)))
@settings(max_examples=200, deadline=None)
def test_it_scores_counts_and_forgets_as_an_index_with_postings(
    changes: list[tuple[int, list[str] | None]],
    query: list[list[str]],
    limit: int,
    allowed: set[int],
) -> None:
    ours: ForwardIndex[int] = ForwardIndex()
    theirs: WordIndex[int] = WordIndex()
    for key, document in changes:
        for index in (ours, theirs):
            if document is None:
                index.remove(key)
            else:
                index.add(key, document)
    assert (len(ours), ours.statistics) == (len(theirs), theirs.statistics)
    idf = [1.5 + place for place in range(len(query))]
    for those in (None, allowed):
        found = ours.top(query, limit, those, ours.statistics, idf)
        expected = theirs.top(query, limit, those, theirs.statistics, idf)
        assert [key for key, _ in found] == [key for key, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    keys = list(range(6))
    for some in (keys, []):
        assert ours.parts(some, query, ours.statistics, idf) == pytest.approx(
            theirs.parts(some, query, theirs.statistics, idf)
        )
    assert sorted(ours.holding("oak")) == sorted(theirs.holding("oak"))
    for key in keys:
        assert ours.frequencies(key) == theirs.frequencies(key)
        assert ours.words(key) == theirs.words(key)
        assert (key in ours) is (key in theirs)
    chain = range(len(query))
    parts, follow = ours.read(keys, query, ours.statistics, idf, chain)
    expected_parts, expected_follow = theirs.read(keys, query, theirs.statistics, idf, chain)
    assert parts == pytest.approx(expected_parts)
    assert follow.shape == (len(keys), len(query) - 1)
    assert follow.tolist() == expected_follow.tolist()
    for word in WORDS:
        assert ours.df([word]) == theirs.df([word])


def test_spellings_of_a_word_in_one_document_count_twice_at_most() -> None:
    index: ForwardIndex[str] = ForwardIndex()
    index.add("a", ["muller", "mueller"])
    index.add("b", ["muller"] * 2)
    index.add("c", ["elm"])
    assert index.df(["muller", "mueller"]) == 3
