"""Words: the terms of a note and of a question, made so that they meet.

A note's terms are stemmed by the note's language; a question's word stands for its stems in all
languages of the notes. Nothing in a question is syntax: quotes, brackets, AND and * are text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from memory_mcp.core.fold import fold
from memory_mcp.core.pieces import Capital, Piece, pieces
from memory_mcp.core.stem import stems
from memory_mcp.core.stopwords import stop_words

_MAX_CACHED = 60_000  # runs per language; a vault of 20,000 notes has about as many
_MAX_CACHED_RUN = 64
_ENDS = ".!?:;*#->|([\"'“„«_=+"
# Query languages write these in capitals; in a question they are the plain words they are.
_OPERATORS = frozenset(["and", "near", "not", "or"])
_STEMMED = ("word", "part")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a question. It counts once, whichever of its forms a note has."""

    text: str
    """The word in folded spelling."""
    forms: tuple[str, ...]
    """The terms that notes may have for it, in any of their languages. Never empty."""
    part: bool = False
    """A part of an identifier that is also there as a whole."""
    whole: bool = False
    """An identifier: ticket number, path, version, address."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run of characters gives: terms, and stop words that count only for want of others."""

    terms: tuple[str, ...]
    stops: tuple[str, ...]
    capital: Capital


_cache: dict[str, dict[str, _Run]] = {}


def terms(text: str, language: str) -> list[str]:
    """Index terms of a note's text, in order and with repeats.

    Identifiers come whole, then in parts. Stop words are left out, unless nothing else is there or
    capitals in mid-sentence make them names (The Who, IT). `language` is an ISO 639-1 code.
    """
    known = _cache.setdefault(language, {})
    found: list[str] = []
    spare: list[str] = []
    for run, starts in _runs(text):
        entry = known.get(run)
        if entry is None:
            entry = _remember(known, run, language)
        found.extend(entry.terms)
        if entry.stops:
            spare.extend(entry.stops)
            if entry.capital and _is_name(entry.capital, starts, language):
                found.extend(entry.stops)
    return found or spare


def query_terms(text: str, languages: Collection[str] = ("en",)) -> list[QueryTerm]:
    """The words of a question, each once, in order of first use.

    `languages` are those of the notes that are searched. Stop words are those of the language(s)
    that most of the question's stop words belong to; a question of stop words only keeps them.
    """
    codes = tuple(sorted(languages)) or ("en",)
    asked = [(piece, starts) for run, starts in _runs(text) for piece in pieces(run)]
    stops = _stops_of([piece for piece, _ in asked], codes)
    shouted = _is_shouted([piece for piece, _ in asked])
    found: dict[tuple[str, ...], QueryTerm] = {}
    spare: dict[tuple[str, ...], QueryTerm] = {}
    for piece, starts in asked:
        term = _query_term(piece, codes)
        named = not shouted and _names(piece, starts, codes)
        is_stop = piece.kind in _STEMMED and term.text in stops and not named
        (spare if is_stop else found).setdefault(term.forms, term)
    return list((found or spare).values())


def content_words(text: str, languages: Collection[str] = ("en",)) -> list[str]:
    """The words of a text in folded spelling, not stemmed and without stop words, with repeats."""
    stops = frozenset[str]().union(*(stop_words(code) for code in languages))
    words = folded_words(text)
    return [word for word in words if word not in stops] or words


def folded_words(text: str) -> list[str]:
    """All words of a text in folded spelling, stop words too: equal where texts say the same."""
    kept = ("word", "whole", "pair")
    return [
        fold(piece.text) for run, _ in _runs(text) for piece in pieces(run) if piece.kind in kept
    ]


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """(run without blanks, whether it begins a sentence or line)."""
    for line in text.splitlines():
        starts = True
        for run in line.split():
            yield run, starts
            starts = run[-1] in _ENDS


def _remember(known: dict[str, _Run], run: str, language: str) -> _Run:
    entry = _analyse(run, language)
    if len(run) <= _MAX_CACHED_RUN:
        if len(known) >= _MAX_CACHED:
            known.clear()
        known[run] = entry
    return entry


def _analyse(run: str, language: str) -> _Run:
    stops = stop_words(language)
    found: list[str] = []
    spare: list[str] = []
    capital: Capital = ""
    for piece in pieces(run):
        if piece.kind not in _STEMMED:
            found.append(piece.text)
        elif (plain := fold(piece.text)) in stops:
            spare.append(plain)
            capital = piece.capital
        else:
            found.extend(stems(piece.text, language))
    return _Run(tuple(found), tuple(spare) if not found else (), capital)


def _is_name(capital: Capital, starts: bool, language: str) -> bool:
    """A stop word written as a name. German has capitals for politeness (Sie, Ihr)."""
    return capital == "all" or (capital == "first" and not starts and language != "de")


def _names(piece: Piece, starts: bool, languages: Sequence[str]) -> bool:
    if piece.text in _OPERATORS:
        return False
    return any(_is_name(piece.capital, starts, language) for language in languages)


def _query_term(piece: Piece, languages: Sequence[str]) -> QueryTerm:
    text = fold(piece.text)
    if piece.kind not in _STEMMED:
        return QueryTerm(text, (piece.text,), piece.kind == "sign", piece.kind == "whole")
    forms = dict.fromkeys(form for code in languages for form in _forms(piece.text, text, code))
    return QueryTerm(text, tuple(forms), piece.kind == "part")


def _forms(word: str, folded: str, language: str) -> tuple[str, ...]:
    return (folded,) if folded in stop_words(language) else stems(word, language)


def _stops_of(asked: Sequence[Piece], languages: Sequence[str]) -> frozenset[str]:
    words = {fold(piece.text) for piece in asked if piece.kind in _STEMMED}
    share: Callable[[str], int] = partial(_shared, words)
    most = max(map(share, languages))
    return frozenset[str]().union(*(stop_words(code) for code in languages if share(code) == most))


def _shared(words: set[str], language: str) -> int:
    return len(words & stop_words(language))


def _is_shouted(asked: Sequence[Piece]) -> bool:
    """Whether capitals say nothing, since most of the question has them."""
    words = [piece for piece in asked if piece.kind == "word"]
    return len(words) > 2 and 2 * sum(bool(piece.capital) for piece in words) > len(words)
