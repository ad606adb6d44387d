"""A conversation with functions as one text, and the answer to it, for what only reads and prints.

Pure. Tags mark the turns; in note text such tags are opened up before a model reads it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from memory_mcp.core.chat import Function, FunctionCall, Message
from memory_mcp.core.errors import AnswerError
from memory_mcp.curate.reason.reading import read_json
from memory_mcp.settings.prompts import fill, shipped


def prompt_of(messages: Sequence[Message], functions: Sequence[Function] = ()) -> str:
    """The text that a program reads; a single question without functions stands as it is."""
    system = [message.text for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    parts = [text.strip() for text in system if text.strip()]
    if functions:
        offered = "\n".join(_offered(one) for one in functions)
        parts.append(fill(shipped("functions").strip(), functions=offered))
    if len(turns) == 1 and not turns[0].calls:
        parts.append(turns[0].text.strip())
    else:
        parts.extend(_turn(message) for message in turns)
        parts.append("Your next answer:")
    return "\n\n".join(parts) + "\n"


def answer_of(
    text: str, functions: Sequence[Function], first: int
) -> tuple[str, tuple[FunctionCall, ...]]:
    """(text, calls) of an answer; `first` numbers the calls. Prose is the final answer.

    Raises AnswerError where calls were meant and cannot be read.
    """
    if not functions:
        return text.strip(), ()
    try:
        value = read_json(text)
    except AnswerError as error:
        if '"calls"' in text:
            raise AnswerError(f"the calls of the answer cannot be read: {error}") from error
        return text.strip(), ()
    if not isinstance(value, dict) or not value.keys() & {"calls", "text"}:
        return text.strip(), ()
    said = value.get("text")
    calls = value.get("calls") or []
    if not isinstance(calls, list):
        raise AnswerError("`calls` in the answer is no list")
    return (
        said if isinstance(said, str) else "",
        tuple(_call(item, first + number) for number, item in enumerate(calls)),
    )


def _call(item: object, number: int) -> FunctionCall:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise AnswerError("a call in the answer has no `name`")
    arguments = item.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return FunctionCall(f"call_{number}", item["name"], arguments)


def _offered(function: Function) -> str:
    return json.dumps(
        {
            "name": function.name,
            "description": function.description,
            "parameters": function.parameters,
        },
        ensure_ascii=False,
    )


def _turn(message: Message) -> str:
    if message.role == "tool":
        return f'<tool_result call="{message.call_id}">\n{message.text}\n</tool_result>'
    if message.role == "user":
        return f"<user_message>\n{message.text}\n</user_message>"
    lines = [message.text] if message.text else []
    if message.calls:
        calls = [
            {"id": call.call_id, "name": call.name, "arguments": call.arguments}
            for call in message.calls
        ]
        lines.append(json.dumps({"calls": calls}, ensure_ascii=False))
    return "\n".join(["<assistant>", *lines, "</assistant>"])
