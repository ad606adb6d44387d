"""Tools, calls and answers in the forms of the APIs."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from memory_mcp.core.errors import InputError, ToolError
from memory_mcp.tools.forms import (
    Form,
    Result,
    ToolSpec,
    answer_in,
    arguments_of,
    call_in,
    spec_in,
)

FORMS: tuple[Form, ...] = get_args(Form)
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
TOOL = ToolSpec("memory_search", "Search", "Finds notes.", SCHEMA, read_only=True)

REQUESTS: dict[Form, dict[str, Any]] = {
    "codex": {
        "threadId": "t",
        "turnId": "u",
        "callId": "c1",
        "namespace": None,
        "tool": "memory_search",
        "arguments": {"query": "tea"},
    },
    "openai-chat": {
        "id": "c1",
        "type": "function",
        "function": {"name": "memory_search", "arguments": '{"query": "tea"}'},
    },
    "openai-responses": {
        "type": "function_call",
        "id": "f1",
        "call_id": "c1",
        "name": "memory_search",
        "arguments": '{"query": "tea"}',
    },
    "anthropic": {
        "type": "tool_use",
        "id": "c1",
        "name": "memory_search",
        "input": {"query": "tea"},
    },
}

LETTERS = "aZ09 äß漢😀\u2028\x00\ud800\n\"\\'{}[]:,-"
words = st.text(LETTERS, max_size=8)
json_values = words | st.integers() | st.booleans() | st.none() | st.lists(words, max_size=3)


def test_each_form_tells_the_tool_as_its_api_wants_it() -> None:
    plain = {"name": "memory_search", "description": "Finds notes."}
    assert spec_in("codex", TOOL) == {
        "type": "function",
        **plain,
        "inputSchema": SCHEMA,
        "deferLoading": False,
    }
    function = {**plain, "parameters": SCHEMA, "strict": False}
    assert spec_in("openai-chat", TOOL) == {"type": "function", "function": function}
    assert spec_in("openai-responses", TOOL) == {"type": "function", **function}
    assert spec_in("anthropic", TOOL) == {**plain, "input_schema": SCHEMA}


@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_read_in_each_form(form: Form) -> None:
    call = call_in(form, REQUESTS[form])
    assert (call.number, call.tool) == ("c1", "memory_search")
    assert arguments_of(call.arguments) == {"query": "tea"}


def test_each_form_answers_a_call_and_a_refusal() -> None:
    good, bad = Result("green", {"hits": []}), Result("no such note", is_error=True)
    answers = {
        form: [answer_in(form, call_in(form, REQUESTS[form]), one) for one in (good, bad)]
        for form in FORMS
    }
    assert answers["codex"] == [
        {"contentItems": [{"type": "inputText", "text": "green"}], "success": True},
        {"contentItems": [{"type": "inputText", "text": "no such note"}], "success": False},
    ]
    assert answers["openai-chat"] == [
        {"role": "tool", "tool_call_id": "c1", "content": "green"},
        {"role": "tool", "tool_call_id": "c1", "content": "no such note"},
    ]
    assert answers["openai-responses"][1] == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "no such note",
    }
    assert answers["anthropic"][1] == {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": "no such note",
        "is_error": True,
    }


class Function(BaseModel):
    name: str
    arguments: str


class ToolCall(BaseModel):
    """As the SDK of OpenAI has it."""

    id: str
    type: str
    function: Function


def test_objects_of_an_sdk_are_read_as_their_mappings() -> None:
    request = ToolCall.model_validate(REQUESTS["openai-chat"])
    assert call_in("openai-chat", request) == call_in("openai-chat", REQUESTS["openai-chat"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("request_", [{}, {"id": "c1"}, [], None, "x"])
def test_what_is_no_call_is_named(form: Form, request_: object) -> None:
    with pytest.raises(InputError, match=f"no call of a tool in the form {form}"):
        call_in(form, request_)


def test_another_form_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="'gemini'; there are codex, openai-chat"):
        spec_in("gemini", TOOL)  # type: ignore[arg-type]


@given(st.dictionaries(words, json_values, max_size=4))
def test_arguments_are_the_same_as_an_object_and_as_json(arguments: dict[str, Any]) -> None:
    assert arguments_of(json.dumps(arguments)) == arguments_of(arguments) == arguments


@given(st.text(LETTERS))
def test_any_text_is_an_object_or_refused(text: str) -> None:
    try:
        assert isinstance(arguments_of(text), dict)
    except InputError as error:
        assert "Nothing was done" in str(error)


def test_what_json_cannot_tell_is_refused() -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    for given_one in ({"since": object()}, {"at": {1, 2}}, circle):
        with pytest.raises(InputError, match="Nothing was done"):
            arguments_of(given_one)


def test_a_program_may_have_a_refusal_raised() -> None:
    fine = Result("green", {})
    assert fine.raise_for_error() is fine
    with pytest.raises(ToolError, match="no such note"):
        Result("no such note", is_error=True).raise_for_error()
