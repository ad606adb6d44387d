"""From evidence to ranked passages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.config import SearchSettings
from memory_mcp.core.note import Card, Passage
from memory_mcp.search.evidence import Evidence
from memory_mcp.search.family import E5, MINILM, OTHER
from memory_mcp.search.group import Piece
from memory_mcp.search.profile import Profile, beginning
from memory_mcp.search.query import Lexicon, Query, build
from memory_mcp.search.rank import Weights, rank
from memory_mcp.search.rules import ADJOINING

QUESTION = build(
    "what changed for copper kettles in May 2024?",
    Lexicon(("en",), lambda term: 1.0, 2.0, lambda part: ()),
)
BARE = Weights(note=0, pair=0, date=0, beside=0, next=0)
NEUTRAL = {"slug_match_boost": 1, "slug_full_name_boost": 1, "log_demotion": 1}


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one passage."""

    note: tuple[str, str]
    card: Card
    passage: Passage
    boost: float
    held: frozenset[int]
    bm25: float
    note_bm25: float
    cosine: float | None
    superseded: bool = False
    pairs: float = 0.0


def table(found: Sequence[Row], query: Query = QUESTION) -> Evidence:
    rows = sorted(found, key=lambda row: row.note)
    notes = {row.note: Profile.of(row.note, row.card, row.boost) for row in rows}
    held = np.zeros((len(rows), len(query.counted)), np.bool_)
    for number, row in enumerate(rows):
        held[number, list(row.held)] = True
    return Evidence(
        notes=list(notes.values()),
        owner=np.array([list(notes).index(row.note) for row in rows], np.int64),
        passages=[row.passage for row in rows],
        beginnings=[beginning(row.passage.text) for row in rows],
        held=held,
        pairs=np.array([row.pairs for row in rows]),
        bm25=np.array([row.bm25 for row in rows]),
        note_bm25=np.array([row.note_bm25 for row in rows]),
        cosine=np.array([math.nan if row.cosine is None else row.cosine for row in rows]),
        likeness=np.full(len(rows), math.nan),
        superseded={row.note for row in rows if row.superseded},
    )


rows = st.builds(
    lambda note, text, held, bm25, note_bm25, cosine, boost, superseded, pairs: Row(
        note=("vault", note),
        card=Card("vault", note, "0" * 12, 1, note, ""),
        passage=Passage(note, text, 1, 1, "", text),
        boost=boost,
        held=held,
        bm25=bm25 if held else 0.0,
        note_bm25=note_bm25,
        cosine=cosine,
        superseded=superseded,
        pairs=pairs,
    ),
    st.sampled_from(["kettle", "copper-kettle", "logs/2024-05", "tin"]),
    st.sampled_from(["copper kettles", "kettles of tin", "nothing", "May 2024"]),
    st.frozensets(st.integers(0, len(QUESTION.asked) - 1)),
    st.floats(0.1, 20),
    st.floats(0, 30),
    st.one_of(st.none(), st.floats(-1, 1)),
    st.sampled_from([0.65, 0.85, 1.0, 1.4]),
    st.booleans(),
    st.floats(0, 1),
)
settings = st.builds(
    lambda weight, support: SearchSettings(vector_weight=weight, page_support=support),
    st.one_of(st.just("auto"), st.floats(0, 1)),
    st.sampled_from([0.0, 0.1, 0.3]),
)


def piece(**more: object) -> Row:
    base: dict[str, object] = {
        "note": ("vault", "tin"),
        "card": Card("vault", "tin", "0" * 12, 1, "tin", ""),
        "passage": Passage("tin", "nothing", 1, 1, "", "nothing"),
        "boost": 1.0,
        "held": frozenset({0}),
        "bm25": 1.0,
        "note_bm25": 0.0,
        "cosine": 0.5,
    }
    return Row(**{**base, **more})  # type: ignore[arg-type]


def ranked(*found: Row, weight: float | str = "auto", query: Query = QUESTION) -> list[Piece]:
    chosen = SearchSettings.model_validate({"vector_weight": weight, **NEUTRAL})
    return rank(table(found, query), query, MINILM, chosen, BARE)


@given(st.lists(rows, max_size=12), settings, st.sampled_from([MINILM, E5, OTHER]))
def test_ranks_fall_and_traces_add_up_whatever_the_evidence(
    found: list[Row], chosen: SearchSettings, family: object
) -> None:
    pieces = rank(table(found), QUESTION, family, chosen, Weights())  # type: ignore[arg-type]
    assert all(high.rank >= low.rank for high, low in pairwise(pieces))
    for item in pieces:
        assert item.rank == pytest.approx(item.trace.score, abs=1e-12)
        assert item.rank >= 0
        assert 0 <= item.confidence <= 1 + 1e-9


