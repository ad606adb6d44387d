"""Where a text belongs, asked of a chat model in one answer of a form."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from memory_mcp.core.chat import Spent
from memory_mcp.core.framing import in_frame, opening
from memory_mcp.core.ports import Reasoner
from memory_mcp.curate.reason.structured import structured
from memory_mcp.curate.save.category import Category
from memory_mcp.curate.save.filing import Text


class Named(BaseModel):
    """A thing that a text is about."""

    name: Annotated[str, Field(min_length=2, max_length=80)]
    line: Annotated[str, Field(max_length=1000, description="what the text says of it")] = ""


class Answer(BaseModel):
    """Where a text belongs."""

    category: Category
    entities: Annotated[list[Named], Field(description="at most three")] = []


async def sort(reasoner: Reasoner, told: str, text: Text) -> tuple[Answer, Spent]:
    """The category of a text and the things it is about. Raises ReasonerError."""
    kind = "web" if text.source_url else "agent"
    task = in_frame(opening("to be saved", provenance=kind), text.content)
    return await structured(reasoner, told, task, Answer)
