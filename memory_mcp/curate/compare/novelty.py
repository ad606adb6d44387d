"""What a text says that another does not: the same, something new, a contradiction, nothing near.

The answer "same" lets a text be dropped. It is given only where every sentence of the text is
there with the same words, values and signs (`sentences.agree`); how like the texts are to a model
can only forbid it. A repetition in other words is called "new": that costs tidiness, no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memory_mcp.core.fold import spelled_out
from memory_mcp.core.language import told
from memory_mcp.core.saying import saying
from memory_mcp.core.stem import stems
from memory_mcp.core.stopwords import stop_words
from memory_mcp.curate.compare.concrete import Token, concrete, tokens
from memory_mcp.curate.compare.lexicon import NEGATIONS
from memory_mcp.curate.compare.sentences import Part, Sentence, agree, sentences

__all__ = ["Novelty", "compare", "concrete", "missing"]

Kind = Literal["same", "new", "contradiction", "unrelated"]

LEAST_LIKE = 0.5
"""Cosine below which two texts are never the same."""
NEAR = 0.65
"""Cosine from which texts that share few words have one subject."""
SHARED = 0.4
"""Share of the shorter text's words from which two texts have one subject."""
REPLACED = 0.5
"""Share of a sentence's words up to which others in their place are another value of the same."""

_MOST = 50  # sentences of each text that are looked at for another value
_CACHED = 20_000  # words
_RECENT = 512  # sentences
_LANGUAGES = ("en", "de")
_NEGATIONS = frozenset(spelled_out(word) for word in NEGATIONS)
_NOT = "\0not"  # one for all words of denial


@dataclass(frozen=True, slots=True)
class Novelty:
    """How a new text stands to one that is held."""

    kind: Kind
    likeness: float
    """The cosine of the two, as it was given."""
    missing: tuple[str, ...]
    """Values and words of the new text that the old one lacks, as they are written."""
    excerpt: str
    """The sentence of the old text that comes nearest."""


def missing(text: str, *held: str) -> tuple[str, ...]:
    """The values, names, identifiers, denials and content words of a text that none of the held
    texts has, as they are written, each once. Words count in any of their forms."""
    code = _language(text, *held)
    known = frozenset[str]().union(
        *(_keys(token) for one in held for token in tokens(one, told(one) or code))
    )
    found = [token for token in tokens(text, told(text) or code) if _counts(token)]
    return tuple(dict.fromkeys(token.text for token in found if not _keys(token) & known))


def compare(new: str, old: str, likeness: float) -> Novelty:
    """How a new text stands to an old one; `likeness` is their cosine, 0 where there is none."""
    lacking = missing(new, old)
    wanted = saying(new)
    code = _language(new, old)
    ours = sentences(new, told(new) or code)
    theirs = sentences(old, told(old) or code)
    about = frozenset[str]().union(*map(_words, ours))
    near = sorted(theirs, key=lambda one: -len(about & _words(one)))
    excerpt = near[0].text if near else ""
    if wanted and wanted == saying(old):
        return Novelty("same", likeness, (), excerpt)
    like_enough = likeness == 0 or likeness >= LEAST_LIKE
    if not lacking and like_enough and agree(ours, theirs):
        return Novelty("same", likeness, (), excerpt)
    return Novelty(_other(ours, near, likeness), likeness, lacking, excerpt)


def _language(*texts: str) -> str:
    """The language of the first text that tells."""
    return next((code for text in texts if (code := told(text))), "")


def _counts(token: Token) -> bool:
    """Whether a reader would miss it."""
    if token.kind == "break":
        return False
    return token.is_concrete or not _is_stop(token.value)


def _keys(token: Token) -> frozenset[str]:
    """By what a token is found in another text."""
    if token.value in _NEGATIONS:
        return frozenset([_NOT])
    if token.kind != "word":
        return frozenset([token.value])
    return _forms(token.value)


@lru_cache(_RECENT)
def _words(sentence: Sentence) -> frozenset[str]:
    """What a sentence is about, in forms that meet."""
    return _content(sentence.words)


def _content(words: frozenset[str]) -> frozenset[str]:
    return frozenset(_subject(word) for word in words if not _is_stop(word))


@lru_cache(_CACHED)
def _subject(word: str) -> str:
    return stems(word, "en")[0]


@lru_cache(_CACHED)
def _is_stop(word: str) -> bool:
    return any(word in stop_words(code) for code in _LANGUAGES)


@lru_cache(_CACHED)
def _forms(word: str) -> frozenset[str]:
    return frozenset(form for code in _LANGUAGES for form in stems(word, code))


def _other(ours: Sequence[Sentence], theirs: Sequence[Sentence], likeness: float) -> Kind:
    """Which of the three answers that keep a text it is: only what is said about it differs.
    `theirs` come with the nearest first."""
    new = frozenset[str]().union(*map(_words, ours))
    old = frozenset[str]().union(*map(_words, theirs))
    shared = len(new & old) / max(1, min(len(new), len(old)))
    if shared < SHARED and likeness < NEAR:
        return "unrelated"
    if any(_contradicts(one, theirs[:_MOST]) for one in ours[:_MOST]):
        return "contradiction"
    return "new"


def _contradicts(one: Sentence, theirs: Sequence[Sentence]) -> bool:
    """Whether a sentence says something else in place of what the nearest of the others says."""
    other = max(theirs, key=lambda item: len(one.words & item.words), default=None)
    if other is None or not one.words & other.words:
        return False
    if any(_denies(part, other) for part in one.parts):
        return True
    if any(_denies(part, one) for part in other.parts):
        return True
    gone, come = other.words - one.words, one.words - other.words
    if not gone and not come:
        return _values(one) != _values(other)
    kept = len(_words(one) & _words(other))
    replaced = max(len(_words(one) - _words(other)), len(_words(other) - _words(one)))
    return bool(gone and come) and kept > 0 and replaced <= REPLACED * (kept + replaced)


def _denies(part: Part, other: Sentence) -> bool:
    """Whether a part denies what a sentence without any denial says."""
    if other.words & _NEGATIONS:
        return False
    values = frozenset(word for item in part for word in (item.value, *item.binder.split()))
    said = _content(values)
    return bool(values & _NEGATIONS) and 2 * len(said & _words(other)) > len(said)


def _values(sentence: Sentence) -> list[str]:
    """What may not change places: names, values, and in German all nouns."""
    found = (item for part in sentence.parts for item in part)
    return [item.value for item in found if item.kind != "word" or item.capital]
