"""From a run of characters to searchable pieces: identifiers whole and in parts, CJK in pairs.

Works on text without blanks, knows no language, and gives the same pieces for notes and questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal, cast

import regex

from memory_mcp.core.fold import fold, lower, normal

Kind = Literal["word", "part", "whole", "pair", "sign"]
Capital = Literal["", "first", "all"]

_CHAR = r"[\p{L}\p{N}\p{M}]"
# What may stand between the parts of one identifier: paths, addresses, versions, namespaces.
_JOINER = r"(?:://|::|:\\|\.{0,2}[\\/]{1,2}|_+|[-.:@+~%&=?\#'$])"
_RUN = regex.compile(
    rf"(?P<signed>(?<!{_CHAR})(?:\p{{L}}{{1,16}}\+\+|\p{{L}}{{1,2}}\#)(?!{_CHAR}))"
    rf"|(?P<dot>(?<![\p{{L}}\p{{N}}\p{{M}}.)\]}}\"'])\.(?=\p{{L}}))?(?P<run>{_CHAR}+(?:{_JOINER}{_CHAR}+)*)"
)
_SEGMENTS = regex.compile(r"[^\\/:@?=&\#%~+$]+")
_PARTS = regex.compile(rf"{_CHAR}+")
_JOINED = regex.compile(_JOINER)
_NUMBER = regex.compile(r"[vV]?(\d+(?:[.-]\d+)+)\Z")
_NUMBER_WITHIN = regex.compile(r"(?<![\p{N}.])\d+(?:\.\d+)+(?![\p{N}.]*\p{N})")
_GROUPED = regex.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,])")
_CJK = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u30fc\u3005]"
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u30fc\u3005\p{M}]*"
)
_HAN = regex.compile(r"\p{Han}")
_CLUSTER = regex.compile(r".\p{M}*")
_CAMEL = regex.compile(r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+")
_HYPHENATED = regex.compile(
    r"[\p{Latin}\p{Greek}\p{Cyrillic}]+-[\p{Latin}\p{Greek}\p{Cyrillic}]+\Z"
)
_MIXED = regex.compile(r"\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}")
_CODE = regex.compile(r"(\p{L}{2,})(\p{N}{2,})\Z")
_ELIDED = frozenset(
    [
        "all", "c", "d", "dall", "dell", "j", "jusqu", "l", "lorsqu", "m", "n", "nell", "puisqu",
        "qu", "s", "sull", "t", "un",
    ]
)  # fmt: skip
_CLITIC = frozenset(["s", "t", "re", "ll", "ve", "d", "m"])
_NOISE = frozenset(["http", "https", "www"])
_MAX_WHOLE = 200
_MAX_NUMBERS = 16  # an IPv6 address has eight; each beginning of a number is a piece
_MAX_PART = 64  # a SHA-256 in hex; longer runs are encoded data


@dataclass(frozen=True, slots=True)
class Piece:
    """One searchable piece. `text` is casefolded and keeps its accents where `kind` has stems."""

    text: str
    kind: Kind
    capital: Capital = ""


def pieces(run: str) -> Iterator[Piece]:
    """The pieces of a text without blanks, in order; an identifier comes before its parts.

    `word` and `part` (of an identifier) are stemmed, `whole` identifiers, CJK `pair`s and single
    `sign`s are not.
    """
    text = normal(run)
    if "," in text:
        text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    for match in _RUN.finditer(text):
        if match["signed"]:
            yield from _signed(match[0])
            continue
        run, kind = match["run"], "part" if match["dot"] else "word"
        if match["dot"]:
            yield from _whole(match[0])
        if _JOINED.search(run):
            yield from _identifier(run)
        else:
            yield from _word(run, cast(Kind, kind))


def _signed(text: str) -> Iterator[Piece]:
    """C++, C#, Notepad++: whole, and a longer name without its signs."""
    yield Piece(fold(text), "whole")
    name = text.rstrip("+#")
    if len(name) > 2:
        yield from _word(name, "part")


