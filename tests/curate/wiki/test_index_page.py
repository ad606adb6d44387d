"""The index of the wiki, its monthly log, the timeline and the sources of a page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core import frontmatter
from memory_mcp.core.config import ChunkSettings
from memory_mcp.core.errors import RefusedError, SlugError
from memory_mcp.core.note import Card, Json
from memory_mcp.core.parse import parse
from memory_mcp.curate.deep.origins import entry_of, names, page_stated, stated, with_source
from memory_mcp.curate.wiki.index_page import BEGIN, END, MOST, index_page
from memory_mcp.curate.wiki.page_log import Logged, log_path, logged
from memory_mcp.curate.wiki.page_names import check_new_page, same_name
from memory_mcp.curate.wiki.timeline import keep_older, mark_outside, replaced_lines
from memory_mcp.search.rules import is_log

AT = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
LINES = st.lists(st.sampled_from(["", "# A", "one 1", "- two", "```", "| a |", "> q"])).map(
    "\n".join
)


def card(path: str, text: str) -> Card:
    """The card of a page."""
    return parse("wiki", "wiki", path, text.encode(), "", ChunkSettings()).card


PAGES = [
    card("people/alice", "---\ndescription: Plays chess.\nupdated: 2026-02-01\n---\n# Alice\n"),
    card("people/bob", "---\nupdated: 2026-03-01\n---\n# Bob the Builder\n\nBuilds.\n"),
    card("projects/garden", "---\ntags: [todo]\n---\n# Garden\n\nA pond is planned.\n"),
    card("pond", "---\ntags: [decision]\n---\n# Pond\n\nThe pond is 2 m deep.\n"),
    card("logs/2026-11", "# Log\n"),
    card("index", "# Index\n"),
]


def test_the_index_lists_decisions_projects_pages_by_folder_and_what_to_check() -> None:
    text = index_page(None, PAGES, "en")
    assert text is not None
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == [
        "# Index", "## Key decisions", "## Project state", "## Active entities", "### people",
        "## What to check",
    ]  # fmt: skip
    assert text.index("[[people/bob]] Bob the Builder") < text.index("[[people/alice]]: Plays")
    assert "- [[projects/garden]]: marked as open" in text
    assert "logs/" not in text and "[[index]]" not in text


def test_a_title_that_only_repeats_the_name_is_left_out() -> None:
    text = index_page(None, [card("people/ann-lee", "# ann-lee\n"), PAGES[0]], "en")
    assert text is not None and "- [[people/ann-lee]]\n" in text


def test_the_index_is_german_where_the_wiki_is() -> None:
    text = index_page(None, PAGES, "de")
    assert text is not None and text.startswith("# Übersicht")
    assert "## Wichtige Entscheidungen" in text


def test_an_index_written_by_hand_is_left_alone() -> None:
    assert index_page("# My own index\n\n- [[people/alice]]\n", PAGES, "en") is None


def test_only_the_part_between_the_marks_is_ours() -> None:
    own = f"Above.\r\n\r\n{BEGIN}\r\nold\r\n{END}\r\n\r\nBelow.\r\n"
    text = index_page(own, PAGES, "en")
    assert text is not None
    assert text.startswith("Above.\r\n\r\n") and text.endswith("\r\n\r\nBelow.\r\n")
    assert "old" not in text and "\n" not in text.replace("\r\n", "")


def test_a_long_folder_is_cut_and_says_so() -> None:
    pages = [card(f"people/p{n:03}", f"# P{n}\n") for n in range(MOST + 7)]
    text = index_page(None, pages, "en")
    assert text is not None and "- … and 7 more" in text


@given(st.permutations(PAGES))
def test_the_same_pages_give_the_same_bytes(pages: list[Card]) -> None:
    first = index_page(None, PAGES, "en")
    assert index_page(first, pages, "en") == first


def test_the_log_grows_and_is_a_log_to_the_search() -> None:
    done = [Logged("people/alice", True, "memory/a", "m-1")]
    once = logged(None, AT, done, "en")
    twice = logged(once, AT, [Logged("people/alice", False, "memory/b", "")], "de")
    assert once.startswith("# Log 2026-11\n")
    assert twice.splitlines()[-2:] == [
        "- 2026-11-30 14:05 created [[people/alice]] from memory/a (by m-1)",
        "- 2026-11-30 14:05 geändert [[people/alice]] aus memory/b",
    ]
    assert is_log(log_path(AT))


def test_what_a_page_does_not_say_any_more_goes_to_its_timeline() -> None:
    before = "# Kim\n\nKim lives in Basel.\n\nKim's size is 38.\n"
    after = "# Kim\n\nKim lives in Basel.\n\nKim's size is 39.\n\n## More\n\nText.\n"
    lost = replaced_lines(before, after)
    assert lost == ("Kim's size is 38.",)
    once = keep_older(after, lost, "2026-01-05", "en")
    assert once.endswith("## More\n\nText.\n\n## Timeline\n\n- 2026-01-05: Kim's size is 38.\n")
    twice = keep_older(once, ["- Kim's size is 37."], "", "de")
    assert twice.endswith("- 2026-01-05: Kim's size is 38.\n- Kim's size is 37.\n")
    assert replaced_lines(before, once) == ()


def test_a_timeline_in_the_middle_is_added_to() -> None:
    text = "# A\r\n\r\n## Verlauf\r\n\r\n- old\r\n\r\n## End\r\n"
    kept = keep_older(text, ["one"], "", "de")
    assert kept == "# A\r\n\r\n## Verlauf\r\n\r\n- old\r\n- one\r\n\r\n## End\r\n"


def test_a_page_that_ends_in_a_code_block_has_no_place_for_a_timeline() -> None:
    with pytest.raises(RefusedError, match="code block"):
        keep_older("# A\n\n```\ncode\n", ["one"], "", "en")


def test_each_added_line_from_outside_is_marked() -> None:
    before = "# A\n\nOwn.\n"
    after = "# A\n\nOwn.\n\n## New\n\nOne\ntwo.\n\n- x\n- y\n\n```\ncode\n```\n"
    assert mark_outside(before, after, "web", "en") == (
        "# A\n\nOwn.\n\n## New\n\nOne\ntwo. *(from outside: web)*\n\n"
        "- x *(from outside: web)*\n- y *(from outside: web)*\n\n"
        "```\ncode\n```\n\n*(from outside: web)*\n"
    )


@given(LINES, LINES)
def test_marking_and_keeping_lose_no_line(before: str, after: str) -> None:
    marked = mark_outside(before, after, "web", "en")
    body = frontmatter.split(after).body
    for line in body.splitlines():
        assert line in marked
    try:
        kept = keep_older(marked, replaced_lines(before, after), "2026-01-01", "en")
    except RefusedError:
        return
    assert all(line in kept for line in body.splitlines() if line.strip())
    assert replaced_lines(before, kept) == ()


def test_the_day_of_a_note_is_the_one_it_states() -> None:
    values = {"stated_at": "2026-05-01", "updated": "2026-06-01T10:00:00", "created": "2026-01-01"}
    assert stated(values) == "2026-05-01"
    assert stated({"updated": "2026-06-01T10:00:00"}) == "2026-06-01"
    assert stated({"created": 5}, "2026-02-03T00:00:00+00:00") == "2026-02-03"
    assert page_stated({"updated": "2026-09-09", "sources": [{"date": "2026-02-02"}]}) == (
        "2026-02-02"
    )


def test_sources_are_added_once_and_none_is_lost() -> None:
    note: dict[str, Json] = {
        "source": {"url": "https://a.example", "kind": "web"},
        "tags": ["b"],
        "x": "kept",
    }
    entry = entry_of("memory/a", "0123456789ab", note, "2026-01-01")
    page: dict[str, Json] = {"sources": "an old book", "tags": "a, c"}
    changed = with_source(page, entry, note)
    assert changed["tags"] == ["a", "c", "b"]
    assert changed["sources"] == ["an old book", {
        "x": "kept", "note": "memory/a", "revision": "0123456789ab", "date": "2026-01-01",
        "url": "https://a.example", "kind": "web",
    }]  # fmt: skip
    assert names({**page, **changed}, "memory/a", "0123456789ab")
    assert with_source({**page, **changed}, entry, note) == {"sources": changed["sources"]}


def test_names_that_say_the_same_mean_one_page() -> None:
    pages = [card("people/alice-smith", "---\naliases: [Ali]\n---\n# Alice Smith\n"), *PAGES]
    found = same_name("Smith, Alice", pages)
    assert found is not None and found.path == "people/alice-smith"
    assert same_name("ali", pages) == found
    assert same_name("project 2", [card("project-1", "# Project 1\n")]) is None


@pytest.mark.parametrize(
    "path",
    ["index", "logs/2026-11", "friends/smith-alice", "person/new", "People/new", "a/b/c/d/e"],
)
def test_a_page_that_may_not_be_made_is_refused(path: str) -> None:
    pages = [card("people/alice-smith", "# Alice\n"), card("persons/x", "# X\n")]
    with pytest.raises((RefusedError, SlugError)):
        check_new_page(path, pages)


def test_a_new_page_in_a_known_or_a_new_folder_may_be_made() -> None:
    pages = [card("People/alice-smith", "# Alice\n")]
    check_new_page("People/bob", pages)
    check_new_page("topics/water", pages)
