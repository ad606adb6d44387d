"""The turns of a conversation with the places in the file where they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory_mcp.curate.save.filing import worth_saving
from memory_mcp.curate.transcripts.speech import Role, Speech, said_in, speech_of
from memory_mcp.curate.write.detector import Unchecked, suspicions

LONGEST = 12_000
"""Characters of one turn; what a person says beyond it is the next turn."""

ASSISTANT = 2_000
"""Characters that are kept of what an assistant says: facts come from people."""

_LARGEST_LINE = 4_000_000  # bytes; a longer line is a picture or the result of a tool
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said: by whom, when (ISO text, None: not known), in which bytes."""

    role: Role
    text: str
    at: str | None
    start: int
    end: int


def turn_of(line: bytes, start: int) -> Iterator[Turn]:
    """The turns that a line of a client's transcript holds: mostly none."""
    if len(line) > _LARGEST_LINE:
        return
    said = speech_of(line)
    if said is not None:
        yield from turns_of(said, time_of(line), start, start + len(line))


def turns_of(said: Speech, at: str | None, start: int, end: int) -> Iterator[Turn]:
    """What somebody said without private parts, injected text and secrets."""
    text = clean(said.text if said.role == "assistant" else said_in(said.text))
    if said.role == "assistant" and len(text) > ASSISTANT:
        text = f"{text[:ASSISTANT]}…"
    for first in range(0, len(text), LONGEST):
        yield Turn(said.role, text[first : first + LONGEST], at, start, end)


def time_of(line: bytes) -> str | None:
    """When a line of a transcript was written, as it says itself."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    at = value.get("timestamp") if isinstance(value, dict) else None
    return at if isinstance(at, str) and _TIME.fullmatch(at) else None


def is_whole(line: bytes) -> bool:
    """Whether a last line without an end is all that was to be written."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def clean(text: str) -> str:
    """A text that a model may see and a finding may quote."""
    kept = worth_saving(text)
    try:
        found = suspicions(kept)
    except Unchecked as error:
        found = error.known
    for suspicion in found:
        kept = kept.replace(suspicion.value, "…")
    return kept.strip()


def size_of(turns: Iterable[Turn]) -> int:
    """Characters of all that was said."""
    return sum(len(turn.text) for turn in turns)
