"""What an answer cost, by its provider's word or by an estimate; and which model gave it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memory_mcp.core.chat import FunctionCall
from memory_mcp.core.errors import AnswerError
from memory_mcp.core.framing import one_line
from memory_mcp.core.tokens import tokens
from memory_mcp.curate.reason.reading import object_of

_NAME = 80


def counted(
    parts: Sequence[Any], sent: Iterable[str], text: str, calls: Iterable[FunctionCall]
) -> tuple[int, bool]:
    """(tokens, whether they are estimated): the sum of the parts that a provider names, where it
    names any."""
    told = sum(part for part in parts if type(part) is int and part > 0)
    if told:
        return told, False
    written = sum(tokens(call.name) + tokens(call.arguments) for call in calls)
    return sum(tokens(one) for one in sent) + tokens(text) + written, True


def model_name(told: Any, configured: str) -> str:
    """The model that answered, as the server names it, else the one that was asked for."""
    return one_line(told if isinstance(told, str) and told.strip() else configured, _NAME)


def written_arguments(call: FunctionCall) -> str:
    """The arguments as they go back to a provider: some refuse a conversation in which a model
    wrote no JSON object. What was wrong stands in the result of the call."""
    try:
        object_of(call.arguments)
    except AnswerError:
        return "{}"
    return call.arguments.strip() or "{}"
