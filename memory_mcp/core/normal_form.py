"""Normal forms of Unicode in a time that grows with the text, and not with its square.

The library sorts the marks on a letter by insertion. A letter of a person has a handful; where a
text has runs of them without end, each stretch of a run is brought into order by itself, as the
Stream-Safe Text Format of UAX #15 does with longer ones than it allows.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import Literal

import regex

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

LONGEST_RUN = 64
"""Marks that are sorted together."""

_RUN = regex.compile(rf"\p{{M}}{{{LONGEST_RUN}}}")


def normal_form(form: Form, text: str) -> str:
    """The text in this normal form."""
    if len(text) < LONGEST_RUN or text.isascii():
        return unicodedata.normalize(form, text)
    ends = [run.end() for run in _RUN.finditer(text)]
    if not ends:
        return unicodedata.normalize(form, text)
    cuts = pairwise([0, *ends, len(text)])
    return "".join(unicodedata.normalize(form, text[start:end]) for start, end in cuts)
