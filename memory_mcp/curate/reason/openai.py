"""Chat completions, as OpenAI defined them and most servers of models speak them.

Neither temperature nor a limit of length is sent: the servers' own defaults are what models are
tuned for, and several models refuse other ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memory_mcp.core.chat import Function, FunctionCall, Message, Reply
from memory_mcp.core.errors import AnswerError, DeclinedError
from memory_mcp.core.web import said
from memory_mcp.curate.reason.cost import counted, model_name, written_arguments

_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
"""What some servers leave in front of the answer of a model that thinks aloud."""


class OpenAI:
    """The dialect of `/chat/completions`."""

    path = "/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        """The key as a bearer token."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        functions: Sequence[Function],
        schema: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """The request; the schema is no strict one, which allows no optional fields: the answer
        is checked here in any case."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [_message(message) for message in messages],
        }
        if functions:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": one.name,
                        "description": one.description,
                        "parameters": dict(one.parameters),
                    },
                }
                for one in functions
            ]
        if schema is not None:
            held = {"name": "answer", "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": held}
        return body

    def reply(self, answer: Any, model: str, sent: Sequence[str]) -> Reply:
        """The first choice of an answer. Raises AnswerError, DeclinedError."""
        choice = _choice(answer, sent)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise AnswerError(f"{model} answered without a message")
        text = _THINKING.sub("", _text(message.get("content")))
        calls = _calls(message.get("tool_calls"))
        reason = choice.get("finish_reason")
        if reason == "content_filter" or (message.get("refusal") and not text and not calls):
            raise DeclinedError(f"{model} refused to answer (by its provider's filter, or itself)")
        tokens, estimated = counted(_usage(answer.get("usage")), sent, text, calls)
        name = model_name(answer.get("model"), model)
        return Reply(text, calls, name, tokens, reason == "length", estimated)


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if not message.calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": written_arguments(call)},
        }
        for call in message.calls
    ]
    return {"role": message.role, "content": message.text or None, "tool_calls": calls}


def _choice(answer: Any, sent: Sequence[str]) -> dict[str, Any]:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    error = answer.get("error") if isinstance(answer, dict) else None
    told = error.get("message") if isinstance(error, dict) else error
    why = said(told, sent) if isinstance(told, str) else ""
    raise AnswerError(f"the server answered without a choice{why}")


def _text(content: Any) -> str:
    """The text of a message: one, or parts of which some are text."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _calls(found: Any) -> tuple[FunctionCall, ...]:
    calls = []
    for number, item in enumerate(found if isinstance(found, list) else [], 1):
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict):
            raise AnswerError("a function call in the answer names no function")
        arguments = function.get("arguments")
        if not isinstance(arguments, str):  # some servers send the object itself
            arguments = "" if arguments is None else json.dumps(arguments)
        call_id = item.get("id")
        known = isinstance(call_id, str) and call_id
        calls.append(
            FunctionCall(
                call_id if known else f"call_{number}", str(function.get("name")), arguments
            )
        )
    return tuple(calls)


def _usage(usage: Any) -> list[Any]:
    if not isinstance(usage, dict):
        return []
    total = usage.get("total_tokens")
    return [total] if total else [usage.get("prompt_tokens"), usage.get("completion_tokens")]
