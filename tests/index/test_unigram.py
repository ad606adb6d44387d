"""Cutting texts into known pieces: nothing is lost, and no cut is more probable."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from memory_mcp.index.unigram import Unigram

PIECES = {"<unk>": 0, "▁": 1, "▁a": 2, "b": 3, "ab": 4, "▁ab": 5, "a": 6, "aba": 7, "▁abab": 8}
SCORES = (0.0, -4.0, -3.0, -2.0, -3.5, -4.0, -2.5, -3.0, -9.0)
NAMES = {token: piece for piece, token in PIECES.items()}


def unigram() -> Unigram:
    return Unigram(PIECES, SCORES, {ord("\n"): " ", ord("\t"): ""}, unknown=0)


def best(text: str) -> float:
    """The score of the best cut, by trying all."""
    if not text:
        return 0.0
    ways = [
        SCORES[token] + best(text[len(piece) :])
        for piece, token in PIECES.items()
        if token and text.startswith(piece)
    ]
    return max([*ways, min(SCORES) - 10 + best(text[1:])])


@given(st.text("ab ", max_size=12))
def test_the_most_probable_cut_is_found_and_holds_the_text(text: str) -> None:
    tokens = unigram().tokens(text)
    cut = "".join(NAMES[token] for token in tokens)
    assert cut == "▁" + re.sub(" +", "▁", text).removeprefix("▁")
    assert sum(SCORES[token] for token in tokens) == approx(best(cut))


def test_what_no_piece_has_is_unknown_and_does_not_cost_its_neighbours() -> None:
    assert unigram().tokens("azb") == [2, 0, 3]
    assert unigram().tokens("") == [1]


def test_blanks_and_characters_are_read_as_the_model_reads_them() -> None:
    assert unigram().tokens("ab  ab") == unigram().tokens("ab\nab") == [5, 5]
    assert unigram().tokens("a\tb") == [5]
    assert unigram().tokens("ａｂ") == [5]


@given(st.text(max_size=300))
def test_any_text_is_cut(text: str) -> None:
    assert unigram().tokens(text)


def test_an_endless_word_is_cut_in_time() -> None:
    assert len(unigram().tokens("ab" * 20_000)) < 40_000
