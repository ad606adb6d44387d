"""The Responses API of OpenAI, as far as an agent needs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from integrations.smoke.turn import MARK, Answer, Say, Turn

Json = dict[str, Any]
JOIN = "__"


def read(request: Json) -> Turn:
    """The turn that a request describes."""
    offered = {name for tool in request.get("tools", ()) for name in _names(tool)}
    results = [
        _text(item["output"])
        for item in request.get("input", ())
        if item["type"] == "function_call_output" and item["call_id"].startswith(MARK)
    ]
    return Turn(offered, set(), results, None)


def write(request: Json, answer: Answer) -> tuple[bytes, str]:
    """The answer as bytes, and their media type."""
    item: Json
    if isinstance(answer, Say):
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        item = {"type": "message", "id": "m1", "role": "assistant", "content": [part]}
    else:
        item = {
            "type": "function_call",
            "id": "f1",
            "call_id": answer.number,
            "arguments": json.dumps(dict(answer.arguments)),
            **_address(request, answer.tool),
        }
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    response = {"id": "r1", "object": "response", "status": "completed", "usage": usage}
    events = (
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**response, "output": [item]}},
    )
    return b"".join(_event(event) for event in events), "text/event-stream"


def _event(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _names(tool: Json) -> Iterator[str]:
    """Names of callable tools; those in a namespace with its name before them."""
    if tool["type"] == "function":
        yield tool["name"]
    elif tool["type"] == "namespace":
        yield from (_joined(tool["name"], inner["name"]) for inner in tool["tools"])


def _joined(space: str, name: str) -> str:
    return space.removesuffix(JOIN) + JOIN + name.removeprefix(JOIN)


def _address(request: Json, full: str) -> Json:
    """How a call names its tool: by its name, in a namespace by both."""
    for tool in request.get("tools", ()):
        for inner in tool.get("tools", ()) if tool["type"] == "namespace" else ():
            if _joined(tool["name"], inner["name"]) == full:
                return {"namespace": tool["name"], "name": inner["name"]}
    return {"name": full}


def _text(output: Any) -> str:
    if isinstance(output, str):
        return output
    return "\n".join(part.get("text", "") for part in output)
