"""Edits of a note's text: what is meant changes, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_mcp.core import frontmatter
from memory_mcp.core.edit import EditRequest, append, apply, replace_text
from memory_mcp.core.edit_check import header_state
from memory_mcp.core.errors import InputError, MemoryMcpError, NotFoundError, RefusedError
from memory_mcp.core.private import hide

NOW = "2026-03-14T09:30:00+00:00"
HEADER = "---\nzeta: last   # mine\ntags: [a/b, c]\ncreated: 2026-04-11\n---\n"


def edit(text: str, **request: Any) -> str:
    return apply(EditRequest(**request), text, NOW).text


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"frontmatter": {}},
        {"content": ""},
        {"content": " \n"},
        {"append": " "},
        {"old_text": "", "new_text": "x"},
        {"old_text": "x"},
        {"new_text": "x"},
        {"heading": "A"},
        {"heading": " ", "content": "x"},
        {"content": "x", "append": "y"},
        {"content": "x", "old_text": "a", "new_text": "b"},
        {"heading": "A", "content": "x", "append": "y"},
    ],
)
def test_a_request_is_one_kind_of_edit_and_not_empty(request_: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        EditRequest(**request_)


def test_content_replaces_the_body_and_keeps_the_header_byte_for_byte() -> None:
    changed = edit(HEADER + "\nOld body.\n\n", content="New body.\n\n")
    assert changed == HEADER.replace("---\n", "---\n", 1).removesuffix("---\n") + (
        f"updated: {NOW}\n---\n\nNew body.\n\n"
    )


def test_updated_is_set_only_where_there_is_a_readable_header() -> None:
    assert edit("Old.\n", content="New.\n") == "New.\n"
    broken = '---\ndescription: "box "left" side"\ntags: [a]\n---\nOld.\n'
    done = apply(EditRequest(content="New.\n"), broken, NOW)
    assert done.text == broken.replace("Old.", "New.")
    assert any("header" in warning for warning in done.warnings)


def test_an_edit_that_changes_nothing_does_not_touch_updated() -> None:
    text = HEADER + "Body.\n"
    assert edit(text, content="Body.\n") == text
    assert edit(text, old_text="Body", new_text="Body") == text


def test_a_header_that_cannot_be_read_cannot_be_changed() -> None:
    with pytest.raises(RefusedError):
        edit('---\na: "x "y" z"\n---\nText.\n', content="New.\n", frontmatter={"status": "open"})


def test_a_header_block_in_content_replaces_the_header_and_is_merged_with_frontmatter() -> None:
    changed = edit(
        HEADER + "Old.\n", content="---\ntitle: New\n---\nText.\n", frontmatter={"status": "open"}
    )
    parts, loaded = frontmatter.split_and_load(changed)
    assert loaded.values == {
        "title": "New", "status": "open", "created": "2026-04-11", "updated": NOW
    }  # fmt: skip
    assert parts.body == "Text.\n"


def test_a_header_block_in_content_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        edit(HEADER + "Old.\n", content='---\na: "x "y" z"\n---\nText.\n')


def test_frontmatter_alone_changes_single_lines_and_null_removes_a_key() -> None:
    changed = edit(HEADER + "Body.\n", frontmatter={"status": "open", "zeta": None})
    assert changed == (
        f"---\ntags: [a/b, c]\ncreated: 2026-04-11\nstatus: open\nupdated: {NOW}\n---\nBody.\n"
    )


def test_frontmatter_makes_a_header_where_there_is_none() -> None:
    assert edit("Body.\n", frontmatter={"status": "open"}) == (
        f"---\nstatus: open\nupdated: {NOW}\n---\nBody.\n"
    )


@pytest.mark.parametrize("old", ["---\ntitle: A\n---", "\ufeff---\r\ntitle: A\r\n---"])
def test_text_never_stands_on_the_line_that_closes_the_header(old: str) -> None:
    for request in ({"content": "Text."}, {"append": "Text."}):
        parts, loaded = frontmatter.split_and_load(edit(old, **request))
        assert loaded.values["title"] == "A"
        assert parts.body.strip() == "Text."


def test_windows_line_ends_and_byte_order_mark_stay() -> None:
    text = "\ufeff---\r\ntitle: A\r\n---\r\n# A\r\n\r\nOne.\r\n\r\n## B\r\n\r\nTwo.\r\n"
    for request in (
        {"content": "New\ntext.\n"},
        {"old_text": "One.\n\n## B", "new_text": "Uno.\n\n## C"},
        {"append": "More\nlines"},
        {"heading": "B", "content": "Due.\nTre.\n"},
        {"frontmatter": {"x": [1, 2]}},
    ):
        changed = edit(text, **request)
        assert changed.startswith("\ufeff---\r\ntitle: A\r\n")
        assert re.search(r"(?<!\r)\n", changed) is None


def test_old_text_must_stand_in_one_place() -> None:
    text = "The grey cat is grey.\nA dog.\n"
    with pytest.raises(InputError, match=r"2 places \(lines 1, 1\)"):
        edit(text, old_text="grey", new_text="red")
    with pytest.raises(InputError, match="2 places"):
        replace_text("aaa", "aa", "b")
    with pytest.raises(
        InputError, match=r'"A frog\." is not in the note.*nearest line is 2: "A dog'
    ):
        edit(text, old_text="A frog.", new_text="x")
    with pytest.raises(InputError, match='"zzz" is not in the note'):
        edit(text, old_text="zzz", new_text="x")


def test_an_empty_new_text_deletes() -> None:
    assert edit("One. Two.\n", old_text=" Two.", new_text="") == "One.\n"


def test_old_text_is_no_pattern() -> None:
    assert edit("a.c (x) \\1\n", old_text="a.c (x)", new_text="\\1 \\g<0>") == "\\1 \\g<0> \\1\n"


def test_a_text_edit_may_change_the_header_but_not_break_it() -> None:
    text = "---\nstatus: open\n---\nText.\n"
    assert "status: done" in edit(text, old_text="status: open", new_text="status: done")
    for old, new in (
        ("---\nText", "Text"),
        ("status: open", "status: [open"),
        ("---\nstatus", "s"),
    ):
        with pytest.raises(InputError, match="frontmatter"):
            edit(text, old_text=old, new_text=new)


def test_append_stands_on_lines_of_its_own() -> None:
    assert edit("- candles", append="- oil") == "- candles\n- oil\n"
    assert edit("- candles\n", append="- oil\n") == "- candles\n- oil\n"
    assert edit("", append="First.") == "First.\n"


SECTIONS = """# Guide

