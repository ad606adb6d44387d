"""What a question asks: the text that is embedded, its words and pairs, its dates, its subject."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memory_mcp.core.compound import COMPOUNDING, parts
from memory_mcp.core.errors import InputError
from memory_mcp.core.language import told
from memory_mcp.core.words import QueryTerm, query_terms
from memory_mcp.search.context import Context
from memory_mcp.search.dates import Day, find
from memory_mcp.search.rules import asks_for_chronicle

MAX_TERMS = 64
"""Words of a question that count. Only pastes have more; BM25 costs 1.5 ms for 20 at 100,000
passages."""
LONG = 1_000
"""Characters from which a text is a paste with a question in it; models read about that much."""
HEAD, TAIL = 300, 600
"""What is embedded of a long text without a question mark: how it begins, and more of how it
ends."""
SHORTEST_QUESTION, LONGEST_QUESTION = 3, 400
"""Characters of one question sentence in a paste."""
PART_OF_KNOWN = 0.1
"""Weight of an identifier's parts where a note has it whole: KON-0262 hardly answers KON-0261."""
LONG_PART = 5
"""Letters from which a word inside another one is hardly there by chance."""
MAX_COMPOUNDS = 20
MAX_BEFORE = 12
"""Words of what was said before that count, the rarest first."""
MAX_SCANNED = 200_000
"""Characters of a paste in which a question is looked for, half from each end."""
MAX_READ = 40_000
"""Characters of a paste whose words are looked at, half from each end: 0.1 s of the event loop."""

_STOP = re.compile(r"[.!?。！？\n\r]")
_AFTER_MARK = frozenset("\"'»”)]")


@dataclass(frozen=True, slots=True)
class Focus:
    """The part of a text that asks, and the rest of it."""

    text: str
    rest: str = ""


@dataclass(frozen=True)
class Query:
    """A question as the ranking sees it."""

    text: str
    """What is embedded."""
    asked: tuple[QueryTerm, ...]
    """Words that ask: they decide coverage, names and pairs."""
    beside: tuple[QueryTerm, ...]
    """Words of a paste beside the question: BM25 looks for them too."""
    masses: tuple[float, ...]
    """Idf of each term of `asked`, then of `before`, in coverage; 0 where it does not count on its
    own."""
    days: tuple[Day, ...]
    chronicle: bool
    """Whether it is about a change, a date or a log."""
    language: str | None = None
    """Its language; None where it does not tell."""
    before: tuple[QueryTerm, ...] = ()
    """Words of what was said before: BM25 and coverage count them with `weight`."""
    weight: float = 0.0

    @property
    def terms(self) -> tuple[QueryTerm, ...]:
        """Words that BM25 looks for, at most 64."""
        return (*self.asked, *self.beside)

    @property
    def counted(self) -> tuple[QueryTerm, ...]:
        """Words that decide coverage, in the order of `masses`."""
        return (*self.asked, *self.before)

    @cached_property
    def forms(self) -> frozenset[str]:
        """All index terms that answer a word that asks, or one said before."""
        return frozenset(form for term in self.counted for form in term.forms)

    @property
    def is_word(self) -> bool:
        """Whether a single word asks."""
        return sum(not term.part for term in self.asked) == 1

    @cached_property
    def identifiers(self) -> list[int]:
        """Places in `asked` of identifiers with a number: ticket, version, date."""
        return [
            place
            for place, term in enumerate(self.asked)
            if term.whole and any(map(str.isdigit, term.text))
        ]


def check(text: str) -> str:
    """The text of a question without what no question has. InputError where nothing is left."""
    whole = text.encode("utf-8", "ignore").decode()  # half a letter is none, and fails the models
    cleaned = whole.replace("\0", " ").strip()
    if not cleaned:
        raise InputError("The query is empty. Ask a question or give the words to look for.")
    return cleaned


def focus(text: str) -> Focus:
    """Where a text is longer than a question, the part of it that asks.

    That is its first and its last sentence with a question mark; without any, its beginning and
    its end. A document pasted before or after a question must not drown it.
    """
    if len(text) <= LONG:
        return Focus(text)
    asked = _questions(_ends(text, MAX_SCANNED))
    kept = " ".join(asked) if asked else f"{text[:HEAD]}\n{text[-TAIL:]}"
    return Focus(kept, _ends(text, MAX_READ))


def _questions(text: str) -> list[str]:
    """The first and the last sentence with a question mark; of a long one its end. One pass: the
    time grows with the length alone, whatever the text is made of."""
    found: list[str] = []
    begin = 0
    for stop in _STOP.finditer(text):
        mark = stop.start()
        if _asks(text, mark):
            sentence = text[max(begin, mark - LONGEST_QUESTION) : mark + 1].strip()
            if len(sentence) > SHORTEST_QUESTION:
                found[1:] = [sentence]
        begin = stop.end()
    return list(dict.fromkeys(found))


def _asks(text: str, place: int) -> bool:
    """Whether a sentence ends here with a question mark: not so inside of an address."""
    after = text[place + 1 : place + 2]
    return text[place] in "?？" and (not after or after.isspace() or after in _AFTER_MARK)


