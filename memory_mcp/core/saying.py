"""What a text says, to tell a repetition from news."""

from __future__ import annotations

import re

from memory_mcp.core.normal_form import normal_form

_HASHES = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.M)
_QUOTES = "\"'“”„‘’«»"
_SENTENCE = ".,;:!…。、！"
_EMPHASIS = ("**", "__", "*", "_")
_SHORTEST = 3


def saying(text: str) -> tuple[str, ...]:
    """The words of a text with all signs that can mean something: equal where texts say the same.

    Line breaks, heading marks, emphasis, quotes and the punctuation of sentences do not count, nor
    does the case of plain words. All else does: `-5` is not `5`, `!=` not `==`, one symbol not
    another, and an address not another address.
    """
    composed = normal_form("NFC", text)
    words = [word for run in _HASHES.sub("", composed).split() if (word := _bare(run))]
    if all(word.isalpha() or word.isdigit() for word in words):
        return tuple(word.casefold() if len(word) >= _SHORTEST else word for word in words)
    return tuple(words)


def _bare(run: str) -> str:
    """A run without blanks, without what sets it off from its neighbours."""
    word = run.strip(_QUOTES).rstrip(_SENTENCE + _QUOTES)
    for mark in _EMPHASIS:
        if len(word) > 2 * len(mark) and word.startswith(mark) and word.endswith(mark):
            return word[len(mark) : -len(mark)].rstrip(_SENTENCE)
    return word
