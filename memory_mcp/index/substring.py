"""Terms that hold a part anywhere: looked for in one long text of all of them."""

from __future__ import annotations

from collections.abc import Iterable


def joined(terms: Iterable[str]) -> str:
    """All terms as the text that `holding` looks through; no term has a line break in it."""
    return "\n".join(["", *terms, ""])


def holding(text: str, part: str) -> list[str]:
    """The terms of a `joined` text that hold `part`, each once."""
    found = []
    place = text.find(part)
    while place > 0:
        end = text.index("\n", place)
        found.append(text[text.rindex("\n", 0, place) + 1 : end])
        place = text.find(part, end)
    return found
