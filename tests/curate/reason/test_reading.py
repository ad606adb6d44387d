"""JSON between talk and fences: found whole, or refused by name."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_mcp.core.errors import AnswerError
from memory_mcp.curate.reason.reading import LONGEST, object_of, read_json

TALK = st.text(alphabet=st.characters(exclude_characters='{}[]"', exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, min_size=1, max_size=4)


@given(OBJECTS, TALK, TALK, st.booleans(), st.booleans())
def test_an_object_is_found_between_talk(
    value: dict[str, object], before: str, after: str, fenced: bool, plain: bool
) -> None:
    text = json.dumps(value, ensure_ascii=plain, indent=2)
    fence = f"```json\n{text}\n```" if fenced else text
    assert read_json(f"{before}\n{fence}\n{after}") == value


@given(OBJECTS, st.integers(min_value=1))
def test_an_object_that_is_cut_is_never_completed(value: dict[str, object], cut: int) -> None:
    text = json.dumps(value)
    short = text[: max(1, len(text) - cut % len(text))]
    if short != text:
        with pytest.raises(AnswerError):
            read_json(short)


@given(st.text(alphabet='{}[]",:01eE.-tfn \n\\u`Na\ud800xI', max_size=200) | st.text())
@example("[" * 100_000)
@example('{"a":' * 5_000)
@example("1" * 5_000)
@example('[{"a": ' + "1" * 5_000 + "}]")
@example('{"a": 1e999}')
@example('"\\ud800"')
@example("\ud800{")
def test_any_text_is_read_or_refused_by_name(text: str) -> None:
    try:
        value = read_json(text)
    except AnswerError as error:
        assert str(error)
    else:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "the answer is empty"),
        ("\ufeff \n", "the answer is empty"),
        ("Sorry, I cannot.", "is not JSON"),
        ("{'a': 1}", "is not JSON"),
        ('{"facts": [{"a": 1}, {"b"', "is not JSON"),
        ('```json\n[{"a": 1}, {"b"', "is not JSON"),
        ('{"a": 1} or {"a": 2}', "2 JSON values"),
        ('So: {"facts": [{"slug": "a", "slug": "b"}]}', "an object with 'slug' twice"),
        ('{"a": NaN}', "not finite"),
        ('So: {"a": [-Infinity]}', "not finite"),
        ('{"a": 1e999}', "not finite"),
        ('{"a": "\\ud83d"}', "half a character"),
        ('{"\\udc00": 1}', "half a character"),
        ("[" * 40 + "]" * 40, "nested too deep"),
        ("[" * 90_000 + "]" * 90_000, "nested too deep"),
        ('{"a":' * 90_000, "too long"),
        ("x" * (LONGEST + 1), "too long"),
    ],
)
def test_each_fault_has_its_name(text: str, fault: str) -> None:
    with pytest.raises(AnswerError, match=fault):
        read_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('As [1] and {name} say: {"a": 1} [2].', {"a": 1}),
        ('{"a": 1}\nOnce more:\n{"a": 1}', {"a": 1}),
        ('Here: [{"a": 1}]', [{"a": 1}]),
        ("Nothing found: []", []),
        ('{"text": "a ``` fence and a { brace"}', {"text": "a ``` fence and a { brace"}),
    ],
)
def test_what_is_meant_is_read(text: str, value: object) -> None:
    assert read_json(text) == value


def test_arguments_are_an_object_or_nothing() -> None:
    assert object_of(" ") == {}
    assert object_of('{"ref": "wiki/tea"}') == {"ref": "wiki/tea"}
    for text, kind in (("[1]", "a list"), ('"x"', "a text"), ("null", "null"), ("3", "a number")):
        with pytest.raises(AnswerError, match=f"no JSON object but {kind}"):
            object_of(text)
