"""Unicode folding: different spellings of one word become one text."""

from __future__ import annotations

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
_LETTERS = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ŋ": "ng"}
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def normal(text: str) -> str:
    """NFKC with one hyphen and one apostrophe, without soft hyphens and zero-width characters."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    text = _APOSTROPHES.sub("'", text)
    # Before NFKC, which turns an acute accent that stands alone into a blank and a mark.
    text = normal_form("NFKC", text)
    return str(_HYPHENS.sub("-", text))


def lower(text: str) -> str:
    """Casefolded with its accents, as stemmers want it."""
    if text.isascii():
        return text.lower()
    # The capital dotted I folds to an i and a dot above, which belongs to no stemmer's alphabet.
    return normal_form("NFC", text.casefold().replace("i\u0307", "i"))


def fold(text: str) -> str:
    """Casefolded, without accents, vowel marks and ligatures."""
    if text.isascii():
        return text.lower()
    apart = normal_form("NFKD", text.casefold())
    bare = _MARKS.sub("", apart).translate(_LETTERS)
    return normal_form("NFC", bare)


def spelled_out(text: str) -> str:
    """The spelling with ae, oe, ue for umlauts; the same text where there are none."""
    return text.translate(_UMLAUTS)
