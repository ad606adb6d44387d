"""What has to be known of an embedding model to fuse and judge its cosines: a table of
families."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memory_mcp.core.band import Band


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
    tokens: float = 0.3
    """Weight of the likeness word by word (late interaction) in a language the model knows well; 1
    is as much as words and vectors have together."""
    tokens_elsewhere: float = 0.3
    """The same where question or note are in another language than English."""
    token_width: float = 0.15
    """Least spread of that likeness; less means nearly equal passages."""


MINILM = Family(
    least_share=0.2,
    trust=1.0,
    trust_elsewhere=0.5,
    noise=0.2,
    full=0.75,
    allowance=1.0,
    width=0.1,
    tokens=1.0,
)
"""Weak on exact words and on other languages than English (German alone: R@1 57 against 91). Of
LoCoMo questions asked of another conversation nine in ten have a best cosine below .46, of those
asked of their own nine in ten one above it; `noise` and `full` are set by hand around that. Its
tokens say little in other languages: XQuAD, German questions on English notes, R@1 47.1 without
them, 44.2 with a weight of 1. With `trust` 1 instead of .85 the MRR of the halves of the golden
set went from 91.6 to 91.9 and from 89.5 to 89.8, and T@1500 on LoCoMo up by .2."""
E5 = Family(
    least_share=0.35,
    trust=1.2,
    trust_elsewhere=1.2,
    noise=0.796,
    full=0.865,
    allowance=0.0,
    width=0.03,
    across=0.06,
    tokens=0.6,
    tokens_elsewhere=0.6,
    token_width=0.05,
)
"""Knows a hundred languages, so words are trusted late: a German question shares but a few names
with English notes. Its cosines live in about .75-.9 whatever the texts, and those across two
languages are lower. Fitted as the odds were, on XQuAD in German asked in German and in English.
Those of its tokens live in a narrow band, too. Of .3, .6 and 1 for them .6 was the best on LoCoMo
and between two languages; without them H@5 is .5 lower and an English question's right paragraph
in German comes first 1.7 points less often."""
OTHER = Family(
    least_share=0.3, trust=0.5, trust_elsewhere=0.5, noise=0.2, full=0.8, allowance=0.0, width=0.1
)
"""A model that was not measured: between the two."""

_MEASURED = {"all-minilm-l6-v2": MINILM, "multilingual-e5-small": E5}

NOISE, FULL, WIDTH = 0.45, 1.5, 0.25
"""Where a model that was not measured has its noise, its full likeness and its least spread, in
steps from the mean foreign cosine to the mean own one. The fitted ones of MiniLM are at .36 and
1.7 steps, those of multilingual-e5-small at .58 and 1.4."""


def family_of(model: str, band: Band | None = None) -> Family:
    """The numbers of a model that was measured, by its name; of another, those that the band of
    its cosines gives."""
    name = model.casefold()
    known = next((family for part, family in _MEASURED.items() if part in name), None)
    if known is not None or band is None:
        return known or OTHER
    step = band.own - band.foreign
    return replace(
        OTHER,
        noise=band.foreign + NOISE * step,
        full=band.foreign + FULL * step,
        width=WIDTH * step,
    )
