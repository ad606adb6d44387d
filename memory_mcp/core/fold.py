"""Unicode folding: different spellings of one word become one text."""

from __future__ import annotations

import unicodedata

import regex

from memory_mcp.core.normal_form import normal_form

_INVISIBLE = regex.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\u0640]"
)
_HYPHENS = regex.compile(r"[\u2010-\u2013\u2212\ufe63\uff0d\u00b7\u2027]")
_APOSTROPHES = regex.compile(r"[\u2018\u2019\u02bc\u02b9\u201b\uff07\u00b4]")
# Marks that only colour a letter; in other scripts (Devanagari, Thai) they are vowels.
_MARKS = regex.compile(
    r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}]\p{M}{0,64})\p{M}"
)
# Letters that are written for one another: without a stroke, by an Arabic or a Persian keyboard,
# at the end of an Arabic word, with either sign of a nasal vowel in Devanagari.
_LETTERS = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ŋ": "ng"}
    | {"ی": "ي", "ى": "ي", "ک": "ك", "ة": "ه", "\u0901": "\u0902"}
)
_NUKTAS = regex.compile(r"[\u093c\u09bc\u0a3c\u0abc]")  # the dot of a borrowed sound
_DIGITS = regex.compile(r"[\p{Nd}--0-9]", regex.V1)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def normal(text: str) -> str:
    """NFKC with one hyphen, one apostrophe and the digits 0 to 9, without soft hyphens and
    zero-width characters."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    text = _APOSTROPHES.sub("'", text)
    # Before NFKC, which turns an acute accent that stands alone into a blank and a mark.
    text = normal_form("NFKC", text)
    return str(_HYPHENS.sub("-", _plain_digits(text)))


def _plain_digits(text: str) -> str:
    """Arabic, Persian, Devanagari and all other decimal digits as 0 to 9."""
    # The pattern may know digits of a later Unicode than the table does; those stay.
    return str(_DIGITS.sub(lambda match: str(unicodedata.decimal(match[0], match[0])), text))


def lower(text: str) -> str:
    """Casefolded with its accents, as stemmers want it."""
    if text.isascii():
        return text.lower()
    # The capital dotted I folds to an i and a dot above, which belongs to no stemmer's alphabet.
    return normal_form("NFC", text.casefold().replace("i\u0307", "i"))


def fold(text: str) -> str:
    """Casefolded, without accents, vowel marks and ligatures; folding twice changes nothing."""
    if text.isascii():
        return text.lower()
    # Some letters have no small form of their own, only one they are made of (a bold A).
    apart = normal_form("NFKD", normal_form("NFKD", text).casefold())
    bare = _NUKTAS.sub("", _MARKS.sub("", apart)).translate(_LETTERS)
    return normal_form("NFC", bare)


def spelled_out(text: str) -> str:
    """The spelling with ae, oe, ue for umlauts; the same text where there are none."""
    return text.translate(_UMLAUTS)
