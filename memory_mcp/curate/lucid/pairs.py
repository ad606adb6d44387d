"""Passages of different pages that may say the same, or the opposite: found by rare words that
both have, then compared. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from memory_mcp.core.stopwords import stop_words
from memory_mcp.core.words import terms
from memory_mcp.curate.compare.concrete import tokens
from memory_mcp.curate.compare.novelty import compare
from memory_mcp.curate.lucid.pages import Page

MOST = 200
"""Pairs that are compared in a pass, the likeliest first: some seconds of a worker thread."""

_RARE = 12
"""Passages that may have a word for it to say that two belong together."""
_SHARED = 2
_SHARE = 0.4
_LONGEST = 4_000  # characters of a passage


@dataclass(frozen=True, slots=True)
class Side:
    """A passage of a page, and its point in the index."""

    page: Page
    text: str
    point: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two passages. `kind` is set where they were compared; the sentences are what it rests on."""

    one: Side
    other: Side
    kind: str = ""
    sentence: str = ""
    other_sentence: str = ""


def candidates(pages: Sequence[Page], most: int = MOST) -> list[Pair]:
    """The pairs of passages that share most of their rare words, the likeliest first."""
    sides = [
        Side(page, text, point)
        for page in pages
        if not page.own and page.superseded_by is None
        for text, point in zip(page.texts, page.points, strict=True)
        if len(text) <= _LONGEST
    ]
    known = [_terms(side.text, side.page.card.language) for side in sides]
    having: dict[str, list[int]] = defaultdict(list)
    for number, some in enumerate(known):
        for term in some:
            having[term].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in having.values():
        if 2 <= len(numbers) <= _RARE:
            shared.update(combinations(numbers, 2))
    scored = [
        (count / max(1, min(len(known[one]), len(known[other]))), one, other)
        for (one, other), count in shared.items()
        if count >= _SHARED and sides[one].page is not sides[other].page
    ]
    best = sorted((item for item in scored if item[0] >= _SHARE), key=lambda item: -item[0])
    return [Pair(sides[one], sides[other]) for _, one, other in best[:most]]


def compared(pairs: Sequence[Pair], likeness: Mapping[tuple[int, int], float]) -> Iterator[Pair]:
    """Those of the pairs that say the same, or contradict each other on one subject."""
    for pair in pairs:
        like = likeness.get((pair.one.point, pair.other.point), 0.0)
        forth = compare(pair.one.text, pair.other.text, like)
        if forth.kind not in ("same", "contradiction"):
            continue
        back = compare(pair.other.text, pair.one.text, like)
        made = replace(pair, kind=forth.kind, sentence=back.excerpt, other_sentence=forth.excerpt)
        if forth.kind == "same" or _one_subject(made):
            yield made


def _one_subject(pair: Pair) -> bool:
    """Whether two sentences speak of one thing: one page is about what the other says, or both
    name it. "Lives in Graz" of two people is no contradiction."""
    one, other = _title(pair.one.page), _title(pair.other.page)
    if one <= other | _terms(pair.other_sentence) or other <= one | _terms(pair.sentence):
        return True
    return bool(_names(pair.sentence) & _names(pair.other_sentence))


def _title(page: Page) -> frozenset[str]:
    return _terms(page.card.title) or frozenset([page.reference])


def _terms(text: str, *languages: str) -> frozenset[str]:
    return frozenset(
        form for code in languages or ("en", "de") for form in terms(text, code)
    ) - stop_words("en")


def _names(sentence: str) -> frozenset[str]:
    found = [token for token in tokens(sentence) if token.kind != "break"]
    return frozenset(
        token.value
        for place, token in enumerate(found)
        if place and (token.is_capital or token.kind in ("name", "code"))
    )
