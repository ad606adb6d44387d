"""The labelled pairs of this folder, and what the rules say about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from memory_mcp.core.ports import Embedder
from memory_mcp.curate.compare.novelty import Kind, Novelty, compare

PAIRS = Path(__file__).parent / "pairs.jsonl"
LABELS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Pair:
    """A note that is held, a text that comes, and how the text stands to the note."""

    id: str
    language: str
    old: str
    new: str
    label: str

    @property
    def half(self) -> str:
        """Which half it belongs to: rules were tuned on one of them."""
        return "told" if hashlib.sha256(self.id.encode()).digest()[0] % 2 else "tuned"

    def turned(self) -> Pair:
        """The pair with the sides changed, under the same label."""
        return replace(self, old=self.new, new=self.old)


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and the answer."""

    pair: Pair
    found: Novelty

    @property
    def loses(self) -> bool:
        """Whether something that is not there yet was called there already."""
        return self.found.kind == "same" and self.pair.label != "same"


def load(path: Path = PAIRS) -> tuple[Pair, ...]:
    """All pairs, in the order of the file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(Pair(**json.loads(line)) for line in lines)


def judge(
    pairs: Sequence[Pair], embedder: Embedder | None, likeness: float = 0.0
) -> tuple[Judged, ...]:
    """The answer to each pair, with the cosine that the index would know, or that was given."""
    cosines = _cosines(pairs, embedder) if embedder else [likeness] * len(pairs)
    return tuple(
        Judged(pair, compare(pair.new, pair.old, cosine))
        for pair, cosine in zip(pairs, cosines, strict=True)
    )


def _cosines(pairs: Sequence[Pair], embedder: Embedder) -> list[float]:
    old = embedder.passages([pair.old for pair in pairs])
    return [float(embedder.query(pair.new) @ old[place]) for place, pair in enumerate(pairs)]


def precision_and_recall(
    judged: Sequence[Judged], label: str, keep: Callable[[Pair], bool] = lambda pair: True
) -> tuple[float, float, int]:
    """(precision, recall, pairs with this label) among the pairs that are kept; 1 where there is
    none to be wrong about."""
    some = [item for item in judged if keep(item.pair)]
    right = sum(item.pair.label == label == item.found.kind for item in some)
    said = sum(item.found.kind == label for item in some)
    there = sum(item.pair.label == label for item in some)
    return (right / said if said else 1.0, right / there if there else 1.0, there)
