"""The words, values, identifiers and signs of a text, so that equal ones are equal values.

Nothing is left out but the punctuation of sentences: a value, a sign or a word that two texts do
not share must show. Units, dates, times and numbers lose only the way they are written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import regex

from memory_mcp.core.fold import lower, normal, spelled_out
from memory_mcp.core.language import told
from memory_mcp.core.normal_form import normal_form
from memory_mcp.curate.compare.lexicon import NEGATIONS, NUMBERS, UNITS
from memory_mcp.search.dates import Day, located

Kind = Literal["word", "name", "number", "date", "time", "code", "sign", "break"]

_CLOSED = r"[\w\-/@#]"
_MARK = r"\s?(?P<mark>Uhr\b|[ap]\.?m\b\.?)"
_TIME = regex.compile(
    r"(?<![\w.,:\-/])(?P<hour>[01]?\d|2[0-4])"
    rf"(?::(?P<minute>[0-5]\d)(?:{_MARK})?|\.(?P<minute>[0-5]\d){_MARK}|{_MARK})"
    r"(?![\w:])",
    regex.IGNORECASE,
)
_SHORT_DATE = regex.compile(
    r"(?<=\b(?:am|vom|zum|dem)\s)(0?[1-9]|[12]\d|3[01])\.\s?(0?[1-9]|1[0-2])\.(?!\d)",
    regex.IGNORECASE,
)
_URL = regex.compile(r"[a-z][a-z0-9+.\-]*://[^\s<>\"`]+", regex.IGNORECASE)
_RUN = regex.compile(r"(?:[^\s,;()\[\]{}<>|?!*`\"“”„«»]|(?<=\d),(?=\d))+")
_EMPHASIS = regex.compile(
    r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]+)(?<=[^\s*])\1(?![\w*])"
    r"|(?<!\w)(_{1,2})(?=[^\s_])([^_\n]+)(?<=[^\s_])\3(?!\w)"
)
_SIGNS = regex.compile(r"[?|<>{}*]|!(?=[^\s\"“”»)!?.])|(?<=\d)\"(?!\w)|[\p{S}--`]", regex.V1)
_STRUCK = "~~"
_NUMBER = regex.compile(r"[-+±~]?\d+(?:[.,']\d{3})*(?:[.,]\d+)?")
_GLUED = regex.compile(r"(?P<front>[€$£])?(?P<number>[-+±~]?\d[\d.,']*)(?P<unit>[^\d\s.,']+\d?)?")
_GROUPS = {"de": ".", "en": ","}
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’\-][\p{L}\p{M}]+)*[-']?")
_ENDS = ".:…"
_QUOTES = "'‘’"
_NOT = {"cannot": ("can", "not"), "can't": ("can", "not"), "won't": ("will", "not")}
_BREAKS = frozenset(",;()–—")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, value or sign. `value` is equal where it means the same; `text` is as written;
    `start` is where it stands."""

    kind: Kind
    value: str
    text: str
    start: int

    @property
    def is_concrete(self) -> bool:
        """Whether a value, a name, an identifier or a negation: what no rewording may lose."""
        return self.kind not in ("word", "break") or self.value in NEGATIONS

    @property
    def is_capital(self) -> bool:
        """Whether it is a word that begins with a capital."""
        return self.kind == "word" and self.text[:1].isupper()


def language_of(text: str) -> str:
    """The language by which numbers are read; "" where the text does not tell."""
    return told(text) or ""


def tokens(text: str, language: str | None = None) -> list[Token]:
    """All tokens of a text, in order; `language` (ISO 639-1) decides what 2.000 means."""
    text = _EMPHASIS.sub(lambda match: match[2] or match[4], normal_form("NFC", text))
    code = language_of(text) if language is None else language
    found: list[Token] = []
    at = 0
    for token, end in _spans(text):
        if token.start >= at:
            found.extend(_between(text, at, token.start, code))
            found.append(token)
            at = end
    found.extend(_between(text, at, len(text), code))
    return _with_units(found)


def concrete(text: str, language: str | None = None) -> tuple[str, ...]:
    """The values, names, identifiers and negations of a text in their normal form, each once."""
    found = tokens(text, language)
    return tuple(
        dict.fromkeys(
            token.value
            for token, before in zip(found, [None, *found], strict=False)
            if token.is_concrete or (token.is_capital and _within(text, token, before))
        )
    )


def _within(text: str, token: Token, before: Token | None) -> bool:
    """Whether a word is in mid-sentence, so that its capital says something."""
    if before is None:
        return False
    return not regex.search(r"[.!?:]|\n", text[before.start + len(before.text) : token.start])