def _identifier(text: str) -> Iterator[Piece]:
    if "'" in text and len(parts := _JOINED.split(text)) == text.count("'") + 1:
        yield from _with_apostrophe(text, parts)
        return
    if _NUMBER.match(text):
        yield from _number(text)
        return
    yield from _whole(text)
    for segment in _SEGMENTS.findall(text):
        segment = segment.strip("-_.'")
        if _NUMBER.match(segment):
            yield from _number(segment)
        else:
            yield from _segment(segment, segment == text)


def _segment(text: str, known: bool) -> Iterator[Piece]:
    """A step of a path, a name with hyphens or dots. `known`: its whole is there already."""
    found = _PARTS.findall(text)
    if len(found) > 1 and not known:
        yield from _whole(text)
    for number in _NUMBER_WITHIN.findall(text):  # the version in nginx-1.25.3.tar
        yield from (Piece(piece.text, "part") for piece in _number(number))
    for part in found:
        if (len(part) > 1 or not part.isascii()) and part.lower() not in _NOISE:
            yield from _word(part, "part")
    if len(text) <= _MAX_PART and _HYPHENATED.match(text):
        yield Piece(lower(text.replace("-", "")), "part")


def _whole(text: str) -> Iterator[Piece]:
    if len(text) <= _MAX_WHOLE:
        yield Piece(fold(text), "whole")


def _number(text: str) -> Iterator[Piece]:
    """A version, address or date: whole, then shorter (2026-03-02, 2026-03, 2026)."""
    match = _NUMBER.match(text)
    digits = match[1] if match else text
    if len(digits) <= _MAX_WHOLE:
        yield Piece(digits, "whole")
    ends = [part.end() for part in islice(_PARTS.finditer(digits), _MAX_NUMBERS)]
    for end in reversed(ends[1:-1]):
        yield Piece(digits[:end], "part")
    if ends[0] > 2:  # a year or a network, not the 3 of 3.11
        yield Piece(digits[: ends[0]], "part")


def _with_apostrophe(text: str, parts: list[str]) -> Iterator[Piece]:
    """Contractions and elisions (how's, l'eau), and names such as O'Brien also in one word."""
    head, tail = parts[0], parts[-1]
    if len(parts) == 2 and lower(tail) in _CLITIC:
        yield Piece(lower(text), "word") if lower(tail) == "t" else Piece(lower(head), "word")
        return
    if len(parts) == 2 and lower(head) in _ELIDED and not head.isupper():
        yield from _word(tail, "word")
        return
    yield Piece(fold("".join(parts)), "whole")
    for part in parts:
        if len(part) > 1:
            yield from _word(part, "part")


def _word(text: str, kind: Kind) -> Iterator[Piece]:
    if len(text) > _MAX_PART and _CJK.search(text) is None:
        return
    if text.isascii():
        yield from _spaced(text, kind)
        return
    end = 0
    for match in _CJK.finditer(text):
        if match.start() > end:
            yield from _spaced(text[end : match.start()], kind)
        yield from _unspaced(match[0])
        end = match.end()
    if end < len(text):
        yield from _spaced(text[end:], kind)


def _spaced(text: str, kind: Kind) -> Iterator[Piece]:
    """A word of a script with blanks; camelCase and letters before digits also in parts."""
    yield Piece(lower(text), kind, _capital(text))
    code = _CODE.match(text)
    parts: tuple[str, ...] = ()
    if code:
        parts = (code[1], code[2])
    elif _MIXED.search(text):
        parts = tuple(_CAMEL.findall(text))
    for part in parts:
        if len(part) > 1 and part != text:
            yield Piece(lower(part), "part")


def _unspaced(text: str) -> Iterator[Piece]:
    """Overlapping pairs of characters, and each Han character by itself, as it may be a word."""
    chars = [fold(match[0]) for match in _CLUSTER.finditer(text)]
    if len(chars) == 1:
        yield Piece(chars[0], "pair")
        return
    for first, second in pairwise(chars):
        if _HAN.match(first):
            yield Piece(first, "sign")
        yield Piece(first + second, "pair")
    if _HAN.match(chars[-1]):
        yield Piece(chars[-1], "sign")


def _capital(text: str) -> Capital:
    if not text[0].isupper():
        return ""
    return "all" if text.isupper() and (len(text) > 1 or text not in ("A", "I")) else "first"
