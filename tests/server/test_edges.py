"""Arguments of every tool in every form that clients send them in."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.arguments import nearest, prepare
from memory_mcp.core.errors import InputError
from memory_mcp.server.tools import OFFERS

SCHEMAS = {offer.name: offer.tool().parameters for offer in OFFERS}
ARGUMENTS = [(tool, name) for tool, schema in SCHEMAS.items() for name in schema["properties"]]
OPTIONAL = [
    (tool, name) for tool, name in ARGUMENTS if name not in SCHEMAS[tool].get("required", ())
]
NOTHING = (None, "", "null")
TEXTS = st.text(max_size=30) | st.sampled_from(
    ["5", "true", "[1]", '{"a": 1}', "-1e3", "NaN", "Null", " null", "\\n", "\t", "a, b", "\ufeff"]
)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz-_0123456789", min_size=1, max_size=12).filter(
    lambda name: name != "null"  # which means that nothing was given
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def needed(tool: str) -> dict[str, Any]:
    """The arguments that a tool cannot do without."""
    return dict.fromkeys(SCHEMAS[tool].get("required", ()), "x")


def prepared(tool: str, **more: Any) -> dict[str, Any]:
    return prepare(tool, SCHEMAS[tool], {**needed(tool), **more})


def kinds(tool: str, name: str) -> dict[str, Any]:
    """JSON type → what the schema says of it."""
    schema = SCHEMAS[tool]["properties"][name]
    return {part.get("type", "string"): part for part in schema.get("anyOf", [schema])}


def camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)


def values(tool: str, name: str) -> st.SearchStrategy[Any]:
    """Right values of an argument, in their own type."""
    allowed = kinds(tool, name)
    if name == "history":
        return st.lists(st.dictionaries(NAMES, NAMES, min_size=1), min_size=1, max_size=4)
    if "array" in allowed:
        return st.lists(NAMES, min_size=1, max_size=4, unique=True)
    if "object" in allowed:
        keys = st.text(max_size=8).filter(
            lambda key: key not in ("tags", "aliases", "links", "pinned")
        )
        return st.dictionaries(keys, JSON, max_size=4)
    for kind, numbers in (("integer", st.integers), ("number", st.floats)):
        if kind in allowed:
            part = allowed[kind]
            return numbers(part.get("minimum"), part.get("maximum"))
    if "boolean" in allowed:
        return st.booleans()
    if "enum" in allowed.get("string", {}):
        return st.sampled_from(allowed["string"]["enum"])
    return TEXTS.filter(lambda text: text not in NOTHING)


def forms(value: Any) -> list[Any]:
    """The value, and the same as clients write it by mistake."""
    found = [value]
    if isinstance(value, (dict, list)):
        found += [json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)]
    if isinstance(value, list) and isinstance(value[0], str):
        found += [
            ", ".join(value),
            ",".join(value),
            f"[{', '.join(value)}]",
            [*value, value[0], None],
        ]
    if isinstance(value, list) and len(value) == 1:
        found.append(value[0])
    if isinstance(value, bool):
        return [value, str(value), str(value).lower(), str(value).upper()]
    if isinstance(value, int):
        found += [str(value), f" {value} ", f"{value}.0", float(value)]
    if isinstance(value, float):
        found += [repr(value), f" {value!r}\n"]
    return found


@pytest.mark.parametrize(("tool", "name"), OPTIONAL)
@pytest.mark.parametrize("nothing", NOTHING)
def test_an_optional_argument_without_a_value_is_as_if_it_were_not_there(
    tool: str, name: str, nothing: str | None
) -> None:
    assert prepared(tool, **{name: nothing}) == prepared(tool)
    assert prepared(tool, **{camel(name): nothing}) == prepared(tool)


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
@given(data=st.data())
def test_an_argument_means_the_same_in_every_form(
    tool: str, name: str, data: st.DataObject
) -> None:
    value = data.draw(values(tool, name))
    spelled = data.draw(st.sampled_from([name, camel(name), name.replace("_", "-"), name.upper()]))
    sent = data.draw(st.sampled_from(forms(value)))
    others = {key: "x" for key in needed(tool) if key != name}
    read = prepare(tool, SCHEMAS[tool], {**others, spelled: sent})[name]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (tool, name)
        for tool, name in ARGUMENTS
        if set(kinds(tool, name)) <= {"string", "null"}
        and "enum" not in kinds(tool, name)["string"]
    ],
)
@given(text=TEXTS)
def test_a_text_stays_the_text_that_was_sent(tool: str, name: str, text: str) -> None:
    required = name in needed(tool)
    if text not in NOTHING or required:
        assert prepared(tool, **{name: text})[name] == text


@pytest.mark.parametrize(("tool", "name"), OPTIONAL)
def test_nothing_under_another_spelling_does_not_hide_the_value(tool: str, name: str) -> None:
    if camel(name) == name:
        return
    for nothing in NOTHING:
        sent = {"relation": "x", "frontmatter": {}, "scope": "global"}.get(name, "1")
        assert prepared(tool, **{name: sent, camel(name): nothing}) == prepared(
            tool, **{name: sent}
        )
        assert prepared(tool, **{camel(name): nothing, name: sent}) == prepared(
            tool, **{name: sent}
        )


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_a_slip_of_the_pen_names_the_argument_that_was_meant(tool: str, name: str) -> None:
    known = SCHEMAS[tool]["properties"]
    for wrong in (name + "s", name[:-1], name[0] + name, name.replace("_", "")):
        if wrong not in known and len(name) > 3:
            assert nearest(wrong, known) == name, wrong


@given(sent=st.dictionaries(st.text(max_size=12), JSON, max_size=3), data=st.data())
def test_any_arguments_are_read_or_refused_in_one_short_line(
    sent: dict[str, Any], data: st.DataObject
) -> None:
    tool = data.draw(st.sampled_from(sorted(SCHEMAS)))
    name = data.draw(st.sampled_from(sorted(SCHEMAS[tool]["properties"])))
    sent = {**sent, name: data.draw(JSON)}
    try:
        read = prepare(tool, SCHEMAS[tool], {**needed(tool), **sent})
    except InputError as error:
        text = str(error)
        assert text and "\n" not in text and len(text) < 1000
    else:
        assert set(read) <= set(SCHEMAS[tool]["properties"])
