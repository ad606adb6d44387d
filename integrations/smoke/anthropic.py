"""The Messages API of Anthropic, as far as an agent needs it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from integrations.smoke.turn import MARK, Answer, Say, Turn

FINDER = "ToolSearch"
DEFERRED = re.compile(r"^mcp__\w+$", re.MULTILINE)
"""Claude Code names tools that must be looked up in a message, one on each line."""

Json = dict[str, Any]


def read(request: Json) -> Turn:
    """The turn that a request describes."""
    offered = {tool["name"] for tool in request.get("tools", ())}
    found = {name for block in _blocks(request) for name in _found(block)}
    listed = {name for block in _blocks(request) for name in DEFERRED.findall(_text(block))}
    results = [_text(block) for block in _blocks(request) if _of_script(block)]
    finder = FINDER if FINDER in offered else None
    return Turn(offered | found, listed - offered - found, results, finder)


def write(request: Json, answer: Answer) -> tuple[bytes, str]:
    """The answer as bytes, and their media type."""
    block: Json
    if isinstance(answer, Say):
        block, reason = {"type": "text", "text": answer.text}, "end_turn"
    else:
        block = {
            "type": "tool_use",
            "id": answer.number,
            "name": answer.tool,
            "input": dict(answer.arguments),
        }
        reason = "tool_use"
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "script"),
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    if not request.get("stream"):
        return json.dumps(message).encode(), "application/json"
    return b"".join(_event(event) for event in _events(message)), "text/event-stream"


def _events(message: Json) -> Iterator[Json]:
    (block,) = message["content"]
    delta: Json
    if block["type"] == "text":
        empty = {**block, "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _event(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _blocks(request: Json) -> Iterator[Json]:
    for message in request.get("messages", ()):
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _of_script(block: Json) -> bool:
    return block["type"] == "tool_result" and str(block["tool_use_id"]).startswith(MARK)


def _found(block: Json) -> Iterator[str]:
    """Names of tools that a search for tools has made callable."""
    if block["type"] != "tool_result" or isinstance(block.get("content"), str):
        return
    for part in block.get("content") or ():
        if part.get("type") == "tool_reference":
            yield part["tool_name"]


def _text(block: Json) -> str:
    content = block.get("content", block.get("text", ""))
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())
