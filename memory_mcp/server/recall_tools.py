"""The tool that shows what would come into a turn unasked, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import mcp_types as t
from pydantic import BaseModel, Field, model_validator

from memory_mcp.core.errors import InputError
from memory_mcp.recall.block import NOTHING
from memory_mcp.recall.recall import Recall
from memory_mcp.recall.turn import Recalled, Turn
from memory_mcp.server.answers import Answer
from memory_mcp.server.calls import Offer, ToolContext
from memory_mcp.server.convert import hit_out
from memory_mcp.server.first_look import first_look
from memory_mcp.server.session import connection_of
from memory_mcp.server.wire import BuiltOut, RecallOut

_WORDS = 200  # of a message that are told
_CHARS = 2_000  # of a text that are told


class Said(BaseModel):
    """Something that was said before."""

    role: Literal["user", "assistant"] = "user"
    text: str

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        """A text alone was said by the user; chat interfaces call the text `content`."""
        if isinstance(value, str):
            return {"text": value}
        if isinstance(value, dict) and "text" not in value and "content" in value:
            return {"role": value.get("role", "user"), "text": value["content"]}
        return value


async def memory_recall(
    ctx: ToolContext,
    message: Annotated[str, Field(description="the message that is to be answered")],
    history: Annotated[
        list[Said] | None, Field(description="what was said before it, oldest first")
    ] = None,
    max_tokens: Annotated[
        int | None, Field(ge=1, le=10**6, description="a smaller budget than the settings allow")
    ] = None,
) -> Annotated[t.CallToolResult, RecallOut]:
    """Show the block of notes that fits a message, as it is put into a conversation unasked.

    Where nothing is worth it the block is empty. To look for something, memory_search is better:
    it always answers.
    """
    if not message.strip():
        raise InputError("message is empty: give the message that is to be answered.")
    await first_look(ctx)
    recall = connection_of(ctx.request_context).app.recall
    return (await recall_answer(recall, message, history or (), max_tokens)).result()


async def recall_answer(
    recall: Recall, message: str, history: Sequence[Said], max_tokens: int | None
) -> Answer:
    """What a turn would get; nothing counts as shown."""
    turns = [Turn(said.role, said.text) for said in history]
    recalled = await recall.turn(message, turns, max_tokens=max_tokens)
    return Answer(recall_out(recalled), recalled.block or NOTHING)


def recall_out(recalled: Recalled) -> RecallOut:
    """What a turn gets, as the tool tells it."""
    built = recalled.query
    return RecallOut(
        block=recalled.block,
        hits=[hit_out(hit) for hit in recalled.hits],
        triggered=list(recalled.triggered),
        query=BuiltOut(
            text=built.text[:_CHARS],
            words=list(built.words[:_WORDS]),
            history=[text[:_CHARS] for text in built.history],
            history_weight=built.history_weight,
            word_share=built.word_share,
            silent=built.silent,
        ),
        left_out=recalled.left_out,
        degraded=built.degraded,
    )


OFFERS = (Offer(memory_recall, "Recall for a message"),)
