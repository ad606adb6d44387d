"""What callers hand in to be written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import InputError
from memory_mcp.core.given import MAX_BYTES, given_header, given_text


def test_half_letters_become_a_mark_and_nul_is_left_out_with_a_warning() -> None:
    made = given_text("cut \ud83d here\0", "content")
    assert made.text == "cut \ufffd here"
    assert len(made.warnings) == 2


def test_two_halves_that_belong_together_become_the_letter() -> None:
    assert given_text("\ud83d\ude00", "content").text == "😀"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_whole_text_stays_as_it_is(text: str) -> None:
    made = given_text(text, "content")
    assert made.text == text
    assert made.warnings == ()


def test_a_text_of_more_than_two_megabytes_is_refused() -> None:
    with pytest.raises(InputError, match="2,000,001 bytes"):
        given_text("x" * (MAX_BYTES + 1), "content")


@pytest.mark.parametrize("tags", ['["red", "blue"]', "red, blue", "[red, blue]", ["red", "blue"]])
def test_tags_given_as_text_become_a_list(tags: Any) -> None:
    assert given_header({"tags": tags}) == {"tags": ["red", "blue"]}


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"source": {"url": 7}}, "frontmatter.source.url"),
        ({"source": ["a"]}, "frontmatter.source"),
        ({"confidence": True}, "frontmatter.confidence"),
        ({"confidence": ["a"]}, "frontmatter.confidence"),
        ({"pinned": "yes"}, "frontmatter.pinned"),
        ({"links": "a"}, "frontmatter.links"),
        ({"links": [{"relation": "a"}]}, r"frontmatter.links\[0\].to"),
        ({"x": {"y": [1, float("nan")]}}, r"frontmatter.x.y\[1\]"),
        ({"x": object()}, "frontmatter.x"),
        ({1: "x"}, "1"),
        ({" ": "x"}, "empty"),
        ({"a\nb": "x"}, "one line"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_by_its_dotted_key(values: Any, key: str) -> None:
    with pytest.raises(InputError, match=key):
        given_header(values)


def test_null_stays_null_and_good_values_stay_as_they_are() -> None:
    values = {"status": None, "source": {"url": "u", "kind": "web"}, "n": 1, "l": [{"a": 1.5}]}
    assert given_header(values) == values
    assert given_header(None) == {}
