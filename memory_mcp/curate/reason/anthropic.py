"""Anthropic's Messages API: system texts apart, calls and results as blocks of a message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_mcp.core.chat import Function, FunctionCall, Message, Reply
from memory_mcp.core.errors import AnswerError, DeclinedError
from memory_mcp.core.web import said
from memory_mcp.curate.reason.cost import counted, model_name, written_arguments
from memory_mcp.curate.reason.reading import object_of

VERSION = "2023-06-01"
MOST_TOKENS = 8192
"""Of one answer, which this API wants to be told; every model since 2024 can write as much."""

ANSWER = "answer"
"""The function that stands for the form of an answer: a model that has to call it holds to its
schema, and all models have functions."""

_CUT = ("max_tokens", "model_context_window_exceeded")


class Anthropic:
    """The dialect of `/v1/messages`."""

    path = "/v1/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        """The version of the API, and the key."""
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        functions: Sequence[Function],
        schema: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """The request. With functions on offer the schema is left to the text."""
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": MOST_TOKENS,
            "messages": _turns(messages),
        }
        system = [message.text for message in messages if message.role == "system"]
        if any(system):
            body["system"] = "\n\n".join(system)
        offered = list(functions)
        if schema is not None and not offered:
            offered = [Function(ANSWER, "Gives the answer, in its form.", schema)]
            body["tool_choice"] = {"type": "tool", "name": ANSWER}
        if offered:
            body["tools"] = [
                {
                    "name": one.name,
                    "description": one.description,
                    "input_schema": dict(one.parameters),
                }
                for one in offered
            ]
        return body

    def reply(self, answer: Any, model: str, sent: Sequence[str]) -> Reply:
        """The blocks of an answer. Raises AnswerError, DeclinedError."""
        content = answer.get("content") if isinstance(answer, dict) else None
        if not isinstance(content, list):
            raise AnswerError(f"{model} answered without content{_told(answer, sent)}")
        blocks = [block for block in content if isinstance(block, dict)]
        text = "".join(_texts(blocks))
        calls = tuple(
            FunctionCall(
                str(block.get("id") or f"call_{number}"),
                str(block.get("name")),
                json.dumps(block.get("input") or {}, ensure_ascii=False),
            )
            for number, block in enumerate(blocks, 1)
            if block.get("type") == "tool_use"
        )
        reason = answer.get("stop_reason")
        if reason == "refusal":
            raise DeclinedError(f"{model} refused to answer")
        tokens, estimated = counted(_usage(answer.get("usage")), sent, text, calls)
        if len(calls) == 1 and calls[0].name == ANSWER:
            text, calls = calls[0].arguments, ()
        name = model_name(answer.get("model"), model)
        return Reply(text, calls, name, tokens, reason in _CUT, estimated)


def _turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The turns of both sides, in alternation: results of calls are the user's."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if message.role == "system" or not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(blocks)
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [result]
    blocks: list[dict[str, Any]] = []
    if message.text.strip():  # the API refuses blank text
        blocks.append({"type": "text", "text": message.text})
    blocks.extend(
        {
            "type": "tool_use",
            "id": call.call_id,
            "name": call.name,
            "input": object_of(written_arguments(call)),
        }
        for call in message.calls
    )
    return blocks


def _texts(blocks: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            yield text


def _told(answer: Any, sent: Sequence[str]) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    told = error.get("message") if isinstance(error, dict) else None
    return said(told, sent) if isinstance(told, str) else ""


def _usage(usage: Any) -> list[Any]:
    """All that is paid for, also what was written to and read from the provider's cache."""
    if not isinstance(usage, dict):
        return []
    names = (
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    )
    return [usage.get(name) for name in names]
