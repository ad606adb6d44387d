"""What an edit may not cost."""

from __future__ import annotations

from typing import Any

import pytest

from memory_mcp.core.edit import EditRequest, apply
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.core.frontmatter import split_and_load

NOW = "2026-03-14T09:30:00+00:00"


def edit(text: str, **request: Any) -> str:
    return apply(EditRequest(**request), text, NOW).text


@pytest.mark.parametrize(
    "text",
    ["open <private>x", "<private>x <private>y</private>", "<private>a</private>\n<PRIVATE>b\n"],
)
def test_nothing_is_put_behind_a_private_part_without_an_end(text: str) -> None:
    with pytest.raises(RefusedError, match="no </private>"):
        edit(text, append="more")


def test_a_closed_part_at_the_end_does_not_stop_an_addition() -> None:
    assert edit("<private>x< / private >", append="more").endswith(">\nmore\n")


@pytest.mark.parametrize(
    "request_",
    [{"old_text": "two", "new_text": "<private>"}, {"heading": "A", "content": "<Private> x"}],
)
def test_new_text_does_not_hide_what_follows_it(request_: dict[str, str]) -> None:
    with pytest.raises(InputError, match="does not close"):
        edit("# A\n\none two\n\n# B\n\nthree\n", **request_)


def test_a_part_that_is_closed_may_come_with_new_text() -> None:
    changed = edit("one two three\n", old_text="two", new_text="<private>2</private>")
    assert changed == "one <private>2</private> three\n"


def test_a_header_whose_end_is_private_is_not_given_a_second_one() -> None:
    text = "---\ntitle: a\n<private>\n---\nbody</private>\n"
    with pytest.raises(RefusedError, match="private part"):
        edit(text, frontmatter={"x": 1})


def test_a_private_value_that_yaml_cannot_read_is_no_hindrance() -> None:
    text = "---\ntitle: <private>a: b: c</private>\n---\nbody\n"
    changed = edit(text, append="more")
    assert changed == text.replace("---\nbody", f"updated: {NOW}\n---\nbody") + "more\n"


def test_a_section_does_not_close_a_header_that_was_none() -> None:
    with pytest.raises(InputError, match="header"):
        edit("---\nnot: closed\n\n# A\n\nold\n", heading="A", content="new\n---\n")


def test_an_empty_header_is_the_header() -> None:
    assert edit("---\n---\nbody\n", frontmatter={"x": 1}) == (
        f"---\nx: 1\nupdated: {NOW}\n---\nbody\n"
    )
    assert edit("---\n\n---\nold\n", content="new\n").endswith("---\nnew\n")


def test_a_text_that_begins_with_a_line_end_is_found_in_any_spelling() -> None:
    assert edit("a\r\nb\r\nc\r\n", old_text="\nb", new_text="") == "a\r\nc\r\n"
    assert edit("a\rb\nc\n", old_text="b", new_text="") == "a\r\nc\n"


def test_numbers_beyond_what_is_read_as_numbers_become_text() -> None:
    changed = edit("---\na: 1\n---\n", frontmatter={"n": 2**70, "f": 1e22, "h": 0.5})
    values = split_and_load(changed)[1].values
    assert (values["n"], values["f"], values["h"]) == (str(2**70), "1e+22", 0.5)


def test_sections_that_go_with_the_one_above_them_are_named() -> None:
    text = "# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n"
    done = apply(EditRequest(heading="A", content="new\n\n## C\n\n3\n"), text)
    assert any('"B"' in warning and '"C"' not in warning for warning in done.warnings)
