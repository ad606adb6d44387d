"""Ways to rank the same evidence: each leg alone, plain fusions, and each rule left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memory_mcp.core.config import SearchSettings
from memory_mcp.search.rank import Weights

BARE = Weights(tokens=0, note=0, pair=0, date=0, beside=0, next=0)
NO_RULES: Mapping[str, Any] = {
    "slug_match_boost": 1,
    "slug_full_name_boost": 1,
    "log_demotion": 1,
}


@dataclass(frozen=True, slots=True)
class Way:
    """One way to rank."""

    name: str
    settings: SearchSettings = field(default_factory=SearchSettings)
    weights: Weights = field(default_factory=Weights)


def _bare(name: str, vector_weight: float | str) -> Way:
    settings = SearchSettings.model_validate({"vector_weight": vector_weight, **NO_RULES})
    return Way(name, settings, BARE)


WORDS = _bare("words alone", 0.0)
VECTORS = _bare("vectors alone", 1.0)
SHIPPED = Way("as shipped")

LEGS = (WORDS, VECTORS, _bare("fixed .7/.3", 0.7), SHIPPED)
"""What every run shows."""


def _without(rule: str, **settings: float) -> Way:
    return Way(f"without {rule}", SearchSettings.model_validate(settings))


ABLATIONS = (
    _bare("fixed .35/.65", 0.35),
    _bare("adaptive, no rules", "auto"),
    Way("without tokens", weights=replace(Weights(), tokens=0.0)),
    Way("without whole notes", weights=replace(Weights(), note=0.0)),
    Way("without word pairs", weights=replace(Weights(), pair=0.0)),
    Way("without dates", weights=replace(Weights(), date=0.0)),
    Way("without neighbours", weights=replace(Weights(), beside=0.0)),
    Way("without what is next to the best", weights=replace(Weights(), next=0.0)),
    _without("names", slug_match_boost=1, slug_full_name_boost=1),
    _without("log demotion", log_demotion=1),
    Way("with page support", SearchSettings(page_support=0.1)),
)
"""Each fusion bare, and each rule left out of what is shipped."""

IDEAS = (
    Way("tokens 1.3", weights=replace(Weights(), tokens=1.3)),
    Way("tokens .7", weights=replace(Weights(), tokens=0.7)),
    Way("whole notes .8", weights=replace(Weights(), note=0.8)),
    Way("neighbours .1", weights=replace(Weights(), beside=0.1)),
    Way("notes .8, neighbours .1", weights=replace(Weights(), note=0.8, beside=0.1)),
    Way("word pairs .4", weights=replace(Weights(), pair=0.4)),
    Way("vectors half, always", SearchSettings(vector_weight=0.5)),
    Way("page support .1", SearchSettings(page_support=0.1)),
)
"""What else was tried, to be compared question by question."""
