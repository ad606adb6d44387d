"""Dates in questions and notes: found in text, and how well a note's date answers a question's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

MONTHS = """
january januar jänner janvier enero gennaio januari janeiro
february februar feber février fevrier febrero febbraio februari fevereiro
march märz maerz mars marzo maart março
april avril abril aprile
may mai mayo maggio mei maio
june juni juin junio giugno junho
july juli juillet julio luglio julho
august août aout agosto augustus
september septembre septiembre settembre setembro
october oktober octobre octubre ottobre outubro
november novembre noviembre novembro
december dezember décembre decembre diciembre dicembre dezembro
"""
"""One line for each month: its names in English, German, French, Spanish, Italian, Dutch and
Portuguese."""

_MONTH = {
    name: number
    for number, line in enumerate(MONTHS.strip().splitlines(), start=1)
    for name in line.split()
}
_SHORT_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_SHORT = {name: number for number, name in enumerate(_SHORT_NAMES.split(), start=1)} | {"sept": 9}
_ALSO_WORDS = frozenset({"may", "march", "mars", "august"})
"""Names that are everyday words as well: alone they count only after a preposition."""

_NAME = "|".join(sorted(_MONTH | _SHORT, key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_ISO = re.compile(rf"(?<!\d)({_YEAR})[-/.](0?[1-9]|1[0-2])(?:[-/.](0?[1-9]|[12]\d|3[01]))?(?!\d)")
_DOTTED = re.compile(rf"(?<!\d)(0?[1-9]|[12]\d|3[01])\.\s?(0?[1-9]|1[0-2])\.\s?({_YEAR})(?!\d)")
_NAMED = re.compile(
    rf"(?:(?<!\d)(?P<before>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.|er|º)?\s+(?:of\s+|de\s+)?)?"
    rf"(?<!\w)(?P<month>{_NAME})(?!\w)\.?"
    rf"(?(before)|(?:\s+(?P<after>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?!\d))?)"
    rf"(?:,?\s+(?:of\s+|de\s+)?(?P<year>{_YEAR})(?!\d))?",
    re.IGNORECASE,
)
_LONE_YEAR = re.compile(rf"(?<![\d.\-/]){_YEAR}(?![\d\-/]|\.\d)")
_PREPOSITION = re.compile(
    r"(?:^|\W)(?:in|of|on|since|until|till|by|during|from|before|after|last|this|next|early|mid"
    r"|late|im|seit|bis|ab|en|de)\s+$",
    re.IGNORECASE,
)

DAYS_NEAR = 10
"""A day that many days away no longer matches: what happened is often told a few days later."""
MONTH_AFTER = 0.3
"""The note of the following month: last month's doings are told then."""
YEAR_ALONE = 0.5
"""A year alone says less than a month."""


@dataclass(frozen=True, slots=True)
class Day:
    """A date as far as it was said."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def known(self) -> int:
        """How many of the three parts are known."""
        return sum(part is not None for part in (self.year, self.month, self.day))


def find(text: str) -> tuple[Day, ...]:
    """All dates that a text names; a year alone only where nothing else is named."""
    found = [day for _, _, day in located(text)]
    if not found:
        found = [Day(int(year)) for year in _LONE_YEAR.findall(text)]
    return tuple(dict.fromkeys(found))


def located(text: str) -> list[tuple[int, int, Day]]:
    """(start, end, date) of all dates in a text but years alone: first those in digits."""
    found = [(*match.span(), _numbered(match, (1, 2, 3))) for match in _ISO.finditer(text)]
    found += [(*match.span(), _numbered(match, (3, 2, 1))) for match in _DOTTED.finditer(text)]
    for match in _NAMED.finditer(text):
        if (named := _named(text, match)) is not None:
            found.append((*match.span(), named))
    return found


def _numbered(match: re.Match[str], order: tuple[int, int, int]) -> Day:
    year, month, day = (match[place] for place in order)
    return Day(int(year), int(month), int(day) if day else None)


def _named(text: str, match: re.Match[str]) -> Day | None:
    name = match["month"].casefold()
    number = match["before"] or match["after"]
    alone = number is None and match["year"] is None
    if alone and name not in _MONTH:
        return None
    if alone and name in _ALSO_WORDS and not _PREPOSITION.search(text[: match.start()]):
        return None
    month = _MONTH.get(name) or _SHORT[name]
    year = int(match["year"]) if match["year"] else None
    return Day(year, month, int(number) if number else None)


def fullest(text: str) -> Day | None:
    """The date of a text that says most, the first among equals; None where it names none."""
    return max(find(text), key=lambda day: day.known, default=None)


def agreement(asked: Day, noted: Day) -> float:
    """How well a note of the day `noted` fits a question about `asked`, 0..1."""
    if asked.year is not None and noted.year is not None and asked.month is None:
        return YEAR_ALONE if asked.year == noted.year else 0.0
    if asked.month is None or noted.month is None:
        return 0.0
    if asked.day is not None and noted.day is not None:
        return max(0.0, 1 - _days_apart(asked, noted) / DAYS_NEAR)
    months = _months_after(asked, noted)
    if months == 0:
        return 1.0
    return MONTH_AFTER if months == 1 else 0.0


def _days_apart(asked: Day, noted: Day) -> int:
    year = asked.year or noted.year or 2000
    try:
        first = date(year, asked.month or 1, asked.day or 1)
        second = date(noted.year or year, noted.month or 1, noted.day or 1)
    except ValueError:  # the 31st of a shorter month
        return DAYS_NEAR
    return abs((first - second).days)


def _months_after(asked: Day, noted: Day) -> int:
    months = (noted.month or 0) - (asked.month or 0)
    if asked.year is None or noted.year is None:
        return months % 12
    return months + 12 * (noted.year - asked.year)
