"""What came into the turns of a run, in figures. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.recall_prompts import Prompt


@dataclass(frozen=True, slots=True)
class Given:
    """What one prompt got: references of the notes in the block, tokens of the whole block (0 is
    silence) and of the passages in it that are of right notes."""

    prompt: Prompt
    notes: tuple[str, ...]
    tokens: int
    gold_tokens: int

    @property
    def right(self) -> bool:
        """Whether a right note is in the block."""
        return not self.prompt.gold.isdisjoint(self.notes)

    @property
    def silent(self) -> bool:
        """Whether nothing came."""
        return self.tokens == 0


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares are 0..1; None where there is nothing to divide by."""

    answerable: int
    right: float | None
    """Share of the answerable prompts with a right note in the block."""
    gold_share: float | None
    """Share of all tokens given to answerable prompts that are passages of right notes."""
    no_need: int
    silent: float | None
    """Share of the prompts without need that got nothing."""
    useful: float | None
    """Share of all tokens, those given without need included, that are passages of right notes."""
    tokens: float | None
    """Mean tokens of the blocks that were not empty."""


def figures(given: Sequence[Given]) -> Figures:
    """The figures of a run."""
    answerable = [one for one in given if one.prompt.gold]
    rest = [one for one in given if not one.prompt.gold]
    spoken = [one.tokens for one in given if not one.silent]
    return Figures(
        answerable=len(answerable),
        right=_mean(one.right for one in answerable),
        gold_share=_gold_share(answerable),
        no_need=len(rest),
        silent=_mean(one.silent for one in rest),
        useful=_gold_share(given),
        tokens=fmean(spoken) if spoken else None,
    )


def by(given: Iterable[Given], part: Callable[[Prompt], str]) -> Mapping[str, Figures]:
    """The figures of each part, in the order of their names."""
    groups: dict[str, list[Given]] = {}
    for one in given:
        groups.setdefault(part(one.prompt), []).append(one)
    return {name: figures(groups[name]) for name in sorted(groups)}


def _mean(values: Iterable[bool]) -> float | None:
    known = list(values)
    return fmean(known) if known else None


def _gold_share(given: Sequence[Given]) -> float | None:
    total = sum(one.tokens for one in given)
    return sum(one.gold_tokens for one in given) / total if total else None
