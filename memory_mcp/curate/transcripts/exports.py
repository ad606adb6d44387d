"""Conversations that were exported as Markdown or plain text: who speaks stands before the words.

`User: …`, `**Assistant:** …`, `## You`, `[2026-05-01 10:00] Human: …`, `ChatGPT said:` and the
like begin a turn, in English and German. A text in which no person speaks is no conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_mcp.curate.transcripts.speech import Role, Speech
from memory_mcp.curate.transcripts.turns import Turn, turns_of

_USER = ("user", "human", "you", "me", "prompt", "nutzer", "nutzerin", "benutzer", "ich", "du")
_ASSISTANT = (
    *("assistant", "ai", "bot", "model", "response", "claude", "chatgpt", "gpt", "codex"),
    *("gemini", "copilot", "assistent", "antwort"),
)
_AT = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?"
_WHO = "|".join((*_USER, *_ASSISTANT))
_SPEAKER = re.compile(
    rf"(?P<head>\#{{1,6}}[ ]+)?(?:[-*>][ ]+)?(?P<bold>\*\*|__)?"
    rf"(?:[\[(]?(?P<before>{_AT})[\])]?[ ]*[-–—:]?[ ]*)?"
    rf"(?P<who>{_WHO})(?:[ ](?P<said>said|wrote|sagte))?"
    rf"(?:[ ]*[\[(](?P<after>{_AT})[\])])?[ ]*"
    r"(?P<colon>:?)(?:\*\*|__)?(?P<late>:?)[ ]*(?P<rest>.*)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class _Open:
    role: Role
    at: str | None
    start: int
    lines: list[tuple[int, str]]


def turns_in(data: bytes, offset: int = 0) -> tuple[Turn, ...]:
    """The turns of an export from a place on, in order; of one that goes on across the place, the
    rest. None where nobody is named who could be a person."""
    found = tuple(_spoken(data))
    if not any(item.role == "user" for item in found):
        return ()
    turns: list[Turn] = []
    for number, item in enumerate(found):
        end = found[number + 1].start if number + 1 < len(found) else len(data)
        if end <= offset:
            continue
        text = "\n".join(line for at, line in item.lines if at >= offset)
        said = Speech(item.role, text.strip())
        turns += turns_of(said, item.at, max(item.start, offset), end)
    return tuple(turns)


def _spoken(data: bytes) -> Iterator[_Open]:
    now: _Open | None = None
    fence, at = "", 0
    for raw in data.splitlines(keepends=True):
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        fenced = _FENCE.match(line)
        speaker = None if fence else _speaker(line)
        if fenced and not fence:
            fence = fenced[1][:3]
        elif fenced and fenced[1].startswith(fence):
            fence = ""
        if speaker is not None:
            if now is not None:
                yield now
            role, when, rest = speaker
            now = _Open(role, when, at, [(at, rest)])
        elif now is not None:
            now.lines.append((at, line))
        at += len(raw)
    if now is not None:
        yield now


def _speaker(line: str) -> tuple[Role, str | None, str] | None:
    """Who begins to speak in a line, when, and with which words."""
    match = _SPEAKER.fullmatch(line.strip())
    if match is None:
        return None
    rest, colon = match["rest"], match["colon"] or match["late"]
    if rest and not colon:
        return None  # a sentence that begins with such a word
    if not (colon or match["head"] or match["bold"] or match["said"]):
        return None
    role: Role = "user" if match["who"].casefold() in _USER else "assistant"
    return role, match["before"] or match["after"], rest