Intro.

## Setup

Old setup.

### Detail

Deep.

## Use

Old use.


Under
-----

Last"""


def test_a_section_goes_to_the_next_heading_of_its_level() -> None:
    assert edit(SECTIONS, heading="Setup", content="New setup.\n") == SECTIONS.replace(
        "Old setup.\n\n### Detail\n\nDeep.", "New setup."
    )
    assert edit(SECTIONS, heading="Detail", content="Deeper.") == SECTIONS.replace(
        "Deep.", "Deeper."
    )
    assert edit(SECTIONS, heading="Use", content="New.") == SECTIONS.replace("Old use.", "New.")
    assert edit(SECTIONS, heading="Under", content="End") == SECTIONS.replace("Last", "End")


def test_the_heading_may_be_repeated_in_the_new_text_and_stays_single() -> None:
    changed = edit(SECTIONS, heading="Use", content="## Use\n\nNew.\n")
    assert changed == SECTIONS.replace("Old use.", "New.")


@pytest.mark.parametrize("heading", ["use", "## Use", "USE", "Guide > Use", "guide > use"])
def test_a_heading_is_found_by_text_spelling_or_trail(heading: str) -> None:
    assert "New." in edit(SECTIONS, heading=heading, content="New.")


def test_a_heading_that_stands_twice_is_asked_for_by_its_trail() -> None:
    text = "# A\n\n## Log\n\nx\n\n# B\n\n## Log\n\ny\n"
    with pytest.raises(InputError, match=r'"A > Log" .*"B > Log"'):
        edit(text, heading="Log", content="z")
    assert edit(text, heading="B > Log", content="z") == text.replace("y", "z")
    assert edit("# X\n\n# x\n\na\n", heading="x", content="z") == "# X\n\n# x\n\nz\n"


def test_a_missing_heading_lists_those_there_are() -> None:
    with pytest.raises(NotFoundError, match='"Guide > Setup > Detail"'):
        edit(SECTIONS, heading="Nothing", content="x")


def test_a_section_that_was_empty_gets_its_text() -> None:
    assert edit("# A\n# B\n", heading="A", content="Text.") == "# A\n\nText.\n\n# B\n"
    assert edit("# A", heading="A", content="Text.") == "# A\n\nText.\n"
    assert edit("# A\n\n# B\n\nb\n", heading="A", content="Text.") == "# A\n\nText.\n\n# B\n\nb\n"


def test_headings_in_code_and_comments_are_no_sections() -> None:
    text = "# A\n\n```\n# B\n```\n\n<!--\n# B\n-->\n\n# B\n\nold\n"
    assert edit(text, heading="B", content="new") == text.replace("old", "new")


def test_new_text_must_not_swallow_what_follows() -> None:
    for content in ("```\nopen", "~~~\nopen", "<!-- open"):
        with pytest.raises(InputError, match="close"):
            edit(SECTIONS, heading="Setup", content=content)
    assert "```\nopen" in edit(SECTIONS, heading="Under", content="```\nopen")


def test_a_heading_that_then_stands_twice_is_a_warning() -> None:
    done = apply(EditRequest(heading="Setup", content="- x\n\n## Use\n\ny"), SECTIONS)
    assert done.warnings[0] == 'The note now has the heading "Use" twice.'


SECRET = "---\ntitle: T\n---\n# A\n\nOpen. <private>code 7712</private> End.\n\n"
SECRET += "## B\n\n<private>x</private>\n"


def test_private_parts_come_back_where_their_marks_are_kept() -> None:
    shown, _ = hide(SECRET)
    assert edit(SECRET, content=shown) == SECRET
    assert "New. <private>code 7712</private> End." in edit(
        SECRET, old_text="Open. <private id=1/>", new_text="New. <private id=1/>"
    )
    assert "<private>x</private>\n\nmore" in edit(
        SECRET, heading="B", content="<private id=2/>\n\nmore"
    )
    assert edit(SECRET, append="more").count("7712") == 1


@pytest.mark.parametrize(
    "request_",
    [
        {"content": "All new.\n"},
        {"content": "<private id=1/> <private id=1/> <private id=2/>"},
        {"append": "<private id=1/>"},
        {"append": "<private id=9/>"},
        {"heading": "B", "content": "gone"},
        {"old_text": "Open. <private id=1/>", "new_text": "Open."},
    ],
)
def test_an_edit_that_would_lose_or_double_a_private_part_is_refused(
    request_: dict[str, Any],
) -> None:
    with pytest.raises(RefusedError):
        edit(SECRET, **request_)


def test_nothing_is_put_behind_a_private_part_that_has_no_end() -> None:
    with pytest.raises(RefusedError, match="no </private>"):
        edit("Open.\n<private>code", append="more")
    assert edit("Open.\n<private>code", old_text="Open", new_text="New") == "New.\n<private>code"


def test_a_note_of_more_than_two_megabytes_is_not_edited() -> None:
    with pytest.raises(RefusedError, match="2,000,0"):
        edit("x" * 2_000_001, append="y")
    with pytest.raises(RefusedError, match="Split"):
        edit("x" * 1_999_990, append="y" * 100)


_LINE = st.sampled_from(
    [
        "---", "...", "title: A", "tags: [x, y]", 'bad: "a "b" c"', "", "", "Some text.", "# One",
        "## Two", "# One", "```", "<!--", "-->", "- item", "ü 日本", "key: value  # note",
        "<private>p</private>", "<private id=1/>", "Under", "=====", "%%", "<private>",
        "</private>",
    ]
)  # fmt: skip
_NOTE = st.builds(
    lambda bom, header, lines, newline, end: (
        bom + newline.join([*header, *lines]) + (newline * end)
    ),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(
        [[], ["---", "title: T", "created: 2026-01-01  # first", "---"], ["---", "a: b"]]
    ),
    st.lists(_LINE, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(0, 2),
)
_TEXT = st.lists(_LINE, min_size=1, max_size=5).map("\n".join).filter(str.strip)
_REQUEST: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(dict, content=_TEXT),
    st.builds(dict, append=_TEXT),
    st.builds(dict, old_text=_LINE.filter(bool), new_text=_TEXT),
    st.builds(dict, heading=st.sampled_from(["One", "Two", "Under"]), content=_TEXT),
    st.builds(dict, frontmatter=st.just({"status": "open"})),
)


@given(_NOTE)
def test_what_was_read_written_back_gives_the_same_bytes(text: str) -> None:
    shown, _ = hide(text)
    assume(shown.strip())
    assert edit(text, content=shown) == text


@given(_NOTE, _REQUEST)
def test_no_edit_makes_a_second_header(text: str, request_: dict[str, Any]) -> None:
    try:
        changed = edit(text, **request_)
    except MemoryMcpError:
        return
    body = frontmatter.split(changed).body
    was_body, given_body = frontmatter.split(text).body, request_.get("content", "")
    assume(not was_body.startswith("---"))  # a rule of the user's own, and another line below it
    if header_state(changed) != "none" and header_state(body) != "none":
        assert (
            header_state(was_body) != "none"
            or header_state(frontmatter.split(given_body).body) != "none"
        )


@given(_NOTE, _REQUEST)
def test_every_edit_keeps_private_parts_and_line_ends(text: str, request_: dict[str, Any]) -> None:
    try:
        changed = edit(text, **request_)
    except MemoryMcpError:
        return
    for part in hide(text)[1]:
        assert part in changed
    if "\r\n" in text and re.search(r"(?<!\r)\n", text) is None:
        assert re.search(r"(?<!\r)\n", changed) is None


@given(_NOTE, _TEXT)
def test_append_keeps_every_byte_before_it(text: str, addition: str) -> None:
    try:
        changed = append(text, addition).text
    except InputError:
        return
    assert changed.startswith(text)
    assert changed.endswith("\n")


@given(_NOTE, st.data())
def test_a_text_edit_changes_one_place(text: str, data: st.DataObject) -> None:
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assume(not text[start:end].endswith("\r") and text[start - 1 : start] != "\r")
    try:
        changed = replace_text(text, text[start:end], "NEW").text
    except InputError:
        return
    assert changed == text[:start] + "NEW" + text[end:]


@given(_NOTE, st.sampled_from(["One", "Two", "Under"]))
def test_a_section_edit_changes_nothing_outside_of_the_section(text: str, heading: str) -> None:
    try:
        changed = apply(EditRequest(heading=heading, content="MARKER"), text).text
    except MemoryMcpError:
        return
    before, _, after = changed.partition("MARKER")
    assert text.startswith(before.rstrip("\r\n"))
    assert text.endswith(after.lstrip("\r\n")) or not after.strip()
