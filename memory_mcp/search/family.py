"""What has to be known of an embedding model to fuse and judge its cosines: a table of
families."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers of one family of models."""

    least_share: float
    """Vector share where the words cover the whole question."""
    trust: float
    """Exponent on the coverage for notes in a language that the model knows well."""
    trust_elsewhere: float
    """The same for notes in other languages than English: below `trust`, words decide earlier."""
    noise: float
    """Cosine up to which a passage has nothing to do with a question."""
    full: float
    """Cosine from which a passage says what the question asks."""
    allowance: float
    """Added to the log odds of a match in another language than English: its cosines are lower."""
    width: float
    """Least spread of the cosines for min-max; less means nearly equal passages."""
    across: float = 0.0
    """What a cosine is lower by where question and passage are in different languages."""


MINILM = Family(
    least_share=0.2,
    trust=0.85,
    trust_elsewhere=0.5,
    noise=0.2,
    full=0.75,
    allowance=1.0,
    width=0.1,
)
"""Weak on exact words and on other languages than English (German alone: R@1 57 against 91). Of
LoCoMo questions asked of another conversation nine in ten have a best cosine below .46, of those
asked of their own nine in ten one above it; `noise` and `full` are set by hand around that."""
E5 = Family(
    least_share=0.35,
    trust=1.2,
    trust_elsewhere=1.2,
    noise=0.796,
    full=0.865,
    allowance=0.0,
    width=0.03,
    across=0.06,
)
"""Knows a hundred languages, so words are trusted late: a German question shares but a few names
with English notes. Its cosines live in about .75-.9 whatever the texts, and those across two
languages are lower. Fitted as the odds were, on XQuAD in German asked in German and in English."""
OTHER = Family(
    least_share=0.3, trust=0.5, trust_elsewhere=0.5, noise=0.2, full=0.8, allowance=0.0, width=0.1
)
"""A model that was not measured: between the two."""

_BY_NAME = {"minilm": MINILM, "e5": E5}


def family_of(model: str) -> Family:
    """The family of a model by its name, e.g. `all-MiniLM-L6-v2`."""
    name = model.casefold()
    return next((family for key, family in _BY_NAME.items() if key in name), OTHER)
