from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.core.frontmatter import load, split, split_and_load


def values(header: str) -> dict[str, Any]:
    return load(header).values


def bomb(levels: int) -> str:
    names = "abcdefghijklmnop"[:levels]
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for before, name in pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join(['*' + before] * 10)}]")
    return "\n".join(lines) + "\n"


# Where the header stands


@pytest.mark.parametrize(
    "text",
    [
        "no header at all\n",
        "---\nnever: closed\n",
        "---\n- a list\n---\nbody\n",
        "---\nA bare sentence\n---\nbody\n",
        "---\n42\n---\nbody\n",
        "---\n# only a comment\n---\nbody\n",
        "\n---\ntitle: too late\n---\n",
        " ---\ntitle: indented\n---\n",
        '---\n\nSaid in passing: "unclosed\n- and so on: no: header\n---\nbody\n'.replace(
            "Said in passing:", "He said, and left"
        ),
    ],
)
def test_text_without_a_header_is_all_body(text: str) -> None:
    parts, loaded = split_and_load(text)
    assert parts.header is None
    assert parts.body == text
    assert loaded.state == "none"


@pytest.mark.parametrize(
    ("text", "header", "body"),
    [
        ("---\na: 1\n---\nbody", "a: 1\n", "body"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---  \na: 1\n...\t\nbody", "a: 1\n", "body"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\r\n", "body\r\n"),
        ("\ufeff---\na: 1\n---\nbody", "a: 1\n", "body"),
        ("---\na: 1\n---\n\n---\nb: 2\n---\n", "a: 1\n", "\n---\nb: 2\n---\n"),
    ],
)
def test_only_the_first_block_is_the_header(text: str, header: str, body: str) -> None:
    parts = split(text)
    assert (parts.header, parts.body) == (header, body)
    assert parts.bom + parts.raw_header_with_fences + parts.body == text


# What it says


def test_dates_and_times_stay_text_as_written() -> None:
    assert values(
        "d: 2026-05-18\nt: 2026-05-18T09:30:00+02:00\nl: [2025-01-02]\nx: 2026-02-30\n"
    ) == {
        "d": "2026-05-18",
        "t": "2026-05-18T09:30:00+02:00",
        "l": ["2025-01-02"],
        "x": "2026-02-30",
    }


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("yes", "yes"),
        ("NO", "NO"),
        ("true", True),
        ("007", "007"),
        ("12:30", "12:30"),
        ("1.10", "1.10"),
        ("1.5", 1.5),
        ("-3", -3),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("9" * 5000, "9" * 5000),
        ("12345678901234567890", "12345678901234567890"),
        ("~", None),
        ("", None),
        ('"5"', "5"),
        ("#1 priority", None),
        ("{{title}}", "{{title}}"),
        ("[[Some note]]", "[[Some note]]"),
        ("[[1, 2]]", [[1, 2]]),
        ("!!binary aGVsbG8=", "aGVsbG8="),
        ("!!set {a, b}", ["a", "b"]),
        ("!custom text", "text"),
    ],
)
def test_values_are_read_as_a_person_means_them(written: str, read: object) -> None:
    assert values(f"key: {written}\n") == {"key": read}


def test_keys_are_text() -> None:
    assert list(values("1: a\ntrue: b\n2026-01-01: c\n? [x, y]\n: d\n")) == [
        "1",
        "true",
        "2026-01-01",
        "[x, y]",
    ]


def test_a_python_tag_is_never_constructed_and_named_in_a_warning() -> None:
    loaded = load("run: !!python/object/apply:os.getcwd []\nkept: 1\n")
    assert loaded.values == {"run": [], "kept": 1}
    assert any("python/object" in warning for warning in loaded.warnings)


def test_of_a_repeated_key_the_last_value_counts_with_a_warning() -> None:
    loaded = load("title: old\nother: 1\ntitle: new\n")
    assert loaded.values == {"other": 1, "title": "new"}
    assert any("title" in warning and "repeated" in warning for warning in loaded.warnings)


def test_an_alias_bomb_is_refused_with_its_reason() -> None:
    loaded = load(bomb(12))
    assert loaded.state == "broken"
    assert "aliases" in loaded.warnings[0]
    assert len(json.dumps(loaded.values)) < 1000


def test_modest_aliases_and_merges_are_followed() -> None:
    assert values("base: &b {x: 1}\nuse:\n  <<: *b\n  y: 2\nagain: *b\n") == {
        "base": {"x": 1},
        "use": {"x": 1, "y": 2},
        "again": {"x": 1},
    }


def test_an_alias_that_holds_itself_is_left_out() -> None:
    assert values("a: &x [1, *x]\n") == {"a": [1, None]}


@pytest.mark.parametrize("depth", [60, 900, 50_000])
def test_deep_nesting_stays_json_safe(depth: int) -> None:
    loaded = load("a: " + "[" * depth + "]" * depth + "\nb: 1\n")
    json.dumps(loaded.values)
    assert loaded.values["b"] == 1


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("title: Re: the roof\ntags: [house]\n", {"title": "Re: the roof", "tags": ["house"]}),
        ("owner: @anna\n", {"owner": "@anna"}),
        ("title: *Draft*\n", {"title": "*Draft*"}),
        ("tags:\n\t- garden\n\t- tools\n", {"tags": ["garden", "tools"]}),
        ("up:\n  - [[Home]] see also\n", {"up": ["[[Home]] see also"]}),
        ('a: "unclosed\nb: fine\n', {"b": "fine"}),
        ("a: x\x00y: z\n", {"a": "x y: z"}),
    ],
)
def test_of_a_header_that_is_no_yaml_the_clear_lines_stay_usable(
    header: str, expected: dict[str, object]
) -> None:
    loaded = load(header)
    assert loaded.state == "broken"
    assert loaded.values == expected
    assert "header" in loaded.warnings[0]
    assert "YAML" in loaded.warnings[0]


def test_a_tab_behind_a_colon_is_read_and_warned_about() -> None:
    loaded = load("title:\tPump\n")
    assert loaded.values == {"title": "Pump"}
    assert "tab" in loaded.warnings[0]


@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@`,?\n\t 01.~<=\\", max_size=60))
@settings(max_examples=300)
def test_any_header_gives_json_safe_values(header: str) -> None:
    loaded = load(header)
    json.dumps(loaded.values, allow_nan=False)
    assert loaded.state != "broken" or loaded.warnings
