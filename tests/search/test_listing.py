"""Pages of a list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import InputError
from memory_mcp.core.note import Card
from memory_mcp.search.listing import page

paths = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8
)


def card(path: str, source: str = "memory") -> Card:
    return Card(source=source, path=path, revision="0" * 12, size=1, title=path, description="")


@given(st.sets(paths, max_size=30), st.integers(1, 7))
def test_pages_give_every_note_once_in_order(names: set[str], limit: int) -> None:
    cards = [card(name) for name in names]
    found: list[str] = []
    cursor = None
    while True:
        listing = page(cards, limit, cursor)
        assert listing.total == len(cards)
        found += [row.path for row in listing.rows]
        cursor = listing.next_cursor
        if cursor is None:
            break
    assert found == sorted(names)


def test_a_note_that_comes_between_two_pages_moves_no_other() -> None:
    first = page([card("b"), card("d"), card("f")], 2, None)
    second = page([card("a"), card("b"), card("d"), card("f")], 2, first.next_cursor)
    assert [row.path for row in (*first.rows, *second.rows)] == ["b", "d", "f"]


def test_a_cursor_survives_the_note_that_it_names() -> None:
    first = page([card("b"), card("d"), card("f")], 2, None)
    assert [row.path for row in page([card("b"), card("f")], 2, first.next_cursor).rows] == ["f"]


@pytest.mark.parametrize("cursor", ["???", "5", "gA", "_w"])
def test_a_cursor_that_was_never_given_is_refused(cursor: str) -> None:
    with pytest.raises(InputError, match="next_cursor"):
        page([card("a")], 5, cursor)


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_out_of_range_is_refused_with_the_range(limit: int) -> None:
    with pytest.raises(InputError, match="between 1 and 1000"):
        page([], limit, None)
