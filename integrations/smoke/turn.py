"""What an agent asks of its model and what it gets, whichever API carries it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MARK = "step_"
"""The calls of the script are numbered: their ids begin so."""


@dataclass(frozen=True, slots=True)
class Say:
    """Words for the person; the turn ends."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """A tool to be used; the agent comes back with its result."""

    number: str
    tool: str
    arguments: Mapping[str, Any]


Answer = Say | Use


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: the tools that can be called, those that must be looked up first, by `finder`,
    and the results of the script's calls so far, in their order.
    """

    offered: set[str]
    deferred: set[str]
    results: Sequence[str]
    finder: str | None

    def find(self, names: Sequence[str]) -> Use:
        """The call that makes deferred tools callable."""
        if self.finder is None:
            raise ValueError("this agent defers no tools")
        return Use("find", self.finder, {"query": "select:" + ",".join(names)})
