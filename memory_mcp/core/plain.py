"""Markdown as one line of plain text, and cutting text without breaking a character."""

from __future__ import annotations

import html
import re

import regex

_GRAPHEME = regex.compile(r"\X")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]")
_SPACE = re.compile(r"\s+")
_MARKED = re.compile(r"[\\`*_~=\[\]<>&^%#|+-]|^[ \t]*\d+[.)]", re.M)

_CODE = re.compile(r"(?<!`)(`++)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_COMMENT = re.compile(r"<!--|%%")
_COMMENT_ENDS = {"<!--": "-->", "%%": "%%"}
_LINE_MARK = re.compile(
    r"^[ \t]*(?:>[ \t]?)*[ \t]*(?:#{1,6}[ \t]+|(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)?", re.M
)
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\\?\|([^\[\]\n]*))?\]\]")
_LINK = regex.compile(  # re of Python before 3.11.5 matches possessive groups wrongly
    r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*+)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*+\)|\[[^\[\]\n]*\])"
)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\](?!:)")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>")
_TAG_NAMES = (
    "a|abbr|article|aside|b|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figcaption|figure"
    "|font|footer|h[1-6]|header|hr|i|iframe|img|ins|kbd|li|main|mark|nav|ol|p|pre|q|s|samp|section|small"
    "|span|strong|style|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|video|audio|wbr"
)
_HTML = re.compile(rf"</?(?:{_TAG_NAMES})(?:\s[^<>]*)?/?>", re.I)
# Emphasis over more characters than these stays as written: each opening is looked at once.
_STRONG = re.compile(r"(?<!\*)\*\*(?=[^\s*])(.{1,300}?)(?<=[^\s*])\*\*(?!\*)", re.S)
_EMPHASIS = re.compile(
    r"(?<![*\w])\*(?=[^\s*])([^*]+?)(?<=[^\s*])\*(?![*\w])|(?<=\w)\*(?=\w)([^*\s]+)\*"
)
_UNDER = re.compile(r"(?<!\w)(__?)(?=[^\s_])(.{1,300}?)(?<=[^\s_])\1(?!\w)", re.S)
_STRUCK = re.compile(r"(~~|==)(?=\S)(.{1,300}?)(?<=\S)\1", re.S)
_BLOCK_ID = re.compile(r"(?<=\s)\^[A-Za-z0-9-]+[ \t]*$", re.M)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = re.compile("\ue000(\\d+)\ue001")


def one_line(text: str) -> str:
    """Whitespace collapsed to single blanks, control characters dropped, markup kept."""
    return _SPACE.sub(" ", _CONTROL.sub("", text)).strip()


def plain(text: str) -> str:
    """One line of plain text: Markdown and HTML markup stripped, link texts and code kept."""
    if not _MARKED.search(text):
        return one_line(text)
    held: list[str] = []

    def hold(content: str) -> str:
        held.append(content)
        return f"\ue000{len(held) - 1}\ue001"

    text = _HELD.sub("", text)
    text = _CODE.sub(lambda match: hold(match[2].strip()), text)
    text = _without_comments(text)
    text = _LINE_MARK.sub("", text)
    text = _ESCAPE.sub(lambda match: hold(match[1]), text)
    text = _AUTOLINK.sub(lambda match: hold(match[1]), text)
    text = _links(text)
    text = _HTML.sub(" ", text) if "<" in text else text
    text = _emphasis(text)
    text = html.unescape(_BLOCK_ID.sub("", text))
    text = _HELD.sub(lambda match: held[int(match[1])], text)
    return one_line(text)


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a grapheme boundary, "…" in place of what is missing."""
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    end = 0
    for match in _GRAPHEME.finditer(text):
        if match.end() > limit - 1:
            break
        end = match.end()
    return text[:end].rstrip() + "…"


def pieces(text: str, size: int) -> list[str]:
    """The text in runs of at most `size` characters, cut between graphemes (one longer grapheme
    stays whole)."""
    if text.isascii():
        return [text[at : at + size] for at in range(0, len(text), size)]
    found: list[str] = []
    start = end = 0
    for match in _GRAPHEME.finditer(text):
        if match.end() - start > size and end > start:
            found.append(text[start:end])
            start = end
        end = match.end()
    if end > start:
        found.append(text[start:end])
    return found


def _without_comments(text: str) -> str:
    """A blank in place of each comment. An opening without its end is text; the end of each kind
    is looked for in vain once."""
    parts: list[str] = []
    at = place = 0
    unended: set[str] = set()
    while opening := _COMMENT.search(text, place):
        place = opening.end()
        end = _COMMENT_ENDS[opening[0]]
        closing = -1 if end in unended else text.find(end, place)
        if closing < 0:
            unended.add(end)
            continue
        parts.append(text[at : opening.start()])
        at = place = closing + len(end)
    return " ".join([*parts, text[at:]])


def _links(text: str) -> str:
    if "[" not in text:
        return text
    text = _WIKILINK.sub(_wikilink, text)
    text = _FOOTNOTE.sub("", text)
    for _ in range(2):  # an image inside a link
        text = _LINK.sub(lambda match: match[1], text)
    return text


def _wikilink(match: re.Match[str]) -> str:
    if match[2] is not None and not (match[0].startswith("!") and match[2].strip().isdigit()):
        return match[2]
    return match[1].strip("\\").lstrip("#").replace("#", " > ")


def _emphasis(text: str) -> str:
    for _ in range(3):  # emphasis inside emphasis
        before = text
        text = _STRONG.sub(r"\1", text)
        text = _EMPHASIS.sub(lambda match: match[1] or match[2], text)
        text = _UNDER.sub(r"\2", text)
        text = _STRUCK.sub(r"\2", text)
        if text == before:
            break
    return text
