"""The ranking rules, one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.note import Card, Passage, Stamp
from memory_mcp.core.words import query_terms
from memory_mcp.index.table import Entry
from memory_mcp.notes.sources import Source
from memory_mcp.search.dates import Day
from memory_mcp.search.profile import Profile, beginning
from memory_mcp.search.profiles import Profiles
from memory_mcp.search.rules import (
    Naming,
    date_match,
    is_log,
    naming,
    page_support,
)


def card(path: str, **more: Any) -> Card:
    base = Card("wiki", path, "0" * 12, 1, path.rpartition("/")[2], "")
    return replace(base, **more)


def demotion(note: Card, chronicle: bool) -> float:
    return Profile.of(("wiki", note.path), note, 1.0).demotion(chronicle, 0.5)


def entry_of(note: Card, text: str) -> Entry:
    source = Source("wiki", "wiki", "wiki", Path("/wiki"), 1.0, (), 9, 9)
    return Entry(source, note, (passage(text),), (1,), Stamp(1, 1, 1), False, "")


def passage(text: str, heading: str = "") -> Passage:
    return Passage(heading, text, 1, 1, heading, text)


def named(question: str, note: Card) -> Naming:
    languages = ("en", "de")
    forms = {form for term in query_terms(question, languages) for form in term.forms}
    return naming(forms, note)


def test_a_question_with_all_words_of_a_name_names_the_note_in_full() -> None:
    assert named("who is Ada Stein?", card("people/ada-stein")) == Naming(some=True, full=True)
    assert named("Ada's recipes", card("people/ada-stein")) == Naming(some=True, full=False)
    assert named("the weather", card("people/ada-stein")) == Naming()


def test_a_name_of_one_word_is_never_full() -> None:
    assert named("garden plans", card("garden")) == Naming(some=True, full=False)


def test_names_are_compared_by_stem_and_without_accents() -> None:
    note = card("orte/gärten", language="de")
    assert named("welche Gärten gibt es", note).some
    assert named("gaerten", note).some


@pytest.mark.parametrize("field", ["aliases", "name", "title"])
def test_alias_name_and_short_title_are_names_too(field: str) -> None:
    value: Any = ("Blue Barn",) if field == "aliases" else "Blue Barn"
    assert named("paint of the blue barn", card("n17", **{field: value})).full


def test_a_long_title_names_nothing() -> None:
    note = card("n17", title="How we painted the blue barn last summer")
    assert named("the blue sky", note) == Naming()


def test_stop_words_and_numbers_of_a_name_do_not_name_it() -> None:
    assert named("what is on the list of 2026", card("notes/on-the-2026")) == Naming()


@pytest.mark.parametrize(
    "path",
    ["logs/2026-09", "log/x", "Journal/Monday", "daily/2026-01-02", "2026-W07", "changelog"],
)
def test_chronicles_are_known_by_folder_or_name(path: str) -> None:
    assert is_log(path)
    assert demotion(card(path), chronicle=False) == 0.5
    assert demotion(card(path), chronicle=True) == 1


def test_the_list_of_all_pages_only_points_to_them() -> None:
    for chronicle in (False, True):
        assert demotion(card("index"), chronicle=chronicle) == 0.5
    assert demotion(card("garden/index"), chronicle=False) == 1


def test_a_note_is_looked_at_again_when_it_has_changed() -> None:
    profiles, key = Profiles(), ("wiki", "a")
    entry = entry_of(card("a", title="Old boat"), "It leaks.")
    assert profiles.known({key: entry}) == [None]
    made = profiles.make(key, entry)
    assert made.names.naming({"old", "boat"}).full
    same = replace(entry, card=replace(entry.card), embedded=True)  # as it is shown elsewhere
    assert profiles.known({key: entry}) == profiles.known({key: same}) == [made]
    for changed in (
        replace(entry, card=card("a", title="New boat")),
        replace(entry, passages=entry_of(entry.card, "It leaks no more.").passages),
    ):
        assert profiles.known({key: changed}) == [None]
        assert profiles.make(key, changed) != made


@given(st.lists(st.text(min_size=1), min_size=1), st.sampled_from([" ", "\n", "\t \r\n"]))
def test_texts_that_differ_in_case_and_blanks_begin_alike(words: list[str], blank: str) -> None:
    text = " ".join(words)
    for other in (blank.join(words), blank + text + blank, text.upper(), text.swapcase()):
        if text.casefold().split() == other.casefold().split():
            assert beginning(text) == beginning(other)


def test_texts_with_another_first_word_begin_otherwise() -> None:
    assert beginning("The boat leaks.") != beginning("A boat leaks.")


@pytest.mark.parametrize("path", ["blog/post", "login", "logistics", "plan-2026", "catalog/a"])
def test_other_paths_are_no_chronicle(path: str) -> None:
    assert not is_log(path)


def test_the_nearest_statement_of_a_date_is_taken() -> None:
    note = card("notes", title="May 2025", created="2024-01-01")
    asked = (Day(2026, 3),)
    assert date_match(asked, note, passage("x", heading="Diary > 4 March 2026")) == 1
    assert date_match(asked, note, passage("x", heading="Diary")) == 0
    assert date_match((Day(2025, 5),), note, passage("x", heading="Diary")) == 1
    assert date_match((), note, passage("x")) == 0
    assert date_match((Day(2024, 1),), card("a", created="2024-01-01"), passage("x")) == 1


def test_only_strong_passages_support_a_page() -> None:
    assert page_support(1.0, [0.9, 0.8, 0.7], 0.1) == pytest.approx(0.17)
    assert page_support(1.0, [0.4], 0.1) == 0
    assert page_support(1.0, [0.9], 0.0) == 0
