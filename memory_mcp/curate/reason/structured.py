"""An answer in a form: asked for, read, checked, and asked for once more where it is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from memory_mcp.core.chat import Message, Reply, Spent
from memory_mcp.core.errors import AnswerError
from memory_mcp.core.framing import one_line
from memory_mcp.core.ports import Reasoner
from memory_mcp.curate.reason.reading import read_json
from memory_mcp.settings.prompts import fill, shipped

Shape = TypeVar("Shape", bound=BaseModel)

_FAULTS = 5  # of one answer that the model is told
_QUOTE = 60
_REPEATED = 20_000  # characters of a wrong answer that go back to the model


async def structured(
    reasoner: Reasoner, system: str, task: str, shape: type[Shape]
) -> tuple[Shape, Spent]:
    """An answer of a shape, and what it cost.

    The schema stands in the text, whatever else a provider does with it. A wrong answer goes back
    once, with what is wrong. Raises ReasonerError; AnswerError names the fault of the second one.
    """
    schema = shape.model_json_schema()
    form = fill(shipped("answer_form").strip(), schema=json.dumps(schema, ensure_ascii=False))
    messages = [Message("system", f"{system.strip()}\n\n{form}"), Message("user", task)]
    held = schema if schema.get("type") == "object" else None  # all that providers take
    first = await reasoner.reply(messages, (), held)
    spent = Spent().plus(first)
    try:
        return checked(first, shape), spent
    except AnswerError as error:
        again = fill(shipped("answer_again").strip(), fault=str(error))
    if first.text.strip():
        messages.append(Message("assistant", first.text[:_REPEATED]))
    messages.append(Message("user", again))
    second = await reasoner.reply(messages, (), held)
    spent = spent.plus(second)
    try:
        return checked(second, shape), spent
    except AnswerError as error:
        begin = one_line(second.text, _QUOTE)
        quote = f"; it begins {begin!r}" if begin else ""
        raise AnswerError(
            f"{second.model} gave no usable answer, asked twice: {error}{quote}"
        ) from error


def checked(reply: Reply, shape: type[Shape]) -> Shape:
    """The answer as a value. Raises AnswerError, which says what is wrong with it."""
    if reply.cut:
        raise AnswerError(
            "the answer was cut at the limit of length; answer shorter, or leave out the least"
        )
    value = read_json(reply.text)
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error
    for other in _meant(value, shape):
        try:
            return shape.model_validate(other)
        except ValidationError:
            continue
    raise AnswerError(f"the answer has not the form asked for: {_faults(first)}") from first


def _meant(value: Any, shape: type[BaseModel]) -> Iterator[Any]:
    """What else a model may have meant where a list and its only item, or an object and its only
    field, were mistaken for each other. Nothing is lost by any of these."""
    if isinstance(value, list):
        if len(value) == 1:
            yield value[0]
        if len(shape.model_fields) == 1 and not issubclass(shape, RootModel):
            (name,) = shape.model_fields
            yield {name: value}
    else:
        yield [value]


def _faults(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [
        f"{'.'.join(map(str, one['loc'])) or 'the whole'}: {one['msg']}" for one in found[:_FAULTS]
    ]
    more = len(found) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
