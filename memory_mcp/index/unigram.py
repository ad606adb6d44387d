"""The tokenizer of multilingual-e5-small: the most probable cut of a text into known pieces.

SentencePiece's unigram model. The `tokenizers` library gives the same tokens, but makes its tables
of the 250,000 pieces in 0.7 s of one core, during which no other thread runs, and 250 MB; a
dictionary of the pieces takes 0.1 s and 35 MB, and cutting a passage 1 % of embedding it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

BLANK = "\u2581"  # stands for a blank before a word; no piece has one further inside
_WORD = re.compile(rf"{BLANK}?[^{BLANK}]+|{BLANK}")
_BLANKS = re.compile(" {2,}")
_UNKNOWN_COST = 10.0  # below the least probable piece
_LONGEST_WORD = 400  # characters cut at once; a longer one is cut in parts
_WORDS = 20_000  # remembered with their tokens


class Unigram:
    """Cuts texts into tokens, without marks of beginning and end. Safe for threads."""

    def __init__(
        self,
        pieces: Mapping[str, int],
        scores: Sequence[float],
        characters: Mapping[int, str],
        unknown: int,
    ) -> None:
        """`characters` is what characters are read as, `unknown` the token of what no piece
        has."""
        self._pieces = pieces
        self._scores = scores
        self._characters = characters
        self._unknown = unknown
        self._worst = min(scores) - _UNKNOWN_COST
        self._longest = max(map(len, pieces))
        self._word = lru_cache(_WORDS)(self._cut)

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text."""
        plain = unicodedata.normalize("NFKC", text).translate(self._characters)
        marked = BLANK + _BLANKS.sub(" ", plain).removeprefix(" ").replace(" ", BLANK)
        found: list[int] = []
        for word in _WORD.findall(marked):
            for start in range(0, len(word), _LONGEST_WORD):
                found += self._word(word[start : start + _LONGEST_WORD])
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        """Viterbi: for each end the best last piece, then back from the end of the word."""
        best = [0.0] + [-float("inf")] * len(word)
        last = [(0, self._unknown)] * (len(word) + 1)
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + self._longest) + 1):
                token = self._pieces.get(word[start:end])
                if token is not None and token != self._unknown:
                    score = best[start] + self._scores[token]
                elif end == start + 1:
                    token, score = self._unknown, best[start] + self._worst
                else:
                    continue
                if score > best[end]:
                    best[end], last[end] = score, (start, token)
        found = []
        end = len(word)
        while end:
            end, token = last[end]
            found.append(token)
        return tuple(reversed(found))
