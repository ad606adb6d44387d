"""The ranking rules: small functions of one note or passage, each neutral at 0 (added) or 1
(factor)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from memory_mcp.core.note import Card, Passage
from memory_mcp.core.words import content_words, terms
from memory_mcp.search.dates import Day, agreement, fullest

NOTE_WEIGHT = 0.5
"""Of the whole note's BM25 (best note = 1), by the share that words have: where they miss the
question, those of the whole note are no better."""
PAIR_WEIGHT = 0.2
"""Share of the question's word pairs that a passage has. A weight of .4 was no better."""
DATE_WEIGHT = 0.2
"""A question that names a month or day, against the date of the note."""
BESIDE_WEIGHT = 0.05
"""Of the score of the passages next to it: what answers often goes on in the next one. On LoCoMo
(pool): T@1500 +.7 points."""
NEXT_WEIGHT = 0.3
"""Share of the way up to the best passage of its note for one next to that, where the answer goes
on; notes keep their order. Of .1, .2, .3 and .5 chosen on the conversations of LoCoMo that were
tuned on (T@500 73.6 -> 74.8, T@1500 85.9 -> 86.7); held out 72.9 -> 74.5 and 88.0 -> 90.1."""
ADJOINING = 3
"""Lines between two passages that still stand next to each other: a blank one and a heading."""
LEAD = 0.25
"""Exponent on the factors of sources, logs and replaced notes: a lead among notes that answer as
well, which does not carry a note past one that answers better. Chosen on the odd half of the
golden set, MRR of the even half 81.1 -> 86.2; 1 is the plain factor, .5 is 1.8 points behind."""
NAME_LEAD = 0.5
"""The same for a note whose name is in the question, which says more."""
SUPPORTED_FROM = 0.5
"""Share of the best passage's score that a further passage must reach to support it."""
SUPPORTERS = 2
SUPERSEDED = 0.5
"""Factor on a note that another one replaces: still found, behind what is true now."""
TITLE_WORDS = 4
"""A longer title is a sentence that shares words with many questions: only its full text is a
name."""

_LOG_FOLDERS = frozenset(
    {"log", "logs", "journal", "journals", "changelog", "changelogs", "diary", "daily"}
)
_LOG_STEM = re.compile(
    r"(?:19|20)\d\d(?:[-_.](?:w|q)?\d\d?){1,2}$|(?:change)?logs?$|journal$", re.IGNORECASE
)
_CHRONICLE_WORDS = """
when log logs logged logbook journal diary history changelog change changes changed created
added updated deleted removed moved renamed promoted merged happened today yesterday
wann protokoll tagebuch chronik geändert änderung änderungen erstellt angelegt
hinzugefügt aktualisiert gelöscht entfernt verschoben umbenannt passiert heute gestern
"""
_CHRONICLE = frozenset(_CHRONICLE_WORDS.split())
_WORD = re.compile(r"\w+")
_APART = re.compile(r"[\W_]+")


LISTS = frozenset({"wiki/index", "wiki/entities"})
"""Pages that list the other pages."""


def asks_for_chronicle(text: str, days: Collection[Day]) -> bool:
    """Whether a question is about a change, a date or the log itself."""
    return bool(days) or not _CHRONICLE.isdisjoint(_WORD.findall(text.casefold()))


def is_log(path: str) -> bool:
    """Whether a path belongs to a chronicle: a log or journal folder or file, or a date as its
    name."""
    *folders, stem = path.casefold().split("/")
    return not _LOG_FOLDERS.isdisjoint(folders) or _LOG_STEM.match(stem) is not None


@dataclass(frozen=True, slots=True)
class Naming:
    """How far a question names a note."""

    some: bool = False
    """A word of the note's slug, name, alias or short title is in the question (a number is
    none)."""
    full: bool = False
    """All words of one of them, two or more, are."""


NameWords = tuple[tuple[bool, tuple[str, ...]], ...]
"""For each word of a name: whether it is a number, and the terms that stand for it. Tuples all
through: garbage collection does not look into them."""
_UNNAMED = Naming()


@dataclass(frozen=True, slots=True)
class Names:
    """What a note is called, in terms of its language."""

    each: tuple[NameWords, ...]
    every: frozenset[str]
    """All terms of all names."""

    def naming(self, forms: Set[str]) -> Naming:
        """How far a question with these word forms says one of the names."""
        return next(namings([self], forms))

    def compared(self, forms: Set[str]) -> Naming:
        """The same, where the two have a word in common."""
        some = full = False
        for words in self.each:
            asked = [not number for number, own in words if not forms.isdisjoint(own)]
            some |= any(asked)
            full |= len(words) > 1 and len(asked) == len(words)
        return Naming(some or full, full)


def namings(names: Iterable[Names], forms: Set[str]) -> Iterator[Naming]:
    """How far a question with these word forms says the names of each of many notes; most have
    not a word of it."""
    return (_UNNAMED if one.every.isdisjoint(forms) else one.compared(forms) for one in names)


def naming(forms: Set[str], card: Card) -> Naming:
    """Compare the question's word forms with the note's names, in the note's language."""
    return names_of(card).naming(forms)


def names_of(card: Card) -> Names:
    """What a note is called: slug, name, short title, aliases."""
    return _named(tuple(_names(card)), card.language)


@lru_cache(maxsize=20_000)  # the same notes are asked about again and again
def _named(names: tuple[str, ...], language: str) -> Names:
    each = tuple(_name_words(name, language) for name in names)
    return Names(each, frozenset(one for words in each for _, own in words for one in own))


def _name_words(name: str, language: str) -> NameWords:
    words = content_words(_APART.sub(" ", name), (language,))
    return tuple((word.isdigit(), tuple(terms(word, language))) for word in words)


def _names(card: Card) -> Iterable[str]:
    yield card.path.rpartition("/")[2]
    if card.name:
        yield card.name
    if len(card.title.split()) <= TITLE_WORDS:
        yield card.title
    yield from card.aliases


def date_match(days: Collection[Day], card: Card, passage: Passage) -> float:
    """How well the date of a passage or note fits those that a question names; 0 without any."""
    if not days:
        return 0.0
    noted = _noted(card, passage)
    return max(agreement(day, noted) for day in days) if noted else 0.0


def _noted(card: Card, passage: Passage) -> Day | None:
    """From the heading trail, the name, the title or the header, whichever says it first."""
    stated = (passage.heading, card.path.rpartition("/")[2], card.title, card.created or "")
    return next((day for text in stated if (day := fullest(text))), None)


def page_support(best: float, others: Sequence[float], share: float) -> float:
    """What the next two passages of a note add to its best: `share` of those that reach half of
    it."""
    return share * sum(other for other in others[:SUPPORTERS] if other >= SUPPORTED_FROM * best)
