"""A reasoner with prepared replies, for what stands above the port; and a box of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from memory_mcp.core.chat import Function, FunctionCall, Message, Reply
from memory_mcp.core.errors import InputError, ReasonerError

Prepared = str | Reply | ReasonerError


class Replies:
    """Answers in order; the last one again and again. Keeps what it was asked."""

    def __init__(self, *prepared: Prepared, name: str = "prepared") -> None:
        self.name = name
        self.asked: list[list[Message]] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self._prepared = list(prepared)

    async def reply(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The next one."""
        self.asked.append(list(messages))
        self.schemas.append(schema)
        await anyio.lowlevel.checkpoint()
        item = self._prepared.pop(0) if len(self._prepared) > 1 else self._prepared[0]
        if isinstance(item, ReasonerError):
            raise item
        return said(item, model=self.name) if isinstance(item, str) else item


def said(
    text: str = "", *calls: tuple[str, str], model: str = "m", tokens: int = 10, cut: bool = False
) -> Reply:
    """A reply with calls as (name, arguments)."""
    made = tuple(FunctionCall(f"call_{n}", name, given) for n, (name, given) in enumerate(calls))
    return Reply(text, made, model, tokens, cut)


class Box:
    """`memory_get` answers, `memory_edit` refuses."""

    functions = (
        Function("memory_get", "Reads.", {"type": "object", "properties": {}}),
        Function("memory_edit", "Edits.", {"type": "object", "properties": {}}),
    )

    def __init__(self) -> None:
        self.called: list[tuple[str, Mapping[str, Any]]] = []

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """A text, or a refusal."""
        self.called.append((name, arguments))
        if name == "memory_edit":
            raise InputError("the page has no heading 'Plan'")
        return f"read {arguments.get('ref')}"
