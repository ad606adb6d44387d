"""Names of pages that stand in other pages without a link. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_mcp.core.inline import silence
from memory_mcp.core.links import body_links
from memory_mcp.core.words import query_terms
from memory_mcp.curate.lucid.pages import Page
from memory_mcp.curate.lucid.rules import found
from memory_mcp.curate.review.findings import Finding
from memory_mcp.index.labels import fold

_WORD = re.compile(r"\w[\w'’-]*\w|\w")
_SHORTEST = 4
_LONGEST_WORDS = 6
_PER_PAGE = 3
_MOST_PAGES = 0.05
"""Share of the pages that may say a name before it is a word like any other."""
_FEW_PAGES = 5


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A name in the text of a page that another page has, and the line it stands on."""

    finding: Finding
    path: str
    name: str
    line: str
    to: str


def unlinked(pages: Sequence[Page]) -> Iterator[Unlinked]:
    """The first places on each page where other pages are named in full and nowhere linked."""
    written = [page for page in pages if not page.own]
    texts = {page.reference: [bare(text) for text in page.texts] for page in written}
    names = _names(written)
    common = _common(texts)
    hits: list[tuple[Page, Page, str, str]] = []
    for page in written:
        taken: set[str] = {led.to or "" for led in page.led} | {page.reference}
        for target, name, line in _named(texts[page.reference], names):
            if target.reference not in taken:
                taken.add(target.reference)
                hits.append((page, target, name, line))
    spread = Counter(target.reference for _, target, _, _ in hits)
    most = max(_FEW_PAGES, int(len(written) * _MOST_PAGES))
    for page, target, name, line in hits:
        if spread[target.reference] > most or name in common:
            continue
        reason = f"{page.reference} names {target.reference} (“{name}”) and does not link to it."
        key = [page.reference, target.reference, name]
        finding = found("missing_link", page.reference, reason, key, [target.reference])
        yield Unlinked(finding, page.card.path, name, line, target.reference)


def few_of_a_page(found_names: Iterable[Unlinked]) -> Iterator[Unlinked]:
    """Those that one pass tells of."""
    per_page: Counter[str] = Counter()
    for one in found_names:
        per_page[one.path] += 1
        if per_page[one.path] <= _PER_PAGE:
            yield one


def bare(text: str) -> str:
    """The text without code, links and headings: of the same length."""
    quiet = silence(text)
    parts: list[str] = []
    at = 0
    for start, end, _ in sorted(body_links(quiet), key=lambda link: link[0]):
        parts += (quiet[at:start], " " * (end - max(at, start)))
        at = max(at, end)
    return "".join([*parts, quiet[at:]])


def _names(pages: Sequence[Page]) -> Mapping[str, list[tuple[tuple[str, ...], str, Page]]]:
    """By their first word, the names that mean one page only."""
    owners: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        for name in page.names:
            owners[fold(name)].add(page.reference)
    found_names: dict[str, list[tuple[tuple[str, ...], str, Page]]] = defaultdict(list)
    for page in pages:
        if page.superseded_by is not None:
            continue
        for name in page.names:
            words = tuple(_WORD.findall(name))
            if len(owners[fold(name)]) == 1 and _is_name(name, words):
                found_names[words[0]].append((words, name, page))
    for some in found_names.values():
        some.sort(key=lambda item: -len(item[0]))
    return found_names


def _is_name(name: str, words: tuple[str, ...]) -> bool:
    capital = any(char.isupper() or char.isdigit() for char in name)
    short = len(name) < _SHORTEST or not 1 <= len(words) <= _LONGEST_WORDS
    return capital and not short and bool(query_terms(name))


def _common(texts: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Single words, with a capital, that the wiki also uses in small letters."""
    small = {
        word
        for some in texts.values()
        for text in some
        for word in _WORD.findall(text)
        if word.islower()
    }
    return frozenset(word.capitalize() for word in small)


def _named(
    texts: Sequence[str], names: Mapping[str, list[tuple[tuple[str, ...], str, Page]]]
) -> Iterator[tuple[Page, str, str]]:
    for text in texts:
        for line in text.split("\n"):
            if line.lstrip().startswith("#"):
                continue
            words = _WORD.findall(line)
            for place, word in enumerate(words):
                for own, name, page in names.get(word, ()):
                    if tuple(words[place : place + len(own)]) == own and name in line:
                        yield page, name, line
                        break
