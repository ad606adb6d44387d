"""The language of a text: by its script, then by the share of each language's stop words."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from stop_words import LANGUAGE_MAPPING, get_stop_words

_DEFAULT = "en"
_SAMPLE = 4000  # characters; more does not change the answer
_ENOUGH_WORDS = 3
_ENOUGH_SHARE = 0.06  # of the words: below, the text is a list of names or code
_MARGIN = 1.12  # how much better than English another language must fit

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CODE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1|`[^`\n]*`|https?://\S+", re.S | re.M)
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff\uff66-\uff9d]")),
    ("ko", re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("ru", re.compile(r"[\u0400-\u052f]")),
    ("ar", re.compile(r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]")),
    ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("gu", re.compile(r"[\u0a80-\u0aff]")),
    ("ta", re.compile(r"[\u0b80-\u0bff]")),
    ("hy", re.compile(r"[\u0530-\u058f]")),
)
_CYRILLIC = ("ru", "uk", "bg")
_PERSIAN = re.compile(r"[\u067e\u0686\u0698\u06a9\u06af\u06cc]")
_ARABIC = re.compile(r"[\u0629\u0643\u0649\u064a]")
_LATIN = (
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "hu", "ro", "ca", "cs",
    "sk", "pl", "tr", "id", "ms", "vi",
)  # fmt: skip
# Letters that one language of a script has and its neighbours do not.
_TELLING = {
    "uk": "іїєґ", "bg": "ъ", "ru": "ыэё", "de": "ß", "es": "ñ¿¡", "pt": "ãõ", "pl": "łąęśż",
    "cs": "řěů", "sk": "ľĺŕ", "hu": "őű", "ro": "țșăţ", "tr": "ğı", "ca": "·", "vi": "ơưđạếộ",
}  # fmt: skip
_NAMES = {"nb": "no"}


def detect(text: str) -> str:
    """ISO 639-1 code of the language of a text; "en" where it is short or undecided."""
    sample = text[:_SAMPLE]
    special = "" if sample.isascii() else "".join(_NOT_ASCII.findall(sample))
    found = {code: len(pattern.findall(special)) for code, pattern in _SCRIPTS} if special else {}
    if found and max(found.values()):
        if found["ja"] * 8 > found["zh"]:  # Japanese has Han too, Chinese has no kana
            found["ja"] += found["zh"]
        code = max(found, key=lambda name: found[name])
        weight = 6 if code in ("zh", "ja", "ko") else 2  # one character is a syllable or a word
        if found[code] * weight > sum(map(str.isalpha, sample)) - found[code]:
            return _within_script(sample, code)
    return _by_words(_without_code(sample), _LATIN)


def _within_script(text: str, code: str) -> str:
    """Arabic and Persian differ by letters, the Cyrillic languages by words and letters."""
    if code == "ar" and len(_PERSIAN.findall(text)) > len(_ARABIC.findall(text)):
        return "fa"
    return _by_words(text, _CYRILLIC) if code == "ru" else code


def _without_code(text: str) -> str:
    return _CODE.sub(" ", text) if "`" in text or "~~~" in text or "://" in text else text


def _by_words(text: str, languages: tuple[str, ...]) -> str:
    lowered = text.lower()
    words = _WORD.findall(lowered)
    scores: dict[str, float] = dict.fromkeys(languages, 0.0)
    known = _stop_words(languages)
    hits = 0
    for word, count in Counter(words).items():
        of = known.get(word)
        if of:
            hits += count
            share = count**0.7 / len(of) ** 0.7
            for code in of:
                scores[code] += share
    if not lowered.isascii():
        _add_letters(scores, lowered, languages)
    return _decided(scores, hits, len(words), languages)


def _add_letters(scores: dict[str, float], lowered: str, languages: tuple[str, ...]) -> None:
    special = "".join(_NOT_ASCII.findall(lowered))
    for code in languages:
        count = sum(special.count(letter) for letter in _TELLING.get(code, ""))
        scores[code] += min(count, 20) * 0.8


def _decided(scores: dict[str, float], hits: int, words: int, languages: tuple[str, ...]) -> str:
    default = _DEFAULT if _DEFAULT in languages else languages[0]
    best = max(languages, key=lambda code: scores[code])
    few = hits < _ENOUGH_WORDS and (hits < 2 or scores[best] < 3 * scores[default])
    if default == _DEFAULT and (few or hits < words * _ENOUGH_SHARE):
        return default
    if best != default and scores[best] < scores[default] * _MARGIN:
        return default
    return _NAMES.get(best, best)


@cache
def _stop_words(languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """word -> the languages that have it among their stop words."""
    found: dict[str, list[str]] = {}
    for code in languages:
        if code in LANGUAGE_MAPPING:
            for word in set(get_stop_words(code)):
                if " " not in word and (code not in ("vi", "ms") or len(word) > 1):
                    found.setdefault(word.lower(), []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}
