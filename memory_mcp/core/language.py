"""The language of a text: by its script, and within a script by a model of letter sequences.

A script that one language writes needs no model. Latin, Cyrillic, Arabic and Devanagari go to
py3langid (naive Bayes over byte sequences, Lui and Baldwin 2011; its model is in the package),
which is loaded with the first text that needs it: 0.6 s, 57 MB.
"""

from __future__ import annotations

import re
from functools import cache
from threading import Lock
from typing import Protocol

from memory_mcp.core.languages import LANGUAGES

DEFAULT = "en"
"""What a text counts as that does not tell: names, a word, code."""
SURE = 0.5
"""Confidence from which the model is believed. Of 6,500 texts in 41 languages (pages, messages,
half sentences, pages full of English terms) 97 % are right at .5, .6 % come out as a third
language, the others as English; of forty lists of names and technical words none is taken for
another language (at 0 twenty-eight are)."""

_READ = 4_000  # characters of a note that are looked at
_SAMPLE = 1_500  # of them that the model reads: 0.3 ms; more changes nothing
_WORD = re.compile(r"[^\W\d_]{2,}")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
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
_SHARED = {
    "ru": frozenset(["ru", "uk", "bg", "sr"]),
    "ar": frozenset(["ar", "fa"]),
    "hi": frozenset(["hi", "ne", "sa"]),
}
"""Scripts of several languages, by the one that stands for the script above."""
_ONE_SCRIPT = frozenset(["el", "gu", "he", "hy", "ja", "ko", "ta", "th", "yi", "zh"])
_LATIN = frozenset(LANGUAGES) - _ONE_SCRIPT - frozenset().union(*_SHARED.values()) | {"sr"}
# What the model tells apart and stemmers do not.
_SAME = {"nn": "no", "hr": "sr", "bs": "sr", "ms": "id"}
_LOADING = Lock()


class _Model(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...


def detect(text: str) -> str:
    """ISO 639-1 code of the language of a text; "en" where it is short or undecided."""
    read = text[:_READ]
    sample = _without_code(read)[:_SAMPLE]
    script = _script(read)
    if script is None:
        return _latin(sample)
    return _best(sample, _SHARED[script])[0] if script in _SHARED else script


def _script(text: str) -> str | None:
    """The language that stands for the script of a text; None where that is Latin."""
    special = "" if text.isascii() else "".join(_NOT_ASCII.findall(text))
    found = {code: len(pattern.findall(special)) for code, pattern in _SCRIPTS} if special else {}
    if not found or not max(found.values()):
        return None
    if found["ja"] * 8 > found["zh"]:  # Japanese has Han too, Chinese has no kana
        found["ja"] += found["zh"]
    code = max(found, key=lambda name: found[name])
    weight = 6 if code in ("zh", "ja", "ko") else 2  # one character is a syllable or a word
    return code if found[code] * weight > sum(map(str.isalpha, text)) - found[code] else None


def _latin(text: str) -> str:
    if text.isascii() and len(_WORD.findall(text)) < 2:  # a single word is most often a name
        return DEFAULT
    code, confidence = _best(text, _LATIN)
    return code if confidence >= SURE else DEFAULT


def _best(text: str, languages: frozenset[str]) -> tuple[str, float]:
    """The likeliest of some languages, and its probability among all that the model knows."""
    chances = dict.fromkeys(sorted(languages), 0.0)
    for label, chance in _model().rank(text):
        code = _SAME.get(label, label)
        if code in chances:
            chances[code] += chance
    code = max(chances, key=lambda name: chances[name])
    return code, chances[code]


def _without_code(text: str) -> str:
    return _CODE.sub(" ", text) if "`" in text or "~~~" in text or "://" in text else text


def _model() -> _Model:
    with _LOADING:  # notes are read on several threads; one of them loads
        return _loaded()


@cache
def _loaded() -> _Model:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # 20 ms that no start may pay

    known = LanguageIdentifier.from_model_file(MODEL_FILE)
    known.set_languages((frozenset(LANGUAGES) | _SAME.keys()) & set(known.labels))
    # Made anew from its parts, since the first one keeps its hundred other languages (20 MB).
    model: _Model = LanguageIdentifier(
        known.nb_ptc,
        known.nb_pc,
        known.nb_classes,
        known.tk_nextmove,
        known.tk_output,
        norm_probs=True,
        tk_row=known.tk_row,
    )
    return model
