"""What a model says should be kept of a conversation, and what of it holds when it is checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from memory_mcp.core.normal_form import normal_form
from memory_mcp.curate.transcripts.turns import Turn, clean

MOST = 12
"""Proposals of one piece that are looked at."""

_PASSING = ("state", "lookup")
_WORDS = 3
_LETTERS = 12  # of a quote with fewer words; scripts without blanks need no more
_UNBROKEN = 5
_QUOTES = str.maketrans(dict.fromkeys("“”„«»″", '"') | dict.fromkeys("’‘‚′`", "'"))
_GAP = re.compile(r"\s*(?:\[?…\]?|\[?\.{3,}\]?)\s*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Fact(BaseModel):
    """One proposal, as a model writes it."""

    action: Literal["memory_write", "memory_edit", "memory_delete"]
    slug: str = Field(max_length=200)
    title: str = Field(default="", max_length=300)
    text: str = Field(default="", max_length=8000)
    old_text: str | None = Field(default=None, max_length=8000)
    quote: str = Field(max_length=4000)
    reason: str = Field(default="", max_length=1000)
    kind: Literal[
        "fact",
        "decision",
        "preference",
        "correction",
        "person",
        "project",
        "procedure",
        "state",
        "lookup",
    ] = "fact"


class Facts(BaseModel):
    """What a model proposes of one piece."""

    facts: list[Fact]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A proposal that rests on words that were said, and the turn in which they were."""

    fact: Fact
    turn: Turn


@dataclass(slots=True)
class Left:
    """How many proposals were left out, by why."""

    unquoted: int = 0
    passing: int = 0
    known: int = 0
    repeated: int = 0
    unusable: int = 0
    too_many: int = 0

    def said(self) -> str:
        """For people; empty where none was left out."""
        words = {
            "were known already": self.known,
            "had been proposed before": self.repeated,
            "will pass or can be looked up": self.passing,
            "quoted what nobody said": self.unquoted,
            "could not be used": self.unusable,
            f"were beyond {MOST} of one piece": self.too_many,
        }
        parts = [f"{count} {why}" for why, count in words.items() if count]
        return f"Left out: {', '.join(parts)}." if parts else ""


def checked(facts: Sequence[Fact], turns: Sequence[Turn], left: Left) -> tuple[Quoted, ...]:
    """The proposals that rest on words of these turns and are no passing state; `left` counts the
    others."""
    found: list[Quoted] = []
    for fact in facts:
        turn = quoted(fact.quote, turns)
        if fact.kind in _PASSING:
            left.passing += 1
        elif turn is None:
            left.unquoted += 1
        elif fact.action != "memory_delete" and not fact.text.strip():
            left.unusable += 1
        elif clean(fact.text) != fact.text.strip() or clean(fact.title) != fact.title.strip():
            left.unusable += 1  # it holds what must not be kept: a secret, a private part
        else:
            found.append(Quoted(fact, turn))
    left.too_many += max(len(found) - MOST, 0)
    return tuple(found[:MOST])


def quoted(quote: str, turns: Sequence[Turn]) -> Turn | None:
    """The turn in which a quote stands, a person's before an assistant's; None where none has it,
    and for a quote that is too short to show anything."""
    parts = [_plain(part) for part in _GAP.split(quote)]
    parts = [part for part in parts if part]
    if not _is_telling(" ".join(parts)):
        return None
    for role in ("user", "assistant"):
        for turn in turns:
            if turn.role == role and _stands(parts, _plain(turn.text)):
                return turn
    return None


def _stands(parts: Sequence[str], text: str) -> bool:
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _is_telling(text: str) -> bool:
    letters = sum(char.isalnum() for char in text)
    if _CJK.search(text):
        return letters >= _UNBROKEN
    return letters >= _LETTERS or (len(text.split()) >= _WORDS and letters >= _UNBROKEN)


def _plain(text: str) -> str:
    """Letters and signs without what a copy changes: case, blanks, kinds of quotes, emphasis."""
    folded = normal_form("NFC", text).translate(_QUOTES).casefold()
    folded = folded.replace("&lt;", "<").replace("**", "").replace("__", "")
    return " ".join(folded.split()).strip("\"' ")
