"""The values of a conversation with a chat model, in no provider's form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Function:
    """Something that the model may call; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that the model wants made; `arguments` is the JSON text as the model wrote it."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `calls` are those of an assistant; `call_id` says which of them a tool's text
    answers."""

    role: Role
    text: str
    calls: tuple[FunctionCall, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered.

    `model` names the one that did, `tokens` is what question and answer cost, `estimated` says
    that the provider did not tell, `cut` that the answer ended at a limit of length.
    """

    text: str
    calls: tuple[FunctionCall, ...]
    model: str
    tokens: int
    cut: bool
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """What several replies cost together, and which models gave them, each once."""

    tokens: int = 0
    estimated: bool = False
    models: tuple[str, ...] = ()
    replies: int = 0

    def plus(self, reply: Reply) -> Spent:
        """The sum with one more reply."""
        known = reply.model in self.models
        return Spent(
            self.tokens + reply.tokens,
            self.estimated or reply.estimated,
            self.models if known else (*self.models, reply.model),
            self.replies + 1,
        )
