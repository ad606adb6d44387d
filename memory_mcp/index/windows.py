"""What of a long question is embedded: its two ends by themselves, and windows of the whole.

An agent may put a pasted document before or after its question. A mean over all of it would drown
the question, so the first and the last sentence or line count as much as the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from memory_mcp.core.ports import Vectors
from memory_mcp.index.unit import mean_direction

LONGEST = 40_000
"""Characters of one text that are looked at: more than any model reads."""
_WINDOW_TOKENS = 200  # so that a window never fills a model of 256
_EDGE_TOKENS = 48  # a question is rarely longer
_WINDOWS = 6  # of the whole: half of them from its beginning, half from its end
_BREAK = re.compile(r"\n|(?<=[.!?。！？])\s+")


def question_vector(
    text: str,
    most: int,
    count: Callable[[str], int],
    embed: Callable[[Sequence[str]], Vectors],
) -> Vectors:
    """The unit vector of a question, shape (dimension,).

    Of a text of more than `most` tokens the first sentence, the last sentence and the mean of its
    windows count alike, since a question stands before or after a pasted document. Of very long
    texts the middle is left out.
    """
    if len(text) > 2 * LONGEST:
        text = text[:LONGEST] + text[-LONGEST:]
    tokens = count(text)
    if tokens <= most:
        vector: Vectors = embed([text])[0]
        return vector
    first, pieces, last = windows(text, tokens)
    vectors = embed([first, last, *pieces])
    return mean_direction(np.stack([*vectors[:2], mean_direction(vectors[2:])]))


def windows(text: str, tokens: int) -> tuple[str, list[str], str]:
    """(first sentence, windows of the whole, last sentence) of a text of so many tokens."""
    size = max(1, len(text) * _WINDOW_TOKENS // tokens)
    edge = max(1, len(text) * _EDGE_TOKENS // tokens)
    pieces = [piece for piece in _cut(text, size) if piece.strip()]
    if len(pieces) > _WINDOWS:
        pieces = [*pieces[: _WINDOWS // 2], *pieces[-_WINDOWS // 2 :]]
    return _first(text.strip(), edge), pieces, _last(text.strip(), edge)


def _cut(text: str, size: int) -> list[str]:
    """Pieces of about `size` characters, cut at blanks where there are any."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = start + size
        blank = text.rfind(" ", start + size // 2, end)
        end = blank if blank != -1 and end < len(text) else end
        pieces.append(text[start:end])
        start = end
    return pieces


def _first(text: str, size: int) -> str:
    head = text[:size]
    found = _BREAK.search(head, 2)
    return head[: found.start()] if found else head


def _last(text: str, size: int) -> str:
    tail = text[-size:]
    breaks = list(_BREAK.finditer(tail))
    return tail[breaks[-1].end() :] if breaks else tail
