"""Reading a question."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import InputError
from memory_mcp.core.words import QueryTerm
from memory_mcp.search.query import LONG, MAX_TERMS, Lexicon, Query, build, check, focus

KNOWN = {"sauna": 2.0, "fuse": 3.0, "ab-12": 5.0}


def idf(term: QueryTerm) -> float:
    """Weights of the few words that the notes of these tests have."""
    return max((KNOWN.get(form, 0.0) for form in term.forms), default=0.0)


def compounds(part: str) -> list[str]:
    """Terms of the notes of these tests that hold a word."""
    return [word for word in ("gartenschlussel", "stadtfuhr") if part in word]


def read(text: str, *languages: str) -> Query:
    return build(text, Lexicon(languages or ("en",), idf, 7.0, compounds))


def texts(query: Query) -> list[str]:
    return [term.text for term in query.terms]


@pytest.mark.parametrize("text", ["", "  \n\t", "\0"])
def test_a_blank_question_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="empty"):
        check(text)


def test_words_that_no_note_has_weigh_most() -> None:
    query = read("sauna zeppelin")
    assert query.masses == (2.0, 7.0)


def test_an_identifier_counts_whole_where_a_note_has_it_else_by_its_parts() -> None:
    known, unknown = read("AB-12"), read("XY-34")
    assert known.masses[texts(known).index("ab-12")] == 5.0
    assert sum(known.masses) < 7.0
    assert unknown.masses[texts(unknown).index("xy-34")] == 0.0
    assert sum(unknown.masses) > 0


@pytest.mark.parametrize("before", [True, False])
def test_the_question_counts_beside_a_long_paste(before: bool) -> None:
    paste = "lorem ipsum dolor. " * 500
    asked = "Where is the spare fuse of the sauna?"
    query = read(f"{asked}\n\n{paste}" if before else f"{paste}\n\n{asked}")
    assert query.text == asked
    assert {"spare", "fuse", "sauna"} <= set(texts(query))


def test_a_long_text_without_a_question_is_searched_by_both_ends() -> None:
    text = "alpha begins. " + "middle words. " * 300 + "and omega ends."
    part = focus(text)
    assert part.text.startswith("alpha") and part.text.endswith("omega ends.")
    assert len(part.text) <= LONG


@pytest.mark.parametrize("piece", ["lorem plum ", "? ", "ab? ", "?", "a" * 50, "x, "])
def test_the_time_to_read_a_paste_grows_with_its_length_alone(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        begun = time.thread_time()
        focus(text)
        return time.thread_time() - begun

    assert min(seconds(200_000) for _ in range(3)) < 0.5


def test_marks_without_a_sentence_before_them_ask_nothing() -> None:
    text = "    ? " * 300 + "alpha beta gamma"
    assert focus(text).text.endswith("gamma")


@given(st.text(alphabet='ab .!?？\n"', max_size=80))
def test_the_first_and_the_last_question_of_a_paste_are_kept(text: str) -> None:
    sentences = re.findall(r"[^.!?？\n]{3,}[?？](?=\s|\Z|\")", text)
    asked = [found.strip() for found in sentences if len(found.strip()) > 3]
    part = focus("x" * LONG + "." + text)
    if asked:
        assert part.text == " ".join(dict.fromkeys((asked[0], asked[-1])))


def test_a_short_text_is_the_question() -> None:
    assert focus("fuse? sauna!").text == "fuse? sauna!"


def test_the_number_of_words_is_bounded_and_the_last_ones_stay() -> None:
    query = read(" ".join(f"w{number:03}x" for number in range(150)))
    assert len(query.terms) <= MAX_TERMS
    assert "w149x" in texts(query)


def test_words_of_a_paste_that_no_note_has_are_left_out() -> None:
    query = read("Is the fuse there?\n" + "filler " * 300 + "sauna")
    assert "filler" not in texts(query)
    assert "sauna" in texts(query)


def test_a_question_of_stop_words_keeps_them() -> None:
    assert read("who is it").terms


def test_a_question_of_signs_has_no_words() -> None:
    query = read("?! …")
    assert query.terms == () and query.masses == ()


def test_dates_and_changes_make_a_question_about_the_chronicle() -> None:
    assert read("what changed in the garden?").chronicle
    assert read("garden in September 2026").chronicle
    assert not read("how do I water the garden?").chronicle


@given(st.text(min_size=1, max_size=3000))
def test_any_text_can_be_asked(text: str) -> None:
    query = read(text)
    assert len(query.masses) == len(query.asked) <= len(query.terms) <= MAX_TERMS


@pytest.mark.parametrize(
    ("word", "compound"), [("Schlüssel", "gartenschlussel"), ("Führung", "stadtfuhr")]
)
def test_a_word_that_no_note_has_stands_for_compounds_that_hold_it(
    word: str, compound: str
) -> None:
    assert compound in read(word, "de", "en").forms
    assert compound not in read(word, "en").forms


def test_a_word_that_a_note_has_stands_for_itself() -> None:
    assert "saunaofen" not in read("sauna", "de").forms


def test_whole_words_with_a_number_identify() -> None:
    query = read("fuse of AB-12 in README.md")
    assert [query.asked[place].text for place in query.identifiers] == ["ab-12"]


def test_halves_of_letters_are_no_part_of_a_question() -> None:
    assert check("note\udc00 of \ud800oak") == "note of oak"
    with pytest.raises(InputError, match="empty"):
        check("\ud800 \udfff")