@given(st.lists(st.tuples(rows, st.integers(1, 15)), max_size=12))
def test_what_stands_next_to_the_best_passage_of_a_note_comes_up_behind_it(
    found: list[tuple[Row, int]],
) -> None:
    placed = [
        replace(row, passage=replace(row.passage, first=line, last=line + 1, text=str(number)))
        for number, (row, line) in enumerate(found)
    ]
    evidence = table(sorted(placed, key=lambda row: (row.note, row.passage.first)))
    before, after = (
        rank(evidence, QUESTION, MINILM, SearchSettings(), Weights(next=share))
        for share in (0.0, 0.3)
    )
    best: dict[tuple[str, str], Piece] = {}
    for item in before:
        best.setdefault(item.note, item)
    assert list(dict.fromkeys(item.note for item in after)) == list(best)
    ranks = {item.passage.text: item.rank for item in after}
    for item in before:
        top = best[item.note]
        near = abs(item.passage.first - top.passage.first) <= 1 + ADJOINING
        lifted = item.rank + 0.3 * near * (top.rank - item.rank)
        assert ranks[item.passage.text] == pytest.approx(lifted)


def test_a_fixed_weight_is_the_share_of_the_vectors() -> None:
    words, vector = piece(bm25=9.0, cosine=0.3), piece(bm25=1.0, cosine=0.7)
    assert ranked(words, vector, weight=0.0)[0].bm25 == 9.0
    assert ranked(words, vector, weight=1.0)[0].bm25 == 1.0
    best = ranked(words, vector, weight=0.7)[0]
    shares = {step.rule: step.weight for step in best.trace.steps}
    assert shares["vectors"] == pytest.approx(0.7)
    assert shares["words"] == pytest.approx(0.3)


def test_words_decide_where_they_cover_the_question_and_vectors_where_they_do_not() -> None:
    all_words = frozenset(range(len(QUESTION.asked)))
    covered = ranked(
        piece(held=all_words, bm25=9.0, cosine=0.3), piece(held=frozenset(), bm25=0.0, cosine=0.7)
    )
    assert covered[0].bm25 == 9.0
    alone = ranked(
        piece(held=frozenset(), bm25=0.0, cosine=0.3),
        piece(held=frozenset(), bm25=0.0, cosine=0.7),
    )
    assert alone[0].cosine == 0.7


def test_a_passage_without_a_vector_is_ranked_by_its_words_alone() -> None:
    best = ranked(piece(bm25=5.0, cosine=None), piece(bm25=4.0, cosine=0.6))[0]
    assert best.bm25 == 5.0
    assert {step.rule: step.weight for step in best.trace.steps}["words"] == 1


def test_in_a_tiny_collection_nearly_equal_meaning_does_not_outweigh_more_of_the_word() -> None:
    word = frozenset({0})
    once = piece(held=word, bm25=0.96, note_bm25=0.94, cosine=0.78)
    often = piece(note=("vault", "box"), held=word, bm25=1.0, note_bm25=1.0, cosine=0.68)
    lexicon = Lexicon(("en",), lambda term: 1.0, 2.0, lambda part: ())
    question = build("saffron", lexicon)
    found = rank(table([once, often], question), question, MINILM, SearchSettings(), Weights())
    assert [item.bm25 for item in found] == [1.0, 0.96]


def test_passages_without_word_or_meaning_are_left_out() -> None:
    assert ranked(piece(held=frozenset(), bm25=0.0, cosine=MINILM.noise / 2)) == []
    assert ranked(piece(held=frozenset(), bm25=0.0, cosine=None)) == []


def test_an_identifier_with_a_number_makes_a_match_certain_enough() -> None:
    lexicon = Lexicon(("en",), lambda term: 1.0, 9.0, lambda part: ())
    question = build("please remind me about ticket RT-551 again", lexicon)
    place = next(n for n, term in enumerate(question.asked) if term.whole)
    exact, other = ranked(
        piece(held=frozenset({place}), cosine=None),
        piece(held=frozenset({place + 1}), cosine=None, bm25=0.5),
        query=question,
    )
    assert exact.confidence >= 0.6 > other.confidence


def test_a_note_in_another_language_is_judged_by_what_cosines_between_languages_are() -> None:
    same = piece(cosine=0.84)
    other = piece(cosine=0.84, card=Card("vault", "tin", "0" * 12, 1, "tin", "", language="de"))
    asked = replace(QUESTION, language="en")
    unsaid = replace(QUESTION, language=None)
    one, two, three = (
        rank(table([item], question), question, E5, SearchSettings(), Weights())[0].confidence
        for item, question in ((same, asked), (other, asked), (other, unsaid))
    )
    assert two > one == three
