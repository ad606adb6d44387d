"""What has to be known of an embedding model to fuse and judge its cosines: a table of
families."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers of one family of models."""

    least_share: float
    """Vector share where the words cover the whole question."""
    noise: float
    """Cosine up to which a passage has nothing to do with a question."""
    full: float
    """Cosine from which a passage says what the question asks."""
    width: float
    """Least spread of the cosines for min-max; less means nearly equal passages."""
    foreign_share: float
    """The greatest vector share for a question that is not English; 1 for multilingual models."""


MINILM = Family(least_share=0.2, noise=0.2, full=0.75, width=0.1, foreign_share=0.35)
"""Weak on exact words and on other languages than English (German R@1 57 against 91)."""
E5 = Family(least_share=0.35, noise=0.78, full=0.92, width=0.03, foreign_share=1.0)
"""Its cosines live in .75-.92 whatever the texts."""
OTHER = Family(least_share=0.3, noise=0.2, full=0.8, width=0.1, foreign_share=1.0)
"""A model that was not measured: between the two."""

_BY_NAME = {"minilm": MINILM, "e5": E5}


def family_of(model: str) -> Family:
    """The family of a model by its name, e.g. `all-MiniLM-L6-v2`."""
    name = model.casefold()
    return next((family for key, family in _BY_NAME.items() if key in name), OTHER)
