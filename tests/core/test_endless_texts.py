"""Texts that are made to take for ever take a time that grows with them, not with their square."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.edit import EditRequest, apply
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.fold import fold, normal
from memory_mcp.core.normal_form import LONGEST_RUN, normal_form
from memory_mcp.core.parse import parse
from memory_mcp.core.plain import plain
from memory_mcp.core.saying import saying
from memory_mcp.core.section import find_section
from memory_mcp.core.words import folded_words, query_terms, terms

SIZE = 60_000
SECONDS = 2.0
"""Of the processor. What grows with the square takes a minute for these texts, or ten."""

PARTS = (
    "<!--", "%%", "**a ", "~~a ", "==a ", "__a ", "`a ``", "[[a|", "![", "](", "\n", "\r\n", " \n",
    " ", "> ", "e\u0301\u0323", "\u0323\u0301", "\\", "<a ", "<private>", "é\n", "1.", "---\n",
    "# h\n\n", "a",
)  # fmt: skip
NOTE = "# A\n\ntext\n\n## B\n\nmore\n"
WAYS: dict[str, Callable[[str], object]] = {
    "plain": plain,
    "fold": lambda text: fold(normal(text)),
    "saying": saying,
    "words": folded_words,
    "terms": lambda text: terms(text, "en"),
    "question": query_terms,
    "section": lambda text: find_section(NOTE, text),
    "absent": lambda text: apply(EditRequest(old_text=text, new_text="x"), NOTE),
    "repeated": lambda text: apply(EditRequest(old_text=text[: SIZE // 2], new_text="x"), text),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_long_text_of_equal_parts_takes_a_moment(way: str, part: str) -> None:
    text = part * (SIZE // len(part))
    begin = time.process_time()
    with suppress(MemoryMcpError):
        WAYS[way](text)
    assert time.process_time() - begin < SECONDS


@given(st.text("ae\u0301\u0323\u0327 é한글\u1112\u1161\u11ab", max_size=40))
def test_the_normal_form_of_what_people_write_is_that_of_the_standard(text: str) -> None:
    assert normal_form("NFC", text) == unicodedata.normalize("NFC", text)
    assert normal_form("NFKD", text * 3) == unicodedata.normalize("NFKD", text * 3)


def test_marks_without_end_are_all_kept() -> None:
    text = "é" + "\u0323\u0301" * 500 + "e\u0301"
    shown = normal_form("NFC", text)
    assert shown.endswith("é")
    assert sorted(unicodedata.normalize("NFD", shown)) == sorted(
        unicodedata.normalize("NFD", text)
    )
    assert normal_form("NFC", "e" + "\u0301" * LONGEST_RUN) == "é" + "\u0301" * (LONGEST_RUN - 1)


def places(text: str, old: str) -> list[tuple[int, int]]:
    """Where a text stands, with either line end for either, by brute force."""
    ends = r"(?:\r\n|(?<!\r)\n)"
    pattern = ends.join(re.escape(part) for part in re.split(r"\r\n|\n", old))
    starts = [found.start() for found in re.finditer(f"(?={pattern})", text)]
    return [(at, at + len(re.match(pattern, text[at:])[0])) for at in starts]  # type: ignore[index]


@given(
    st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "ab"]), max_size=12).map("".join),
    st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "x"]), min_size=1, max_size=4).map("".join),
)
def test_a_text_is_found_where_it_stands_whatever_its_line_ends(text: str, old: str) -> None:
    text = f"A header it is not.\n{text}"
    found = places(text, old)
    try:
        done = apply(EditRequest(old_text=old, new_text="Q"), text).text
    except MemoryMcpError:
        assert len(found) != 1 or not old.strip() or found[0][0] < 20
    else:
        ((start, end),) = found
        assert done == text[:start] + "Q" + text[end:]


def test_a_text_that_stands_in_thousands_of_places_is_not_counted_to_the_end() -> None:
    with pytest.raises(MemoryMcpError, match="not unique: it stands in very many places"):
        apply(EditRequest(old_text="a", new_text="b"), "a" * 50_000)
    with pytest.raises(MemoryMcpError, match="not unique: it stands in 3 places"):
        apply(EditRequest(old_text="aa", new_text="b"), "aaaa\n")


@pytest.mark.parametrize("part", PARTS)
def test_a_note_of_equal_parts_is_parsed_in_a_moment(part: str) -> None:
    data = (part * (SIZE // len(part))).encode()
    begin = time.process_time()
    parse("memory", "memory", "a", data, "2026-01-01T00:00:00+00:00", ChunkSettings())
    assert time.process_time() - begin < 2 * SECONDS


def test_a_comment_that_never_ends_is_text_and_others_are_left_out() -> None:
    assert plain("a <!-- b --> c <!-- d") == "a c <!-- d"
    assert plain("a %% b %% c <!-- d %% e %% f") == "a c <!-- d f"
    assert plain("<!-- a %% --> b %% c %% d") == "b d"
    assert plain("**a " * 3 + "**b**").endswith("b")
