"""Telling a repetition from news."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.saying import saying


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("# Boat\n\nThe boat leaks.", "boat the  boat leaks"),
        ("It is *green*, mostly.", 'It is "green" mostly!'),
        ("Rows:\r\nOAK", "rows oak"),
    ],
)
def test_what_only_dresses_a_text_does_not_count(one: str, other: str) -> None:
    assert saying(one) == saying(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7 degrees", "-7 degrees"),
        ("a <= b", "a >= b"),
        ("not x", "x not"),
        ("List<int>", "List<str>"),
        ("[map](north)", "[map](south)"),
        ("~~sold~~", "sold"),
        ("[ ] sweep", "[x] sweep"),
        ("2\u00b2", "22"),
        ("go to US", "go to us"),
        ("export A=Oak", "export A=oak"),
        ("\u2600", "\u2614"),
    ],
)
def test_whatever_may_mean_something_counts(one: str, other: str) -> None:
    assert saying(one) != saying(other)


@given(st.text(max_size=60))
def test_the_form_of_the_letters_and_the_blanks_do_not_count(text: str) -> None:
    spaced = "\n ".join(unicodedata.normalize("NFD", text).split(" "))
    composed = unicodedata.normalize("NFC", text)
    if "#" not in text:
        assert saying(spaced) == saying(composed)
