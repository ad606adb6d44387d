"""Compounds written in one word, taken apart into words that notes have (Ersatzschlüssel)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from memory_mcp.core.stem import stems

COMPOUNDING = frozenset(["da", "de", "et", "fi", "hu", "nl", "no", "sv"])
"""Languages that write compounds in one word."""
SHORTEST_PART = 4
"""Letters of a part; shorter ones are found in any word by chance."""
_LINKS = {
    "da": ("s", "e"),
    "de": ("s", "es", "n", "en", "er", "e"),
    "nl": ("s", "e", "en"),
    "no": ("s", "e"),
    "sv": ("s", "o"),
}
"""What a language puts between the parts."""


def parts(
    word: str, languages: Collection[str], known: Callable[[str], bool]
) -> tuple[tuple[str, ...], ...]:
    """The two parts of a compound, each as the index forms it has in notes; empty where there is
    no cut at which notes have both. `word` is casefolded with its accents; `known` tells whether
    notes have a form. Of several cuts the one with the longest last part is taken: it names the
    thing (Haftpflicht-versicherung)."""
    for cut in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
        for language in sorted(COMPOUNDING.intersection(languages)):
            first = _forms(_unlinked(word[:cut], language), language, known)
            last = _forms([word[cut:]], language, known)
            if first and last:
                return first, last
    return ()


def _unlinked(head: str, language: str) -> list[str]:
    """A first part with and without the letters that link it."""
    bare = [head.removesuffix(link) for link in _LINKS.get(language, ()) if head.endswith(link)]
    return [part for part in (head, *bare) if len(part) >= SHORTEST_PART]


def _forms(
    spellings: Collection[str], language: str, known: Callable[[str], bool]
) -> tuple[str, ...]:
    found = (form for text in spellings for form in stems(text, language) if known(form))
    return tuple(dict.fromkeys(found))
