"""The Chat Completions API of OpenAI, as far as a loop of function calls needs it."""

from __future__ import annotations

import json
from typing import Any

from integrations.smoke.turn import MARK, Answer, Say, Turn

Json = dict[str, Any]


def read(request: Json) -> Turn:
    """The turn that a request describes."""
    offered = {tool["function"]["name"] for tool in request.get("tools", ())}
    results = [
        message["content"]
        for message in request["messages"]
        if message["role"] == "tool" and message["tool_call_id"].startswith(MARK)
    ]
    return Turn(offered, set(), results, None)


def write(request: Json, answer: Answer) -> tuple[bytes, str]:
    """The answer as bytes, and their media type."""
    message: Json = {"role": "assistant", "content": None}
    if isinstance(answer, Say):
        message["content"] = answer.text
    else:
        function = {"name": answer.tool, "arguments": json.dumps(dict(answer.arguments))}
        call = {"id": answer.number, "type": "function", "function": function}
        message["tool_calls"] = [call]
    reason = "stop" if isinstance(answer, Say) else "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode(), (
        "application/json"
    )
