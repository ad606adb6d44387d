"""Arguments as clients send them."""

from __future__ import annotations

from typing import Any

import pytest

from memory_mcp.core.arguments import prepare, snake
from memory_mcp.core.errors import InputError
from memory_mcp.server.tools import OFFERS

SCHEMAS = {offer.name: offer.tool().parameters for offer in OFFERS}


def prepared(tool: str, **arguments: Any) -> dict[str, Any]:
    return prepare(tool, SCHEMAS[tool], arguments)


def problem(tool: str, **arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        prepared(tool, **arguments)
    return str(caught.value)


@pytest.mark.parametrize("nothing", [None, "null", ""])
def test_an_optional_argument_without_a_value_is_left_out(nothing: str | None) -> None:
    given = prepared("memory_search", query="q", limit=nothing, source=nothing, min_score=nothing)
    assert given == {"query": "q"}
    given = prepared("memory_write", slug="a", content="b", frontmatter=nothing, scope=nothing)
    assert given == {"slug": "a", "content": "b"}


def test_an_empty_new_text_deletes_and_is_not_left_out() -> None:
    given = prepared("memory_edit", slug="a", old_text="b", new_text="", append="", content="")
    assert given == {"slug": "a", "old_text": "b", "new_text": ""}
    assert prepared("memory_edit", slug="a", append="b", old_text="", new_text="") == {
        "slug": "a",
        "append": "b",
    }


def test_the_word_null_can_be_written_where_a_text_is_replaced() -> None:
    given = prepared("memory_edit", slug="a", old_text="none", new_text="null")
    assert given["new_text"] == "null"
    given = prepared("memory_edit", slug="a", old_text="null", new_text="none")
    assert given == {"slug": "a", "old_text": "null", "new_text": "none"}
    given = prepared("memory_edit", slug="a", old_text="null", new_text="null", append="b")
    assert given == {"slug": "a", "append": "b"}


@pytest.mark.parametrize(
    ("sent", "read"), [("3", 3), (" 7 ", 7), ("3.0", 3), (3.0, 3), (50, 50), ("+2", 2)]
)
def test_a_whole_number_may_come_as_text(sent: Any, read: int) -> None:
    limit = prepared("memory_search", query="q", limit=sent)["limit"]
    assert limit == read
    assert isinstance(limit, int)


@pytest.mark.parametrize("sent", [0, -1, 51, 100_000, 2.5, "2.5", "three", True, [3], "1_0", "٣x"])
def test_a_number_that_cannot_be_used_names_the_allowed_range(sent: Any) -> None:
    assert "limit must be a whole number from 1 to 50" in problem(
        "memory_search", query="q", limit=sent
    )


@pytest.mark.parametrize("sent", [2, -0.1, "1.5", "nan", "inf", float("nan"), True])
def test_a_floor_outside_of_the_scores_is_refused(sent: Any) -> None:
    assert "min_score must be a number from 0 to 1" in problem(
        "memory_search", query="q", min_score=sent
    )


def test_a_floor_may_come_as_text() -> None:
    assert prepared("memory_search", query="q", min_score=".5")["min_score"] == 0.5


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("wiki", ["wiki"]),
        ('["wiki", "vault"]', ["wiki", "vault"]),
        ("wiki, vault", ["wiki", "vault"]),
        (["wiki", "wiki", None], ["wiki"]),
        ("[wiki, vault]", ["wiki", "vault"]),
    ],
)
def test_a_list_may_come_as_text(sent: Any, read: list[str]) -> None:
    assert prepared("memory_search", query="q", source=sent)["source"] == read


def test_a_list_of_other_things_than_texts_is_refused() -> None:
    assert "must be text" in problem("memory_search", query="q", source=[{"a": 1}])
    assert "must be a text or a list" in problem("memory_search", query="q", source={"a": 1})


def test_a_header_may_come_as_text() -> None:
    sent = '{"tags": ["red"], "title": "T"}'
    given = prepared("memory_write", slug="a", content="b", frontmatter=sent)
    assert given["frontmatter"] == {"tags": ["red"], "title": "T"}


