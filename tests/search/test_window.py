"""Sections and pages of a note."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core import private
from memory_mcp.core.errors import AmbiguousError, NotFoundError
from memory_mcp.search.window import page_end, section, shown_offset

BODY = """# Trip

Intro.

## Hotels

First hotel.

### Rates

Ninety.

## Trains

### Rates

Forty.
"""

letters = st.sampled_from(
    ["a", "\n", "é", "e\u0301", "\U0001f469\u200d\U0001f469", "字", "\r\n", " "]
)


def read(wanted: str) -> str:
    span = section(BODY, wanted)
    return BODY[span.start : span.end]


@pytest.mark.parametrize("wanted", ["Hotels", "## Hotels", "trip > hotels", "HOTELS"])
def test_a_section_is_found_by_heading_or_trail_with_what_is_below_it(wanted: str) -> None:
    found = read(wanted)
    assert found.startswith("## Hotels\n")
    assert "Ninety." in found
    assert "Trains" not in found


def test_the_end_of_a_trail_tells_equal_headings_apart() -> None:
    assert "Forty." in read("Trains > Rates")
    with pytest.raises(AmbiguousError, match=r"Trip > Hotels > Rates.*Trip > Trains > Rates"):
        read("Rates")


def test_a_missing_heading_lists_those_that_are_there() -> None:
    with pytest.raises(NotFoundError, match=r"Trip > Hotels; Trip > Hotels > Rates"):
        read("Buses")


@given(st.lists(letters, max_size=60).map("".join), st.integers(1, 9))
def test_pages_have_no_gaps_no_doubles_and_cut_no_character(text: str, limit: int) -> None:
    cuts = {match.end() for match in regex.finditer(r"\X", text)} | {0}
    at, parts = 0, []
    while at < len(text):
        end = page_end(text, at, len(text), limit)
        assert end > at
        assert end in cuts
        parts.append(text[at:end])
        at = end
    assert "".join(parts) == text


def test_a_page_ends_at_a_line_where_one_is_near() -> None:
    text = "first line\nsecond line\nthird"
    assert text[: page_end(text, 0, len(text), 25)] == "first line\nsecond line\n"


@given(
    st.lists(
        st.sampled_from(["ab\n", "<private>x\ny</private>", "<private id=7/>", "c"]), max_size=8
    )
)
def test_places_outside_private_parts_stay_at_their_letter(parts: list[str]) -> None:
    text = "".join(parts)
    shown, hidden = private.hide(text)
    at = 0
    for part in parts:
        if not part.startswith("<"):
            place = shown_offset(at, shown, hidden)
            assert shown[place : place + len(part)] == part
        at += len(part)
