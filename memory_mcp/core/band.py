"""Where the cosines of an embedding model lie."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """Mean cosines of questions to passages that have nothing to do with them, and to those that
    answer."""

    foreign: float
    own: float