@pytest.mark.parametrize("sent", ['["red", "blue"]', "red, blue", "[red, blue]", ["red", "blue"]])
def test_tags_in_a_header_become_a_list(sent: Any) -> None:
    given = prepared("memory_write", slug="a", content="b", frontmatter={"tags": sent})
    assert given["frontmatter"] == {"tags": ["red", "blue"]}


def test_a_null_in_a_header_is_kept_since_it_removes_the_key() -> None:
    given = prepared(
        "memory_edit", slug="a", frontmatter={"pinned": None, "note": "", "x": "null"}
    )
    assert given["frontmatter"] == {"pinned": None, "note": "", "x": "null"}


def test_pinned_in_a_header_becomes_a_flag() -> None:
    given = prepared("memory_edit", slug="a", frontmatter={"pinned": "true", "title": "true"})
    assert given["frontmatter"] == {"pinned": True, "title": "true"}


@pytest.mark.parametrize("sent", ["not json", "[1]", 5, ["a"]])
def test_a_header_that_is_no_object_is_refused(sent: Any) -> None:
    assert "frontmatter must be an object" in problem(
        "memory_write", slug="a", content="b", frontmatter=sent
    )


@pytest.mark.parametrize("text", ['{"a": 1}', "[1, 2]", "5", "true", "null", "", "1e9"])
def test_a_text_stays_a_text_whatever_it_looks_like(text: str) -> None:
    assert prepared("memory_write", slug="a", content=text)["content"] == text


@pytest.mark.parametrize(("sent", "read"), [(5, "5"), (2.5, "2.5"), (True, "true"), (0, "0")])
def test_a_number_for_a_text_becomes_its_text(sent: Any, read: str) -> None:
    assert prepared("memory_search", query=sent)["query"] == read


def test_an_object_for_a_text_is_refused() -> None:
    assert "content must be text" in problem("memory_write", slug="a", content={"a": 1})


def test_camel_case_names_are_accepted() -> None:
    given = prepared(
        "memory_search", query="q", minScore=0, pathPrefix="a", **{"path-prefix": "a"}
    )
    assert given == {"query": "q", "min_score": 0, "path_prefix": "a"}
    assert snake("ifRevision") == "if_revision"


def test_two_spellings_with_two_values_are_refused() -> None:
    assert "twice" in problem("memory_search", query="q", minScore=0.1, min_score=0.2)


@pytest.mark.parametrize(
    ("tool", "wrong", "right"),
    [
        ("memory_search", "max_results", "limit"),
        ("memory_search", "topK", "limit"),
        ("memory_search", "qery", "query"),
        ("memory_search", "folder", "path_prefix"),
        ("memory_delete", "path", "slug"),
        ("memory_get", "path", "reference"),
        ("memory_edit", "old_str", "old_text"),
        ("memory_edit", "revision", "if_revision"),
        ("memory_link", "to", "target"),
        ("memory_save", "url", "source_url"),
        ("memory_list", "tags", "tag"),
    ],
)
def test_an_unknown_argument_is_refused_with_the_nearest_known(
    tool: str, wrong: str, right: str
) -> None:
    text = problem(tool, **{wrong: "x"})
    assert wrong in text
    assert f"Did you mean '{right}'?" in text
    assert "Nothing was done" in text


def test_an_unknown_argument_like_no_other_lists_all() -> None:
    text = problem("memory_search", query="q", zzz=1)
    assert "zzz" in text
    assert "query, limit, min_score" in text


def test_a_missing_argument_is_named() -> None:
    assert "needs slug, content" in problem("memory_write")
    assert "needs content" in problem("memory_write", slug="a", content=None)


def test_a_value_that_is_none_of_the_allowed_ones_is_refused() -> None:
    assert "scope must be one of global, project" in problem(
        "memory_write", slug="a", content="b", scope="team"
    )


def test_an_error_stays_short_and_on_one_line_for_giant_values() -> None:
    text = problem("memory_search", query="q", limit="9\n" * 50_000)
    assert len(text) < 500
    assert "\n" not in text
    assert len(problem("memory_search", query="q", **{"x" * 10_000: 1})) < 500


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**4000])
def test_a_number_of_any_length_is_out_of_range_and_nothing_worse(number: int) -> None:
    assert "min_score must be a number from 0 to 1" in problem(
        "memory_search", query="q", min_score=number
    )
    assert "limit must be a whole number" in problem("memory_search", query="q", limit=number)
