"""A header is changed where its values stand, and composed so that it reads back the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.frontmatter import change, compose, load, split_and_load
from memory_mcp.core.note import Json
from memory_mcp.core.yaml_writer import inline


def test_only_the_bytes_of_the_value_change() -> None:
    text = "\ufeff---\r\n# mine\r\ntitle:   'Old'   # why\r\nz: 1\r\na: {x: 1}\r\n---\r\nbody\r\n"
    assert change(text, {"title": "New"}) == text.replace("'Old'", "New")


def test_a_block_list_stays_one() -> None:
    text = "---\ntags:\n    - a\n    - b\n\n# note\nlast: 1\n---\n"
    changed = change(text, {"tags": ["a", "c d"]})
    assert changed == "---\ntags:\n    - a\n    - c d\n\n# note\nlast: 1\n---\n"


def test_the_blank_line_behind_a_literal_block_stays() -> None:
    text = "---\nlit: |\n  one\n  two\n\nlast: 1\n---\n"
    assert change(text, {"lit": "three"}) == "---\nlit: three\n\nlast: 1\n---\n"


def test_a_new_key_comes_last_in_the_newline_style_of_the_text() -> None:
    text = "---\r\na: 1\r\n---\r\nbody"
    assert change(text, {"b": ["x", "y"]}) == "---\r\na: 1\r\nb: [x, y]\r\n---\r\nbody"


def test_a_removed_key_takes_its_lines_along() -> None:
    text = "---\na: 1\ngone:\n  - x\n  - y\nb: 2\n---\nbody"
    assert change(text, {"gone": None, "never": None}) == "---\na: 1\nb: 2\n---\nbody"


def test_a_header_without_keys_goes() -> None:
    assert change("---\na: 1\n---\nbody", {"a": None}) == "body"


def test_a_header_is_made_where_there_is_none() -> None:
    assert change("\ufeffbody\r\n", {"a": "x"}) == "\ufeff---\r\na: x\r\n---\r\nbody\r\n"
    assert change("body", {"a": None}) == "body"


def test_the_same_value_changes_nothing() -> None:
    text = "---\na:   'x'\nb: [1,2]\n---\n"
    assert change(text, {"a": "x", "b": [1, 2]}) == text


def test_links_stand_one_to_a_line() -> None:
    links: list[Any] = [{"to": "memory/a", "relation": "part_of"}]
    text = change("---\na: 1\n---\n", {"links": links})
    assert text == "---\na: 1\nlinks:\n  - {to: memory/a, relation: part_of}\n---\n"


@pytest.mark.parametrize(
    ("header", "key", "reason"),
    [
        ("title: Re: x\n", "title", "YAML"),
        ("a: 1\na: 2\n", "a", "2 times"),
        ("{a: 1, b: 2}\n", "a", "braces"),
        ("a: &x [1]\nb: *x\n", "a", "alias"),
        ("a: &x [1]\nb: *x\n", "b", "alias"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(header: str, key: str, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        change(f"---\n{header}---\nbody", {key: "new"})


def test_other_keys_can_be_set_beside_anchors_and_repeats() -> None:
    text = "---\na: &x [1]\nb: *x\nc: 1\nc: 2\nd: old\n---\n"
    assert change(text, {"d": "new"}) == text.replace("old", "new")


TRICKY = st.sampled_from(
    [
        "yes",
        "no",
        "null",
        "~",
        "1",
        "1.0",
        "1e3",
        "0x1F",
        "12:30",
        "2026-01-02",
        "a: b",
        "a #b",
        "#x",
        "@x",
        "*x",
        "&x",
        "- x",
        "? x",
        "[x",
        "{x",
        "x,",
        "",
        " x ",
        "a\nb",
        "a\tb",
        "'",
        '"',
        "\\",
        "---",
        "...",
        "-",
        "ä€𝄞",
        "\u2028",
        "\x85",
        "\x7f",
        "%x",
        "`x`",
        "!x",
        "|",
        ">",
        "=",
        "<<",
        "true",
        "+1",
        ".5",
        "0o7",
        "[[Note]]",
        "{{x}}",
        "https://a.b/c#d",
        "x:",
        ":x",
        "a:b",
    ]
)
TEXT = st.one_of(
    TRICKY,
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12),
)
KEYS = st.sampled_from(["title", "tags", "a key", "1", "ä", "links", "x-y"])
SCALARS = st.one_of(TEXT, st.integers(-(2**53), 2**53), st.booleans(), st.none())
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)


def is_kept(text: str) -> bool:
    """YAML has no way to write some code points; such a change is refused."""
    return re.search("[\ufffe\uffff]", text) is None


@given(
    st.dictionaries(KEYS, VALUES.filter(lambda value: value is not None), min_size=1, max_size=4)
)
@settings(max_examples=200, deadline=None)
def test_a_composed_header_reads_back_the_same(wanted: dict[str, Any]) -> None:
    text = compose(wanted)
    if not is_kept(text):
        return
    parts, loaded = split_and_load(text + "body")
    assert loaded.values == wanted
    assert parts.body == "body"


@given(TEXT)
def test_a_text_is_a_text_for_every_yaml_reader(text: str) -> None:
    if not is_kept(text):
        return
    read = yaml.safe_load(compose({"key": text}).removesuffix("---\n"))
    assert str(read["key"]) == text or read["key"] == text or re.match(r"\d{4}-\d\d-\d\d", text)


ENTRIES = st.sampled_from(
    [
        "title: One # why\n",
        "tags: [a, b]\n",
        "tags:\n- a\n- b # c\n",
        "'a key': |\n  lit\n\n  more\n\n",
        "1: >-\n  folded\n",
        "ä: 'quoted ''one'''\n",
        "links:\n  - {to: x, relation: y}\n",
        "x-y:\n",
        "# comment\n",
        "\n",
        'title: "two\\nlines"\n',
        "n: {deep: [1, {er: 2}]}\n",
        "emoji: 😀\n",
        "multi: plain\n  goes on\n",
        "d: 2026-01-01\n",
    ]
)


@st.composite
def notes(draw: st.DrawFn) -> tuple[list[str], str]:
    """(the entries of a header, the whole text)."""
    entries = draw(st.lists(ENTRIES, min_size=1, max_size=6, unique_by=lambda entry: entry[:4]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    entries = [entry.replace("\n", end) for entry in entries]
    rest = f"---{end}body: not header{end}{end}---{end}end"
    return entries, f"{bom}---{end}{''.join(entries)}{rest}"


@given(notes(), KEYS, VALUES)
@settings(max_examples=200, deadline=None)
def test_a_change_is_exactly_the_difference_asked_for(
    note: tuple[list[str], str], key: str, value: Any
) -> None:
    entries, text = note
    before, known = split_and_load(text)
    if known.state != "good":
        return
    try:
        changed = change(text, {key: value})
    except RefusedError:
        assert not is_kept(json.dumps(value, ensure_ascii=False))
        return
    after, now = split_and_load(changed)
    wanted = {**known.values, key: value}
    if value is None:
        wanted.pop(key, None)
    if wanted:
        assert now.values == wanted
        assert after.body == before.body
        assert after.bom == before.bom
    at = 0
    for entry in entries:
        if key not in load(entry).values and (wanted or entry.strip()):
            at = changed.index(entry, at) + len(entry)
    assert changed.index(before.body, at) >= 0


@pytest.mark.parametrize(
    ("header", "values", "expected"),
    [
        ("tags: x # mine\n", {"tags": ["a", "b"]}, "tags: [a, b] # mine\n"),
        ("alias: # other names\n", {"alias": "q"}, "alias: q # other names\n"),
        ("t: >- # folded\n  a\n  b\n", {"t": "c"}, "t: c # folded\n"),
        ("k: [a,\n  b, # inner\n  c] # end\n", {"k": 1}, "# inner\n# end\nk: 1\n"),
        ("k:\n  - a # one\n  # two\n", {"k": "v"}, "k: v # one\n  # two\n"),
    ],
)
def test_comments_outlive_the_value_they_stand_beside(
    header: str, values: dict[str, Json], expected: str
) -> None:
    assert change(f"---\n{header}z: 1\n---\n", values) == f"---\n{expected}z: 1\n---\n"


def test_items_of_a_list_that_stay_keep_their_bytes() -> None:
    text = "---\nlinks:\n- to: 'memory/a'  # why\n  relation: r\n# between\n- memory/b\n---\n"
    first: Json = {"to": "memory/a", "relation": "r"}
    added = change(text, {"links": [first, "memory/b", {"to": "memory/c"}]})
    assert added == text.replace("- memory/b\n", "- memory/b\n- {to: memory/c}\n")
    assert change(text, {"links": [first]}) == text.replace("- memory/b\n", "")
    assert change(text, {"links": ["memory/n", first, "memory/b"]}) == text.replace(
        "links:\n", "links:\n- memory/n\n"
    )


_ITEM = st.one_of(st.sampled_from(["a", "b", "c d", "#e", "- f", ""]), st.integers(0, 3))


@given(
    st.lists(_ITEM, min_size=1, max_size=5),
    st.lists(_ITEM, min_size=1, max_size=5),
    st.sampled_from(["", "  ", "    "]),
    st.booleans(),
)
def test_any_list_becomes_any_other(
    old: list[Json], new: list[Json], indent: str, last: bool
) -> None:
    items = "".join(f"{indent}- {inline(item)} # {n}\n" for n, item in enumerate(old))
    text = f"---\nk:\n{items}{'' if last else 'z: 1  # mine'}\n---\nbody\n"
    changed = change(text, {"k": new})
    assert split_and_load(changed)[1].values["k"] == new
    for n, item in enumerate(old):
        if old.count(item) == new.count(item) == 1 and not set(map(str, old)) - {str(item)}:
            assert f"# {n}\n" in changed
    assert last or "z: 1  # mine\n" in changed


def test_the_only_key_may_be_exchanged_for_another() -> None:
    assert change("---\na: 1\n---\nb\n", {"a": None, "c": 2}) == "---\nc: 2\n---\nb\n"


def test_a_header_that_is_emptied_makes_no_header_of_what_follows() -> None:
    text = "---\na: 1\n---\n---\nb: 2\n---\nbody\n"
    changed = change(text, {"a": None})
    assert changed == "---\n---\n---\nb: 2\n---\nbody\n"
    assert split_and_load(changed)[0].body == "---\nb: 2\n---\nbody\n"
    left = change("---\n# note\na: 1\n---\nbody\n", {"a": None})
    assert left == "---\n# note\n---\nbody\n"


@pytest.mark.parametrize("text", ["---\n---\nbody\n", "---\n \n\n--- \nbody\n"])
def test_two_rules_with_nothing_between_are_an_empty_header(text: str) -> None:
    parts, loaded = split_and_load(text)
    assert (parts.body, loaded.values, loaded.state) == ("body\n", {}, "good")
    assert split_and_load("---\n...\nbody\n")[0].header is None