def _ends(text: str, limit: int) -> str:
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}\n{text[-half:]}"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What the notes that are searched know of words."""

    languages: Collection[str]
    idf: Callable[[QueryTerm], float]
    """0 for a term that no note has."""
    greatest: float
    """What such a term weighs in coverage: the idf of a term that one passage has."""
    compounds: Callable[[str], Collection[str]]
    """Terms of the notes that hold a word inside them."""


def build(text: str, lexicon: Lexicon) -> Query:
    """Read a question with the words that the notes have."""
    part = focus(text)
    asked = _asked(part.text, lexicon)
    days = find(part.text)
    return Query(
        text=part.text,
        asked=tuple(asked),
        beside=_beside(part.rest, asked, lexicon),
        masses=_masses(asked, lexicon),
        days=days,
        chronicle=asks_for_chronicle(part.text, days),
        language=told(part.text),
    )


def after(query: Query, context: Context, lexicon: Lexicon) -> Query:
    """The question as it follows what was said before.

    Of the words that were said only those count that notes have: what was said must not make a
    question impossible to answer.
    """
    asked = () if context.instead else query.asked
    seen = {term.forms for term in asked}
    said_words = (term for term in _words(context.words, lexicon) if term.forms not in seen)
    known = [term for term in said_words if not term.part and lexicon.idf(term) > 0]
    before = tuple(sorted(known, key=lexicon.idf, reverse=True)[:MAX_BEFORE])
    masses = () if context.instead else query.masses
    return replace(
        query,
        asked=asked,
        before=before,
        weight=context.weight,
        masses=(*masses, *(context.weight * lexicon.idf(term) for term in before)),
    )


def _words(text: str, lexicon: Lexicon) -> list[QueryTerm]:
    return query_terms(text, lexicon.languages)


def _asked(text: str, lexicon: Lexicon) -> list[QueryTerm]:
    """The words of a question; after a compound that no note has come those that it is made of,
    as the parts of an identifier do."""
    found: list[QueryTerm] = []
    for term in _words(text, lexicon)[-MAX_TERMS:]:
        widened = _widened(term, lexicon)
        found.append(widened)
        if not widened.part and not widened.whole and lexicon.idf(widened) == 0:
            found.extend(_parts(widened.text, lexicon))
    seen: dict[tuple[str, ...], QueryTerm] = {}
    for term in found:
        seen.setdefault(term.forms, term)
    return list(seen.values())[:MAX_TERMS]


def _parts(word: str, lexicon: Lexicon) -> list[QueryTerm]:
    """XQuAD in German, words alone: R@1 89.6 without, 90.3 with it; more often (for compounds
    that some note has, too) it takes as much as it gives."""

    def known(form: str) -> bool:
        return lexicon.idf(QueryTerm(form, (form,))) > 0

    split = parts(word, lexicon.languages, known) if word.isalpha() else ()
    return [QueryTerm(forms[0], forms, part=True) for forms in split]


def _widened(term: QueryTerm, lexicon: Lexicon) -> QueryTerm:
    """A word that no note has also stands for compounds that hold it, in languages that have them.

    The German stemmer takes -ung from long words only: Führung keeps it, Stadtführung does not.
    """
    if term.whole or lexicon.idf(term) > 0 or COMPOUNDING.isdisjoint(lexicon.languages):
        return term
    found: dict[str, None] = {}
    for part in term.forms:
        if len(part) >= LONG_PART and part.isalpha():
            found |= dict.fromkeys(lexicon.compounds(part))
            stem = part.removesuffix("ung")
            if stem != part and len(stem) >= LONG_PART - 1:
                found |= dict.fromkeys(w for w in lexicon.compounds(stem) if w.endswith(stem))
    return replace(term, forms=(*term.forms, *list(found)[:MAX_COMPOUNDS]))


def _beside(rest: str, asked: Sequence[QueryTerm], lexicon: Lexicon) -> tuple[QueryTerm, ...]:
    """Words of a paste, no more than those that ask: the rarest that notes have."""
    if not rest:
        return ()
    seen = {term.forms for term in asked}
    others = [term for term in _words(rest, lexicon) if term.forms not in seen]
    known = [term for term in others if lexicon.idf(term) > 0]
    room = min(len(asked), MAX_TERMS - len(asked))
    return tuple(sorted(known, key=lexicon.idf, reverse=True)[:room])


def _masses(terms: Sequence[QueryTerm], lexicon: Lexicon) -> tuple[float, ...]:
    """Of an identifier the whole counts where a note has it, else its parts do."""
    masses = []
    known = False
    for place, term in enumerate(terms):
        weight = lexicon.idf(term)
        has_parts = place + 1 < len(terms) and terms[place + 1].part
        if not term.part:
            known = has_parts and weight > 0
            share = 1.0 if known or not has_parts else 0.0
        else:
            share = PART_OF_KNOWN if known else 1.0
        masses.append(share * (weight or lexicon.greatest))
    return tuple(masses)