def _spans(text: str) -> list[tuple[Token, int]]:
    """What is read before words are: addresses, dates, times; what stands first wins."""
    found = [
        (Token("code", m[0].rstrip(_ENDS), m[0], m.start()), m.end()) for m in _URL.finditer(text)
    ]
    for start, end, day in located(text):
        if _stands_alone(text, start, end):
            found.append((_dated(day, text[start:end], start), end))
    found += [
        (_dated(Day(None, int(m[2]), int(m[1])), m[0], m.start()), m.end())
        for m in _SHORT_DATE.finditer(text)
    ]
    found += [(_timed(m), m.end()) for m in _TIME.finditer(text)]
    return sorted(found, key=lambda item: (item[0].start, -item[1]))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Not a part of an identifier."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return not regex.match(_CLOSED, before) and not regex.match(r"[\w/@#]", after)


def _dated(day: Day, text: str, start: int) -> Token:
    parts = (day.year, day.month, day.day)
    value = "-".join("?" if part is None else f"{part:02}" for part in parts)
    return Token("date", value, text.rstrip(_ENDS), start)


def _timed(match: regex.Match[str]) -> Token:
    hour, mark = int(match["hour"]), (match["mark"] or "").lower()
    if mark.startswith("p") and hour < 12:
        hour += 12
    elif mark.startswith("a") and hour == 12:
        hour = 0
    return Token("time", f"{hour:02}:{int(match['minute'] or 0):02}", match[0], match.start())


def _between(text: str, start: int, end: int, language: str) -> Iterator[Token]:
    at = start
    for match in _RUN.finditer(text, start, end):
        yield from _signs(text, at, match.start())
        yield from _of_run(match[0], match.start(), language)
        at = match.end()
    yield from _signs(text, at, end)


def _signs(text: str, start: int, end: int) -> Iterator[Token]:
    for place in range(start, end):
        char = text[place]
        if char in _BREAKS:
            yield Token("break", ",", char, place)
        elif _SIGNS.match(text, place):
            yield Token("sign", char, char, place)


def _of_run(run: str, start: int, language: str) -> Iterator[Token]:
    bare = run.rstrip(_ENDS).lstrip(_QUOTES + "…")
    if not bare[-2:-1].isdigit():  # 5' are feet
        bare = bare.rstrip(_QUOTES + _ENDS)
    if bare.startswith(_STRUCK) or bare.endswith(_STRUCK):
        yield Token("sign", _STRUCK, _STRUCK, start)
        bare = bare.removeprefix(_STRUCK).removesuffix(_STRUCK)
    plain = normal(bare)
    if not any(unicodedata.category(char) == "No" for char in bare):  # 10² is not 102
        bare = plain
    if bare:
        yield from _bare(bare, start, language)


def _bare(run: str, start: int, language: str) -> Iterator[Token]:
    if _WORD.fullmatch(run):
        yield from _words(run, start)
    elif run in ("-", "—"):
        yield Token("break", ",", run, start)
    elif (number := _number(run, start, language)) is not None:
        yield number
    elif any(map(str.isalnum, run)):
        yield Token("code", run, run, start)
    else:
        yield Token("sign", run, run, start)


def _number(run: str, start: int, language: str) -> Token | None:
    match = _GLUED.fullmatch(run)
    if match is None:
        return None
    number = match["number"]
    unit = lower(match["unit"] or match["front"] or "")
    twice = match["unit"] and match["front"]
    if not _NUMBER.fullmatch(number) or twice or (unit and unit not in UNITS):
        return None
    value = _plain_number(number, language)
    return Token("number", f"{value} {UNITS[unit]}" if unit else value, run, start)


def _plain_number(text: str, language: str) -> str:
    """A number with a point and no groups. A single mark before three digits may mean either:
    where the language does not tell, it stays."""
    text = text.replace("'", "")
    marks = [char for char in text if char in ".,"]
    group = marks[0] if len(marks) > 1 else _GROUPS.get(language, "")
    grouped = rf"\D?\d{{1,3}}(?:{regex.escape(group)}\d{{3}})+(?:[.,]\d+)?"
    if group and regex.fullmatch(grouped, text):
        text = text.replace(group, "")
    elif len(marks) == 1 and regex.search(r"[.,]\d{3}\Z", text):
        return text
    return text.replace(",", ".")


def _words(run: str, start: int) -> Iterator[Token]:
    plain = lower(run)
    if plain in _NOT:
        yield from (Token("word", part, run, start) for part in _NOT[plain])
    elif plain.endswith("n't"):
        yield Token("word", plain.removesuffix("n't"), run, start)
        yield Token("word", "not", run, start)
    elif plain in NUMBERS:
        yield Token("number", str(NUMBERS[plain]), run, start)
    elif len(run) > 1 and not run.islower() and not run.istitle():
        yield Token("name", run, run, start)
    else:
        yield Token("word", spelled_out(plain), run, start)


def _with_units(found: list[Token]) -> list[Token]:
    """Numbers with the unit that follows in a word, or in two."""
    made: list[Token] = []
    at = 0
    while at < len(found):
        token = found[at]
        at += 1
        if token.kind == "number" and " " not in token.value:
            for count in (2, 1):
                unit = " ".join(lower(more.text) for more in found[at : at + count])
                if unit in UNITS:
                    token = replace(token, value=f"{token.value} {UNITS[unit]}")
                    at += count
                    break
        made.append(token)
    return made
