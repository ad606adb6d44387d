"""The whole text of a note that is written anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.compose import compose
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.core.frontmatter import split_and_load
from memory_mcp.core.note import Json

NOW = "2026-03-14T09:30:00+00:00"


def test_a_new_note_gets_both_times_and_ends_with_a_line_end() -> None:
    assert compose("Text.", {"title": "T"}, None, NOW).text == (
        f"---\ntitle: T\ncreated: {NOW}\nupdated: {NOW}\n---\n\nText.\n"
    )


def test_created_of_the_old_note_stays_and_its_other_keys_go() -> None:
    old = "---\ntags: [a]\ncreated: 2020-05-05\nupdated: 2020-05-06\n---\nOld.\n"
    _, loaded = split_and_load(compose("New.", {"created": "2026-01-01"}, old, NOW).text)
    assert loaded.values == {"created": "2020-05-05", "updated": NOW}


def test_an_old_note_that_does_not_say_when_it_was_made_is_not_dated_today() -> None:
    assert "created" not in compose("New.", None, "Old.\n", NOW).text


def test_a_header_block_in_content_is_the_header_with_frontmatter_over_it() -> None:
    content = "---\n# mine\ntitle: A\nstatus: open\nowner: me\n---\nText.\n"
    text = compose(content, {"title": "B", "owner": None}, None, NOW).text
    assert text.startswith("---\n# mine\ntitle: B\nstatus: open\n")
    assert "owner" not in text
    assert text.endswith("---\nText.\n")


def test_a_header_block_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        compose('---\na: "x "y" z"\n---\nText.\n', None, None, NOW)


@pytest.mark.parametrize("content", ["", " \n", "\ufeff", "\0"])
def test_an_empty_text_is_no_note(content: str) -> None:
    with pytest.raises(InputError, match="empty"):
        compose(content, None, None, NOW)


def test_marks_get_the_private_parts_of_the_old_note_back() -> None:
    old = "A <private>7712</private> b.\n"
    assert "New <private>7712</private>." in compose("New <private id=1/>.", None, old, NOW).text
    done = compose("New.", None, old, NOW)
    assert "7712" not in done.text
    assert "history" in done.warnings[0]
    with pytest.raises(RefusedError):
        compose("New <private id=1/>.", None, None, NOW)


def test_a_mark_among_header_values_is_refused() -> None:
    old = "---\ndescription: <private>x</private>\n---\nOld.\n"
    headers: list[dict[str, Json]] = [
        {"a": "<private id=1/>"},
        {"a": [{"b": "see <private id=1/>"}]},
    ]
    for header in headers:
        with pytest.raises(RefusedError, match="memory_edit"):
            compose("New.", header, old, NOW)


_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
_VALUE = st.one_of(st.none(), _TEXT, st.integers(-9, 9), st.booleans())


@given(
    st.lists(st.sampled_from(["---", "a: b", "# H", "text", "", "..."]), min_size=1).map(
        "\n".join
    ),
    st.dictionaries(st.sampled_from(["title", "x", "y z", "#k"]), _VALUE, max_size=3),
)
def test_every_written_note_has_one_readable_header(content: str, header: dict[str, Json]) -> None:
    try:
        text = compose(content, header, None, NOW).text
    except InputError:
        return
    parts, loaded = split_and_load(text)
    assert loaded.state == "good"
    assert loaded.values["updated"] == NOW
    own = split_and_load(content)
    body = own[0].body
    assert parts.body.strip("\n") == body.strip("\n")
    for key, value in header.items():
        if value is not None:
            assert loaded.values[key] == value
