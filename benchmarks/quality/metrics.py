"""Retrieval metrics over ranked notes and passages. All are shares, 0..1."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

BUDGETS = (500, 1500)
HITS = (1, 5, 10)
RECALLS = (5, 10)


@dataclass(frozen=True, slots=True)
class Taken:
    """A passage of the ranking: its size in tokens and the gold facts it holds."""

    tokens: int
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search gave for one question: notes and passages in falling rank, and what was
    right."""

    notes: tuple[str, ...]
    passages: tuple[Taken, ...]
    gold_notes: frozenset[str]
    gold_facts: frozenset[str]


def measure(answers: Sequence[Answer]) -> dict[str, float]:
    """H@k, R@k, MRR at 10 and T@B, each the mean over the questions."""
    each = [figures(answer) for answer in answers]
    return {name: fmean(one[name] for one in each) for name in each[0]}


def figures(answer: Answer) -> dict[str, float]:
    """The same of one question."""
    notes, gold = answer.notes, answer.gold_notes
    return {
        **{f"H@{k}": hit(notes, gold, k) for k in HITS},
        **{f"R@{k}": recall(notes, gold, k) for k in RECALLS},
        "MRR": reciprocal(notes, gold),
        **{f"T@{most}": within(answer.passages, answer.gold_facts, most) for most in BUDGETS},
    }


def paired(before: Sequence[Answer], after: Sequence[Answer]) -> dict[str, tuple[float, float]]:
    """For each figure the mean of the differences between two rankings of the same questions, and
    its standard error."""
    found = {}
    pairs = [(figures(old), figures(new)) for old, new in zip(before, after, strict=True)]
    for name in pairs[0][0]:
        steps = [new[name] - old[name] for old, new in pairs]
        found[name] = fmean(steps), stdev(steps) / math.sqrt(len(steps))
    return found


def hit(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 if a gold note is among the first k, else 0."""
    return float(any(note in gold for note in ranked[:k]))


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold notes among the first k."""
    return sum(note in gold for note in ranked[:k]) / len(gold)


def reciprocal(ranked: Sequence[str], gold: Collection[str], depth: int = 10) -> float:
    """1 / rank of the first gold note, 0 where it is not among the first `depth`."""
    places = (place for place, note in enumerate(ranked[:depth], start=1) if note in gold)
    return 1 / first if (first := next(places, 0)) else 0.0


def within(passages: Iterable[Taken], gold: Collection[str], budget: int) -> float:
    """Share of the gold facts in the passages taken in order until the next would exceed the
    budget."""
    held: set[str] = set()
    spent = 0
    for passage in passages:
        spent += passage.tokens
        if spent > budget:
            break
        held |= passage.gold
    return len(held) / len(gold)


def area(own: Sequence[float], foreign: Sequence[float]) -> float:
    """Area under the ROC curve: how often a question's own best score beats a foreign one."""
    ordered = sorted([(score, 1) for score in own] + [(score, 0) for score in foreign])
    ranks: Mapping[float, float] = _mean_ranks([score for score, _ in ordered])
    total = sum(ranks[score] for score, mine in ordered if mine)
    return (total - len(own) * (len(own) + 1) / 2) / (len(own) * len(foreign))


def _mean_ranks(scores: Sequence[float]) -> dict[float, float]:
    places: dict[float, list[int]] = {}
    for place, score in enumerate(scores, start=1):
        places.setdefault(score, []).append(place)
    return {score: fmean(found) for score, found in places.items()}


def error(share: float, count: int) -> float:
    """Standard error of a share."""
    return math.sqrt(share * (1 - share) / count)
