"""Tools, calls and answers in the forms of the APIs that models are called by.

Pure: dictionaries as they go over the wire, made from what `tools/list` and `tools/call` say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory_mcp.core.errors import InputError, ToolError

Form = Literal["codex", "openai-chat", "openai-responses", "anthropic"]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    title: str
    description: str
    parameters: Json
    """JSON Schema of its arguments, an object."""
    read_only: bool
    """It changes nothing."""

    @classmethod
    def of(cls, tool: Mapping[str, Any]) -> ToolSpec:
        """The tool of an entry in the result of `tools/list`."""
        return cls(
            name=tool["name"],
            title=tool.get("title") or tool["name"],
            description=tool.get("description") or "",
            parameters=tool["inputSchema"],
            read_only=bool((tool.get("annotations") or {}).get("readOnlyHint")),
        )


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered. A refusal is an answer, too: the model reads it and goes on."""

    text: str
    """Readable Markdown, texts of notes in frames: this is for the model."""
    structured: Json | None = None
    """The same as values, for a program; None for a refusal."""
    is_error: bool = False

    def raise_for_error(self) -> Result:
        """This result. Raises ToolError with the text of a refusal: for callers that are no
        model."""
        if self.is_error:
            raise ToolError(self.text)
        return self


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a model asks for."""

    number: str
    """What the API calls it; empty where it has another way to tell."""
    tool: str
    arguments: Mapping[str, Any] | str | None


def spec_in(form: Form, tool: ToolSpec) -> Json:
    """A tool as an entry of the list that the API takes. Raises InputError for another form."""
    return _dialect(form).spec(tool)


def call_in(form: Form, request: Any) -> Call:
    """The call in a request of the API: a mapping, or the object of its SDK.

    Raises InputError where it is none."""
    dump = getattr(request, "model_dump", None)
    given = dump() if callable(dump) else request
    dialect = _dialect(form)
    try:
        return dialect.call(given)
    except (AttributeError, KeyError, TypeError) as error:  # no mapping, or not these keys
        raise InputError(
            f"This is no call of a tool in the form {form}: {given!r:.300}"
        ) from error


def answer_in(form: Form, call: Call, result: Result) -> Json:
    """What the API is sent for an answered call."""
    return _dialect(form).answer(call, result)


def arguments_of(given: Mapping[str, Any] | str | None) -> Json:
    """Arguments as an object; many APIs send JSON. Raises InputError where it is none."""
    if given is None or given == "":
        return {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise InputError(f"The arguments are no JSON ({error}). Nothing was done.") from None
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise InputError(f"The arguments must be a JSON object, not {kind}. Nothing was done.")
    try:
        json.dumps(dict(given))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"The arguments cannot be told as JSON ({error}). Nothing was done."
        ) from None
    return dict(given)


@dataclass(frozen=True, slots=True)
class _Dialect:
    spec: Callable[[ToolSpec], Json]
    call: Callable[[Json], Call]
    answer: Callable[[Call, Result], Json]


def _dialect(form: Form) -> _Dialect:
    found = _DIALECTS.get(form)
    if found is None:
        raise InputError(f"There is no form {form!r}; there are {', '.join(_DIALECTS)}.")
    return found


def _schema(tool: ToolSpec, key: str) -> Json:
    return {"name": tool.name, "description": tool.description, key: tool.parameters}


# Not strict: that mode wants every argument required and every key of an object known, and would
# take `limit` for missing and `frontmatter` for impossible. The Responses API assumes it unless
# told otherwise.
_CODEX = _Dialect(
    lambda tool: {"type": "function", **_schema(tool, "inputSchema"), "deferLoading": False},
    lambda given: Call(given.get("callId", ""), given["tool"], given.get("arguments")),
    lambda call, result: {
        "contentItems": [{"type": "inputText", "text": result.text}],
        "success": not result.is_error,
    },
)
_CHAT = _Dialect(
    lambda tool: {
        "type": "function",
        "function": {**_schema(tool, "parameters"), "strict": False},
    },
    lambda given: Call(given["id"], given["function"]["name"], given["function"].get("arguments")),
    lambda call, result: {"role": "tool", "tool_call_id": call.number, "content": result.text},
)
_RESPONSES = _Dialect(
    lambda tool: {"type": "function", **_schema(tool, "parameters"), "strict": False},
    lambda given: Call(given["call_id"], given["name"], given.get("arguments")),
    lambda call, result: {
        "type": "function_call_output",
        "call_id": call.number,
        "output": result.text,
    },
)
_ANTHROPIC = _Dialect(
    lambda tool: _schema(tool, "input_schema"),
    lambda given: Call(given["id"], given["name"], given.get("input")),
    lambda call, result: {
        "type": "tool_result",
        "tool_use_id": call.number,
        "content": result.text,
        "is_error": result.is_error,
    },
)
_DIALECTS: Mapping[str, _Dialect] = {
    "codex": _CODEX,
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "anthropic": _ANTHROPIC,
}
