"""Words, values and signs of a text: equal where only the writing differs, never otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.curate.compare.concrete import concrete, tokens


def values(text: str, language: str | None = None) -> list[str]:
    """The values of a text without the breaks between its parts."""
    return [token.value for token in tokens(text, language) if token.kind != "break"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2.000 m²", "2000 qm"),
        ("2.000 m²", "2000 Quadratmeter"),
        ("am 5. Mai 2026", "am 2026-05-05"),
        ("am 5. Mai 2026", "am 05.05.2026"),
        ("am 3.11.", "am 3. November"),
        ("um 8:30", "um 8.30 Uhr"),
        ("40 €", "40 Euro"),
        ("1.234,50 EUR", "€1234,50"),
        ("drei Eier", "3 Eier"),
        ("Äpfel heißen", "Aepfel heissen"),
        ("**fett** und `kode`", "fett und kode"),
    ],
)
def test_german_spellings_of_one_thing_are_equal(one: str, other: str) -> None:
    assert values(one, "de") == values(other, "de")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2,000 square metres", "2000 m2"),
        ("5 May 2026", "May 5th, 2026"),
        ("7:30 pm", "19:30"),
        ("12 am", "0:00"),
        ("doesn't", "does not"),
        ("can't", "cannot"),
        ("64GB", "64 GB"),
        ("–18 °C", "-18 °C"),
        ("port 5433.", "port 5433"),
    ],
)
def test_english_spellings_of_one_thing_are_equal(one: str, other: str) -> None:
    assert values(one, "en") == values(other, "en")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-18 °C", "18 °C"),
        ("1.5 l", "15 l"),
        ("1.5", "1.50.1"),
        ("v1.5", "v1.6"),
        ("30 m", "30 ft"),
        ("5 kg", "5 g"),
        ("10²", "102"),
        ("8 am", "8 pm"),
        ("a == b", "a != b"),
        ("rm *.log", "rm .log"),
        ("~~gone~~", "gone"),
        ("really?", "really"),
        ("US", "us"),
        ("-K7x", "-k7X"),
        ("/etc/Caddy", "/etc/caddy"),
        ("https://a.example/x?y=1", "https://a.example/x?y=2"),
        ("RB-2025-08", "RB-2025-09"),
        ("schon fertig", "schön fertig"),
        ("< 5", "> 5"),
        ("2.000", "2.0"),
        ("_private", "private"),
        ("done ✅", "done ❌"),
        ("5' long", "5 long"),
        ("$5kg", "5kg"),
        ("5 May 3 guests", "5 May 4 guests"),
    ],
)
def test_what_differs_in_meaning_differs(one: str, other: str) -> None:
    for language in ("en", "de", ""):
        assert values(one, language) != values(other, language)


def test_a_point_before_three_digits_is_read_by_the_language_or_not_at_all() -> None:
    assert values("2.000", "de") == ["2000"]
    assert values("2.000", "en") == values("2.000", "") == ["2.000"]
    assert values("2,000", "en") == ["2000"]
    assert values("1.234.567", "") == ["1234567"]


def test_concrete_tokens_are_values_names_identifiers_and_denials() -> None:
    text = "Ask Paula about HM-2093 on 5 May: port 5433 is not open, see /etc/hosts."
    assert concrete(text, "en") == ("paula", "HM-2093", "?-05-05", "5433", "not", "/etc/hosts")


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_starts_rise(text: str) -> None:
    starts = [token.start for token in tokens(text, "de")]
    assert starts == sorted(starts)


@given(st.text(alphabet="ab .,:-/3 5\n*_~()€m²", max_size=60), st.integers(0, 10**9))
def test_every_digit_of_a_number_counts(text: str, number: int) -> None:
    found = values(f"{text} {number} wolves", "en")
    assert found != values(f"{text} {number + 1} wolves", "en")
