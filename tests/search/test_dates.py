"""Dates in questions and notes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.search.dates import Day, agreement, find, fullest

days = st.builds(
    Day,
    st.one_of(st.none(), st.integers(1990, 2040)),
    st.one_of(st.none(), st.integers(1, 12)),
    st.one_of(st.none(), st.integers(1, 31)),
)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the party on 8 May 2023", Day(2023, 5, 8)),
        ("on May 8th, 2023 we met", Day(2023, 5, 8)),
        ("am 8. Mai 2023", Day(2023, 5, 8)),
        ("el 1 de mayo de 2024", Day(2024, 5, 1)),
        ("2026-09-14", Day(2026, 9, 14)),
        ("logs/2026-09", Day(2026, 9)),
        ("12.3.2024", Day(2024, 3, 12)),
        ("what happened in september?", Day(None, 9)),
        ("was geschah im März 2025", Day(2025, 3)),
        ("taxes of 2021", Day(2021)),
        ("Sep 3", Day(None, 9, 3)),
    ],
)
def test_a_date_is_read_in_the_ways_people_write_it(text: str, day: Day) -> None:
    assert find(text) == (day,)


@pytest.mark.parametrize(
    "text", ["may I ask", "they march on", "port 8077", "v3.11.4", "dec sets"]
)
def test_everyday_words_and_numbers_are_no_dates(text: str) -> None:
    assert find(text) == ()


def test_the_fullest_date_of_a_text_wins() -> None:
    assert fullest("2026 > May > 8 May 2026") == Day(2026, 5, 8)
    assert fullest("no date") is None


def test_the_same_month_agrees_and_the_month_after_a_little() -> None:
    asked = Day(2026, 12)
    assert agreement(asked, Day(2026, 12, 24)) == 1
    assert 0 < agreement(asked, Day(2027, 1, 5)) < 1
    assert agreement(asked, Day(2026, 11, 30)) == 0
    assert agreement(asked, Day(2025, 12, 24)) == 0


def test_a_day_agrees_less_the_farther_away_it_is() -> None:
    asked = Day(None, 5, 30)
    near, far = agreement(asked, Day(2024, 6, 1)), agreement(asked, Day(2024, 6, 6))
    assert agreement(asked, Day(2024, 5, 30)) == 1
    assert 1 > near > far > 0


def test_an_impossible_day_agrees_with_nothing() -> None:
    assert agreement(Day(2026, 2, 31), Day(2026, 2, 28)) == 0


@given(days, days)
def test_agreement_is_a_share(asked: Day, noted: Day) -> None:
    assert 0 <= agreement(asked, noted) <= 1


@given(st.text(max_size=200))
def test_any_text_can_be_searched_for_dates(text: str) -> None:
    for day in find(text):
        assert day.month is None or 1 <= day.month <= 12
