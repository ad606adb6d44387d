"""What a pass over conversations did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_mcp.core.chat import Spent
from memory_mcp.core.counting import counted
from memory_mcp.curate.rem.facts import Left

_NAMED = 5


@dataclass(slots=True)
class Tally:
    """What one pass did, in numbers."""

    read: int = 0
    turns: int = 0
    pieces: int = 0
    found: int = 0
    refused: int = 0
    spent: Spent = field(default_factory=Spent)
    left: Left = field(default_factory=Left)
    gone: list[str] = field(default_factory=list)
    waits: int = 0
    stopped: str = ""

    def spend(self, spent: Spent) -> None:
        """Add what an answer cost."""
        models = dict.fromkeys((*self.spent.models, *spent.models))
        self.spent = Spent(
            self.spent.tokens + spent.tokens,
            self.spent.estimated or spent.estimated,
            tuple(models),
            self.spent.replies + spent.replies,
        )

    def said(self) -> str:
        """One line for people."""
        if not self.pieces and not self.stopped and not self.gone and not self.waits:
            return "No conversation had anything new to read."
        parts = [
            f"Read {counted(self.turns, 'turn')} of {counted(self.read, 'conversation')}:"
            f" {counted(self.found, 'finding')} in dream_list.",
            self.left.said(),
        ]
        if self.refused:
            parts.append(f"{counted(self.refused, 'piece')} could not be judged; dream_list says.")
        if self.gone:
            named = ", ".join(self.gone[:_NAMED])
            parts.append(f"Could not be read: {named}.")
        if self.stopped:
            parts.append(f"Stopped: {self.stopped}")
        if self.waits:
            parts.append(f"{counted(self.waits, 'conversation')} still to be read.")
        if self.spent.tokens:
            parts.append(f"{self.spent.tokens:,} tokens of {', '.join(self.spent.models)}.")
        return " ".join(part for part in parts if part)
