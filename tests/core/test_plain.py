from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.plain import clip, one_line, pieces, plain


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("**Bold** and *soft* and __under__ and _line_", "Bold and soft and under and line"),
        ("a snake_case_name and 2 * 3 * 4", "a snake_case_name and 2 * 3 * 4"),
        ("`co*d*e` stays", "co*d*e stays"),
        ("[text](page.md) and ![alt](pic.png)", "text and alt"),
        ("[[Note]] [[Note|other]] [[Note#Part]]", "Note other Note > Part"),
        ("~~gone~~ ==marked==", "gone marked"),
        ("<b>x</b> but Vec<T> and a < b", "x but Vec<T> and a < b"),
        ("seen <!-- not seen --> %%nor this%% end", "seen end"),
        ("## Heading ##", "Heading ##"),
        ("- [ ] a task", "a task"),
        ("> a quote\n> in two lines ^block-id", "a quote in two lines"),
        (r"\*no emphasis\*", "*no emphasis*"),
        ("fish &amp; chips[^1]", "fish & chips"),
        ("#tag and 50% off", "#tag and 50% off"),
        ("[![badge](b.png)](https://example.org)", "badge"),
    ],
)
def test_markup_is_stripped_and_words_are_kept(markup: str, text: str) -> None:
    assert plain(markup) == text


def test_whitespace_and_control_characters_collapse_to_one_line() -> None:
    assert one_line(" a\tb\r\n\x00c\x1b d ") == "a b c d"


def test_a_short_text_is_not_cut() -> None:
    assert clip("short", 5) == "short"


def test_a_cut_text_ends_in_an_ellipsis_and_keeps_joined_emoji_whole() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    cut = clip(f"{family} " * 40, 50)
    assert len(cut) <= 50
    assert cut.removesuffix("…").split() == [family] * (len(cut) // (len(family) + 1))


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_a_cut_is_never_longer_than_asked_and_lands_between_graphemes(
    text: str, limit: int
) -> None:
    cut = clip(text, limit)
    assert len(cut) <= limit
    if cut != text:
        kept = cut.removesuffix("…")
        bounds = {0} | {match.end() for match in regex.finditer(r"\X", text)}
        assert any(text[:end].rstrip() == kept for end in bounds)


@given(st.text(), st.integers(min_value=1, max_value=9))
def test_pieces_together_are_the_text(text: str, size: int) -> None:
    assert "".join(pieces(text, size)) == text


@given(st.text(alphabet="ab*_`[]()<>!#~=|\\&;\n %-^"))
def test_any_markup_becomes_one_line(text: str) -> None:
    line = plain(text)
    assert "\n" not in line
    assert line == line.strip()
