"""The things that a text names: those that memory has notes of, and new ones by their form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memory_mcp.core.language import told
from memory_mcp.core.normal_form import normal_form
from memory_mcp.core.note import Card
from memory_mcp.core.words import query_terms
from memory_mcp.curate.write.similar import OWN_KINDS
from memory_mcp.index.view import IndexView
from memory_mcp.search.rules import is_log

MOST = 5
"""Notes that a filed text is linked to."""

_LOOKED_AT = 20_000
_SHORTEST = 3
_LONGEST = 80
_LISTS = frozenset({"index", "entities", "memory", "readme"})  # pages that name everything
_WIKILINK = re.compile(r"\[\[([^\]|#\n]{1,80})(?:[|#][^\]\n]*)?\]\]")
_CALLED = re.compile(
    r"\b(?:[Pp]roject|Projekt|Firma|Herrn?|Frau|Mrs?\.|Ms\.|Dr\.)\s+([A-ZÄÖÜ][\w&+.-]*\w)"
)
_TWO_NAMES = re.compile(r"(?<=[\w,;:] )(?!Project )([A-Z][a-z]+(?: [A-Z][a-z]+){1,2})\b")


def mentioned(index: IndexView, text: str, most: int = MOST) -> tuple[str, ...]:
    """References of the notes of inbox and wiki whose title, name or alias stands in a text as
    whole words, written as there; the longest names first."""
    head = normal_form("NFC", text[:_LOOKED_AT])
    own = {source.id for source in index.sources if source.kind in OWN_KINDS}
    found: dict[str, int] = {}
    for entry in index.entries(own):
        card = entry.card
        if is_log(card.path) or card.path.rpartition("/")[2].casefold() in _LISTS:
            continue
        fitting = [name for name in _names(card) if stands_in(name, head)]
        if fitting:
            found[card.reference] = max(map(len, fitting))
    return tuple(sorted(found, key=lambda reference: (-found[reference], reference))[:most])


def named(text: str, most: int) -> tuple[str, ...]:
    """Names of things that a text names by its form: links, titles of address, a project's name,
    and in what is surely English two names in a row in mid-sentence."""
    head = normal_form("NFC", text[:_LOOKED_AT])
    patterns = [_WIKILINK, _CALLED, *([_TWO_NAMES] if told(head) == "en" else [])]
    names = (match[1].rpartition("/")[2].strip() for p in patterns for match in p.finditer(head))
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.casefold(), name)
    return tuple(name for name in _without_parts(kept.values()))[:most]


def stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text as whole words, in its own spelling."""
    if name not in text:
        return False
    before = r"(?<!\w)" if name[0].isalnum() else ""
    after = r"(?![\w+#])" if name[-1].isalnum() else r"(?!\w)"
    return re.search(before + re.escape(name) + after, text) is not None


def _names(card: Card) -> Iterator[str]:
    """The names of a note that are names: with a capital or a digit, and no bare stop words."""
    for name in (card.title, card.name, *card.aliases):
        if name is None or not _SHORTEST <= len(name) <= _LONGEST or not query_terms(name):
            continue
        if any(letter.isupper() or letter.isdigit() for letter in name):
            yield normal_form("NFC", name)


def _without_parts(names: Iterable[str]) -> Iterator[str]:
    """The names that are no part of another one."""
    every = list(names)
    for name in every:
        if not any(name != other and stands_in(name, other) for other in every):
            yield name
