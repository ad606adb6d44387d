"""Names of inbox notes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import SlugError
from memory_mcp.core.slug import check_slug, is_lost_on_windows, slug_from


@pytest.mark.parametrize(
    "slug", ["a", "7", "garden", "log-2026-03-02", "a_b", "x" * 100, "a-", "com"]
)
def test_a_plain_name_is_a_slug(slug: str) -> None:
    assert check_slug(slug) == slug


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "-", "_a", "--help", ".", "..", "../up", "a/b", "memory/a", "a.md", ".hidden",
        "a b", " a", "a\n", "a\nWARNING", "a\0b", "Garden", "ü", "x" * 101, "C:\\a", "c:a",
        "a::$DATA", "a.", "~", "a%2fb", "con", "nul", "aux", "prn", "com1", "lpt9", "com0",
        "con.md", "nul.txt", "\ud800", "ａ",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_the_allowed_characters(text: str) -> None:
    with pytest.raises(SlugError) as caught:
        check_slug(text)
    said = str(caught.value)
    assert "a-z" in said
    assert len(said) < 500
    assert said.isprintable()
    said.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("memory/garden", "garden"),
        ("garden.md", "garden"),
        ("Über uns", "uber-uns"),
        ("con", "con-note"),
    ],
)
def test_the_error_suggests_a_name_that_can_be_used(text: str, meant: str) -> None:
    with pytest.raises(SlugError, match=f"Did you mean {re.escape(meant)}\\?"):
        check_slug(text)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Über uns!", "uber-uns"),
        ("C++", "c-plus-plus"),
        ("C#", "c-sharp"),
        ("C", "c"),
        ("Don’t panic", "dont-panic"),
        ("日記", "riji"),
        ("Привет, мир", "privet-mir"),
        ("🔥", "fire"),
        ("?!", "note"),
        ("", "note"),
        ("con", "con-note"),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_a_slug_is_made_from_any_script(text: str, slug: str) -> None:
    assert slug_from(text) == slug


def test_a_long_title_is_cut_between_words() -> None:
    assert slug_from("the quick brown fox jumps over the lazy dog and then over the moon") == (
        "the-quick-brown-fox-jumps-over-the-lazy-dog-and-then-over"
    )
    assert slug_from("x" * 300) == "x" * 60


@given(st.text(max_size=300))
def test_whatever_is_made_can_be_used(text: str) -> None:
    assert check_slug(slug_from(text)) == slug_from(text)
    assert len(slug_from(text)) <= 65


@pytest.mark.parametrize(
    "name",
    [
        *("con", "CON.md", "nul.txt.md", "COM¹.md", "lpt9", "CONIN$.md", "aux .md", "a.", "a "),
        *("a.md:x", "a::$DATA", "what?.md", "<a>", "a|b", 'a"b'),
    ],
)
def test_a_name_that_windows_takes_for_something_else_is_known(name: str) -> None:
    assert is_lost_on_windows(name)


@pytest.mark.parametrize("name", ["a.md", "console.md", "com.md", "com10.md", "a b.md", "日本.md"])
def test_a_name_that_windows_keeps_is_none_of_them(name: str) -> None:
    assert not is_lost_on_windows(name)
