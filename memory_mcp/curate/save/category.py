"""What kind of thing a text is about, where its own words say so. English and German. Pure."""

from __future__ import annotations

import re
from typing import Literal

Category = Literal["decision", "preference", "project", "person", "general"]

PAGES: dict[Category, str] = {
    "decision": "decisions",
    "preference": "preferences",
    "project": "projects",
    "person": "people",
    "general": "general",
}
"""The name of the page of a day for each category."""

_LOOKED_AT = 20_000
_SENTENCE = re.compile(r"[^.!?\n]+\??")
_DENIED = re.compile(
    r"\b(?:not|never|no|nobody|undecided|unless|whether|if|nicht|nie|niemals|kein\w*|ob|falls)\b"
    r"|n['’]t\b|\?",
    re.I,
)
_WORDS: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (
        "decision",
        re.compile(
            r"\b(?:decided|decisions?|agreed (?:on|to|that)|settled on|we chose|approved"
            r"|entschieden|entscheidung(?:en)?|beschlossen|beschluss|vereinbart|einigten uns"
            r"|geeinigt)\b",
            re.I,
        ),
    ),
    (
        "preference",
        re.compile(
            r"\b(?:prefers?|preferred|preferences?|favou?rites?|would rather|dislikes?|hates"
            r"|likes (?:to|his|her|their|no|it)|bevorzugt|bevorzuge|vorliebe|am liebsten|lieber"
            r"|lieblings\w+|mag (?:keine?n?|gern|lieber))\b",
            re.I,
        ),
    ),
    (
        "project",
        re.compile(r"\b(?:projects?|milestones?|roadmap|projekte?s?|meilensteine?)\b", re.I),
    ),
    (
        "person",
        re.compile(
            r"\b(?:birthday|was born|wife|husband|daughter|sister|brother|mother|father|aunt"
            r"|uncle|grandmother|grandfather|colleague|neighbou?r|geburtstag|geboren|ehefrau"
            r"|ehemann|tochter|schwester|bruder|mutter|vater|tante|onkel|großmutter|großvater"
            r"|kolleg(?:e|in)|nachbar(?:in)?)\b",
            re.I,
        ),
    ),
)


def category_of(text: str) -> Category:
    """The category that the words of a text name, `general` where none do."""
    sentences = _SENTENCE.findall(text[:_LOOKED_AT])
    # A denial, a condition or a question takes a decision back.
    firm = [one for one in sentences if not _DENIED.search(one)]
    for category, words in _WORDS:
        said = firm if category == "decision" else sentences
        if any(words.search(sentence) for sentence in said):
            return category
    return "general"
