"""Stems by language: what a word looks like in the index.

The Snowball algorithms in their C library (PyStemmer): 2 µs a word, 1 ms to import, and only the
language that is asked for is made. Ukrainian and Bulgarian have none there and borrow the Russian
one; Sanskrit, Hebrew, Slovak, Vietnamese, Gujarati and scripts without blanks have no stems.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Protocol, cast

import regex
import Stemmer

from memory_mcp.core.fold import fold, spelled_out
from memory_mcp.core.languages import LANGUAGES

_BORROWED = {"nb": "norwegian", "nn": "norwegian", "uk": "russian", "bg": "russian"}
# Where an umlaut is a letter of the language; elsewhere it comes with a German word or name.
_UMLAUT_LANGUAGES = frozenset(["de", "et", "fi", "hu", "sv", "tr"])
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_LATIN = regex.compile(r"[\p{Latin}\p{M}]+")
_NASAL = str.maketrans("\u0901", "\u0902")  # either sign is written
_RESPELLED = {
    "hi": _NASAL,
    "ne": _NASAL,
    # Ukrainian endings are the Russian ones in other letters (ключі, ключи).
    "uk": str.maketrans("іїєґ", "ииег"),
    # What an Arabic keyboard types for Persian letters.
    "fa": str.maketrans("يىك", "ییک"),
}
_ARTICLE = regex.compile(r"(?<=.{4})(?:(?<=[ая])та|(?<=[ое])то|(?<=[аеи])те|[ъя]т)\Z")
# Stemmers keep their state in themselves, and words are cut on several threads.
_LOCK = Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


def stems(word: str, language: str) -> tuple[str, ...]:
    """Index forms of a word, most often one. `word` is casefolded and has its accents.

    A Latin word with accents also gets the stem of its plain spelling where that differs, and in
    languages without umlauts the spelling with ae for ä, so that either spelling finds it (the
    German stemmer reads ae as ä by itself). In other scripts the plain spelling alone is stemmed.
    """
    if word.isascii():
        return (_stem(word, language),)
    if _LATIN.fullmatch(word) is None:
        return (fold(_stem(_plain(word, language), language)),)
    plain = [_stem(fold(word), language)]
    if language not in _UMLAUT_LANGUAGES:
        plain.append(_stem(fold(spelled_out(word)), language))
    return tuple(dict.fromkeys((fold(_stem(word, language)), *plain)))


def _plain(word: str, language: str) -> str:
    """The spelling that the stemmer reads, so that people may leave marks out."""
    respelled = _RESPELLED.get(language)
    if respelled is not None:
        return word.translate(respelled)
    return _without_article(word) if language == "bg" else word


def _without_article(word: str) -> str:
    """A Bulgarian word without the article at its end (книгата, градът)."""
    return str(_ARTICLE.sub("", word))


def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    if stemmer is None or len(word) < 3 or _LETTERS.fullmatch(word) is None:
        return word
    with _LOCK:
        return stemmer.stemWord(word) or word


@cache
def _stemmer(language: str) -> _Stemmer | None:
    algorithm = _BORROWED.get(language) or LANGUAGES.get(language)
    if algorithm not in Stemmer.algorithms():
        return None
    return cast(_Stemmer, Stemmer.Stemmer(algorithm))
