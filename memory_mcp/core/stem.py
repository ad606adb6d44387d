"""Stems by language: what a word looks like in the index."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Protocol, cast

import regex
import snowballstemmer

from memory_mcp.core.fold import fold, spelled_out

_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian",
    "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# Where an umlaut is a letter of the language; elsewhere it comes with a German word or name.
_UMLAUT_LANGUAGES = frozenset(["de", "et", "fi", "hu", "sv", "tr"])
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_LATIN = regex.compile(r"[\p{Latin}\p{M}]+")
_MAX_STEMS = 100_000  # a stem costs 0.1 ms, its memory 0.2 KB
_STEMS: dict[tuple[str, str], str] = {}
# Stemmers keep their state in themselves, and words are cut on several threads.
_LOCK = Lock()


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


def stems(word: str, language: str) -> tuple[str, ...]:
    """Index forms of a word, most often one. `word` is casefolded and has its accents.

    A Latin word with accents also gets the stem of its plain spelling where that differs, and in
    languages without umlauts the spelling with ae for ä, so that either spelling finds it (the
    German stemmer reads ae as ä by itself).
    """
    first = fold(_stem(word, language))
    if word.isascii() or _LATIN.fullmatch(word) is None:
        return (first,)
    plain = [_stem(fold(word), language)]
    if language not in _UMLAUT_LANGUAGES:
        plain.append(_stem(fold(spelled_out(word)), language))
    return tuple(dict.fromkeys((first, *plain)))


def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    if stemmer is None or len(word) < 3 or _LETTERS.fullmatch(word) is None:
        return word
    known = _STEMS.get((language, word))
    if known is None:
        with _LOCK:
            known = stemmer.stemWord(word) or word
        if len(_STEMS) >= _MAX_STEMS:
            _STEMS.clear()
        _STEMS[(language, word)] = known
    return known


@cache
def _stemmer(language: str) -> _Stemmer | None:
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None or algorithm not in snowballstemmer.algorithms():
        return None
    return cast(_Stemmer, snowballstemmer.stemmer(algorithm))
