"""What people and agents said, from the lines of a client's transcript.

Two kinds are read: the JSONL of Claude Code and the rollouts of Codex. Only what is known to be
speech counts, for each release brings new types of lines. Left out: tools and their results,
thinking, side chains of sub-agents, summaries, and what clients put into a user's mouth.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from memory_mcp.recall.heard import heard

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Speech:
    """One thing that was said; `message` names the message that a client cuts into lines."""

    role: Role
    text: str
    message: str = ""


_NOT_SAID = (
    "[Request interrupted by user",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<bash-",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
)
"""How texts begin that clients write in a user's name."""

_NOT_SPEECH = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
_TEXT_TYPES = ("text", "input_text", "output_text")


def speech_of(line: bytes) -> Speech | None:
    """What a line of a transcript says; None where it is no speech, or no line of one."""
    if b'"user"' not in line and b'"assistant"' not in line:
        return None  # most lines are long and say nothing
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    if kind in ("user", "assistant"):
        return _claude(value)
    payload = value.get("payload")
    if kind == "response_item" and isinstance(payload, dict) and payload.get("type") == "message":
        return _speech(payload.get("role"), payload)
    return None


def last_speeches(lines: Iterable[bytes], most: int, before: str = "") -> tuple[Speech, ...]:
    """The latest so many, oldest first, of lines that come newest first.

    `before`: a message that is being said now; clients may have noted it as the last one, and it
    is no history of itself.
    """
    told = _newest_first(lines)
    first = next(told, None)
    if first is None or most <= 0:
        return ()
    repeated = first.role == "user" and _bare(first.text) == _bare(said_in(before))
    found = list(islice(told, most if repeated else most - 1))
    return tuple(reversed(found if repeated else [first, *found]))


def said_in(text: str) -> str:
    """A user's message without what client and memory put into it."""
    text = heard(text)
    return "" if text.startswith(_NOT_SAID) else text


def _newest_first(lines: Iterable[bytes]) -> Iterator[Speech]:
    last: Speech | None = None
    for said in filter(None, map(speech_of, lines)):
        if last is not None and _is_one(last, said):
            last = Speech(said.role, f"{said.text}\n{last.text}", said.message)
            continue
        if last is not None:
            yield last
        last = said
    if last is not None:
        yield last


def _is_one(one: Speech, other: Speech) -> bool:
    return bool(one.message) and (one.role, one.message) == (other.role, other.message)


def _bare(text: str) -> str:
    return " ".join(text.split())


def _claude(value: Mapping[str, Any]) -> Speech | None:
    message = value.get("message")
    if any(value.get(mark) for mark in _NOT_SPEECH) or not isinstance(message, dict):
        return None
    if message.get("role") != value["type"] or message.get("model") == "<synthetic>":
        return None
    return _speech(value["type"], message)


def _speech(role: object, message: Mapping[str, Any]) -> Speech | None:
    if role not in ("user", "assistant"):
        return None
    text = "\n".join(_texts(message.get("content"))).strip()
    if role == "user":
        text = said_in(text)
    if not text:
        return None
    name = message.get("id")
    who: Role = "user" if role == "user" else "assistant"
    return Speech(who, text, name if isinstance(name, str) else "")


def _texts(content: object) -> Iterator[str]:
    """The texts of a message, which is one text or a list of blocks."""
    if isinstance(content, str):
        yield content
        return
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _TEXT_TYPES:
            text = block.get("text")
            if isinstance(text, str):
                yield text
