"""Answers of tools: readable text and structured content, each below the size a client takes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import mcp_types as t
from pydantic import BaseModel

ANSWER_LIMIT = 80_000
"""Characters of each of the two forms; clients refuse answers that are much longer."""

_ERROR_LIMIT = 8_000

Out = TypeVar("Out", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer in its two forms."""

    out: BaseModel
    text: str

    def fits(self, limit: int = ANSWER_LIMIT) -> bool:
        """Whether both forms are short enough."""
        return len(self.text) <= limit and len(as_json(self.out)) <= limit

    def result(self) -> t.CallToolResult:
        """The answer as the protocol has it."""
        return t.CallToolResult(
            content=[t.TextContent(type="text", text=self.text)],
            structured_content=self.out.model_dump(mode="json"),
        )


def first_fitting(versions: Iterable[Answer]) -> Answer:
    """The first version that fits; the last one where none does."""
    answer = None
    for answer in versions:
        if answer.fits():
            break
    if answer is None:
        raise ValueError("an answer needs at least one version")
    return answer


def refusal(message: str) -> t.CallToolResult:
    """An error that the model can act on."""
    text = message if len(message) <= _ERROR_LIMIT else message[: _ERROR_LIMIT - 1] + "…"
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)], is_error=True)


def as_json(out: BaseModel | dict[str, Any] | str) -> str:
    """A structured form, or a part of it, as text, with its letters as they are."""
    data = out.model_dump(mode="json") if isinstance(out, BaseModel) else out
    return json.dumps(data, ensure_ascii=False)
