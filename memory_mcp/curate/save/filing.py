"""Filing a text without asking a model: what is left to save, and the note that is made of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_mcp.core import frontmatter
from memory_mcp.core.note import Json
from memory_mcp.core.plain import clip, plain
from memory_mcp.core.private import hide
from memory_mcp.core.slug import slug_from
from memory_mcp.curate.write.detector import Unchecked, suspicions

_MAX_TITLE = 80
_LOOKED_AT = 20_000  # characters; a title comes from the first of them
_MAX_DESCRIPTION = 200
# The head of a tag has no other one in it: so each is looked through once, also where none ends.
_FRAMES = (
    (
        re.compile(
            r"<MEMORY\[(?:(?!<MEMORY\[)[^\]\n])*\](?:(?!<MEMORY\[)[^>\n])*>",
            re.I,
        ),
        re.compile(r"</MEMORY>", re.I),
    ),
    (
        re.compile(r"<system-reminder\b(?:(?!<system-reminder\b)[^>])*>", re.I),
        re.compile(r"</system-reminder\s*>", re.I),
    ),
)
_FRAME_TAGS = re.compile(
    r"</?(?:system-reminder\b|MEMORY\[|MEMORY\b(?=\s*>))"
    r"(?:(?!</?(?:system-reminder|MEMORY)\b)[^>\n])*>",
    re.I,
)
_MARK = re.compile(r"(?<![ \t])[ \t]*<private id=\d+/>[ \t]*")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|\n|\Z)", re.S)
_LAST_WORD = re.compile(r"\s+\S*\Z")


Request = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Text:
    """What is to be remembered, without what is private or was injected."""

    content: str
    context: str | None = None
    source_url: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """A text was not filed; `why` says so in a sentence."""

    why: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A note to be: the name to try first, and its whole text."""

    slug: str
    title: str
    content: str


def worth_saving(content: str) -> str:
    """The text without what was injected into a conversation and without private parts."""
    text = content
    for opening, closing in _FRAMES:
        text = _without(text, opening, closing)
    text = _FRAME_TAGS.sub("", text)
    shown, parts = hide(text)
    if parts:
        shown = _MARK.sub(" ", shown)
    if text != content or parts:
        shown = _BLANK_LINES.sub("\n\n", shown)
    return shown.strip("\r\n").rstrip() if shown.strip() else ""


def _without(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """The text without what stands between these; an opening that is not closed is text."""
    parts: list[str] = []
    at = 0
    while (begin := opening.search(text, at)) and (end := closing.search(text, begin.end())):
        parts.append(text[at : begin.start()])
        at = end.end()
    return "".join([*parts, text[at:]])


def draft(text: Text, agent: str, tags: Sequence[str] = (), mentions: Sequence[str] = ()) -> Draft:
    """The note for a text: title and name from its first heading or sentence, text verbatim.

    `mentions` are references of the notes that it names.
    """
    title = title_without_secrets(text.content)
    values: dict[str, Json] = {"title": title}
    about = text.context
    if about and (description := clip(plain(_without_secrets(about)), _MAX_DESCRIPTION)):
        values["description"] = description
    if tags:
        values["tags"] = list(tags)
    if mentions:
        values["links"] = [{"to": name, "relation": "mentions"} for name in mentions]
    values["source"] = origin_of(text, agent)
    # A header in the text is text: what was saved unseen must not pin itself or set triggers.
    return Draft(slug_from(title), title, frontmatter.compose(values) + "\n" + text.content)


def origin_of(text: Text, agent: str) -> dict[str, Json]:
    """The provenance of a text that an agent saves."""
    if text.source_url:
        return {"url": text.source_url, "kind": "web", "by": agent}
    return {"by": agent}


def _without_secrets(text: str) -> str:
    """A name and a title are shown in every list: no secret gets into them."""
    head = text[:_LOOKED_AT]
    try:
        found = suspicions(head)
    except Unchecked as error:
        found = error.known
    for suspicion in found:
        head = head.replace(suspicion.value, "…")
    return head


def title_without_secrets(content: str) -> str:
    """As `title_of`; what looks like a secret is left out. Blocking, up to some seconds."""
    return title_of(_without_secrets(content))


def title_of(content: str) -> str:
    """The first heading or sentence as a plain line, cut between words at 80 characters."""
    own = frontmatter.split_and_load(content)[1].values.get("title")
    if isinstance(own, str) and own.strip():
        return clip(plain(own), _MAX_TITLE)
    body = frontmatter.split(content).body
    for line in body.split("\n"):
        if (text := plain(line)) and any(char.isalnum() for char in text):
            return _shortened(plain(_first_sentence(line)) or text)
    return _shortened(plain(body)) or "Note"


def _first_sentence(line: str) -> str:
    match = _SENTENCE.match(line)
    sentence = match[0] if match else line
    return sentence if line.lstrip().startswith("#") else sentence.rstrip(" .。\n")


def _shortened(text: str) -> str:
    if len(text) <= _MAX_TITLE:
        return text
    cut = clip(text, _MAX_TITLE).removesuffix("…")
    return f"{_LAST_WORD.sub('', cut) or cut}…"


def request_of(content: str, context: str | None, source_url: str | None) -> Request:
    """What the journal keeps of a save: nothing that was private."""
    return {
        "content": worth_saving(content),
        "context": worth_saving(context) if context else None,
        "source_url": source_url,
    }
