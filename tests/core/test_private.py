from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.private import hide, is_open, reveal, strip

PIECES = st.sampled_from(
    [
        "<private>",
        "</private>",
        "<PRIVATE>",
        "<private id=1/>",
        "<private id=2/>",
        "a",
        "\n",
        " b ",
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


def test_private_parts_are_replaced_by_numbered_marks() -> None:
    shown, parts = hide("code <private>1234</private> and <Private>5</PRIVATE>.")
    assert shown == "code <private id=1/> and <private id=2/>."
    assert parts == ("<private>1234</private>", "<Private>5</PRIVATE>")


def test_nested_parts_are_one_part() -> None:
    shown, parts = hide("a <private>x <private>y</private> z</private> b")
    assert shown == "a <private id=1/> b"
    assert len(parts) == 1


def test_a_part_without_an_end_runs_to_the_end_of_the_text() -> None:
    assert hide("open <private>all\nthis")[0] == "open <private id=1/>"


def test_an_end_without_a_beginning_is_text() -> None:
    assert hide("a </private> b") == ("a </private> b", ())


def test_stripping_keeps_the_number_of_lines() -> None:
    assert strip("a <private>x\r\ny\nz</private> b\nc") == "a \r\n\n b\nc"


def test_a_mark_that_stood_in_the_note_itself_comes_back() -> None:
    text = "see <private id=7/> and <private>x</private>"
    shown, parts = hide(text)
    assert shown == "see <private id=1/> and <private id=2/>"
    assert reveal(shown, parts) == text


def test_a_text_that_lost_a_mark_is_refused() -> None:
    shown, parts = hide("a <private>x</private> b <private>y</private>")
    with pytest.raises(RefusedError, match=r"<private id=2/> is missing"):
        reveal(shown.replace("<private id=2/>", ""), parts)


def test_a_doubled_mark_is_refused() -> None:
    shown, parts = hide("a <private>x</private>")
    with pytest.raises(RefusedError, match="more than once"):
        reveal(shown + shown, parts)


def test_an_unknown_mark_is_refused() -> None:
    with pytest.raises(RefusedError, match="no private part"):
        reveal("new <private id=3/>", ())


@given(TEXTS)
def test_hiding_and_revealing_gives_back_every_byte(text: str) -> None:
    shown, parts = hide(text)
    assert reveal(shown, parts) == text


@given(TEXTS)
def test_stripped_text_has_as_many_lines_and_no_private_part(text: str) -> None:
    clean = strip(text)
    assert clean.count("\n") == text.count("\n")
    assert "<private>" not in clean.lower()


@given(TEXTS)
def test_a_text_is_open_where_what_is_added_would_be_private(text: str) -> None:
    assert is_open(text) == ("word" not in strip(f"{text} word"))
