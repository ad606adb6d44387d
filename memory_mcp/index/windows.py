"""What of a long question is embedded: its two ends by themselves, and windows of the whole.

An agent may put a pasted document before or after its question. A mean over all of it would drown
the question, so the first and the last sentence or line count as much as the document.
"""

from __future__ import annotations

import re

_WINDOW_TOKENS = 200  # so that a window never fills a model of 256
_EDGE_TOKENS = 48  # a question is rarely longer
_WINDOWS = 6  # of the whole: half of them from its beginning, half from its end
_BREAK = re.compile(r"\n|(?<=[.!?。！？])\s+")


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
