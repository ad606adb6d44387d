"""Is anything worth interrupting for? Which notes, and which of their passages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from memory_mcp.core.note import Card
from memory_mcp.core.words import QueryTerm, folded_words
from memory_mcp.search.group import Group, NoteKey, Piece
from memory_mcp.search.rules import naming

MARGIN = 0.05
"""Above the floor, which the best passage must reach: what foreign notes reach by chance. With a
floor of .4, 91.7 % of LoCoMo's questions put to another conversation get nothing, and 91.5 % put
to their own a right note (.35: 90.5 and 92.1). Words alone reach less by chance: the floor does
for them."""
NAME = 0.25
"""Taken from the confidence of a passage that has none of the names in the message."""
NAMESAKES = 2
"""Notes named after one of whom the message speaks that come along whatever they say: "can I cook
a roast for Kim?" has not a word of what is known of Kim."""
REMARK = 0.15
"""Added to the floor for a message that asks nothing."""
CHANCE, CHANCE_BY_WORDS = 0.11, 0.07
"""Of being a right one, with which another note comes beside the best one; by words alone, less is
known, and what is less likely comes along. With both a block is as long on LoCoMo (659 and 654
tokens), and right for 90.3 and 85.8 % of the questions; more would cost right notes."""
FURTHER = 1
"""Passages of a note that comes after the first one, which is a right one far more often. With up
to three of each, fewer right notes found room on LoCoMo (91.7 against 93.2 %), and less of what
was given was theirs, there and on the golden set."""
NEAR = 0.75
"""Shared part of their words (Jaccard) from which two passages say the same."""
ALIKE = 2
"""Passages that say the same and may stand together: two notes may also contradict each other in
one word."""


@dataclass(frozen=True, slots=True)
class Passed:
    """What may be shown, best first; `same`: notes left out since others say the same."""

    groups: tuple[Group, ...]
    same: int = 0


def passed(
    groups: Sequence[Group],
    floor: float,
    judged: Callable[[Piece], float],
    fresh: Callable[[Group, Piece], bool],
    likely: Callable[[Sequence[Group]], Mapping[NoteKey, float]],
    named: Collection[NoteKey] = (),
) -> Passed:
    """The notes that answer well enough, with those of their passages that do and are `fresh`.

    `judged` is a passage's confidence, less what speaks against it. `likely` tells for the notes
    that answer, best first, how likely each one is a right one; the best one comes whatever it
    says, and so do the notes of `named`.
    """
    pieces = [piece for group in groups for piece in group.pieces]
    best = max(map(judged, pieces), default=0.0)
    by_meaning = any(piece.cosine is not None for piece in pieces)
    if best < min(1.0, floor + MARGIN if by_meaning else floor):
        return Passed(())
    answering = [group for group in groups if any(judged(one) >= floor for one in group.pieces)]
    chances = likely(answering)
    enough = CHANCE if by_meaning else CHANCE_BY_WORDS
    kept: list[Group] = []
    texts: list[frozenset[str]] = []
    same = 0
    for place, group in enumerate(answering):
        if place and chances[group.note] < enough and group.note not in named:
            continue
        good = [one for one in group.pieces if judged(one) >= floor and fresh(group, one)]
        good = good[:FURTHER] if kept else good
        if not good:
            continue
        new = [piece for piece in good if _is_new(piece, texts)]
        if new:
            kept.append(group._replace(pieces=tuple(new)))
        else:
            same += 1
    return Passed(tuple(kept), same)


def lacking(names: Collection[str], piece: Piece) -> float:
    """What speaks against a passage: the share of the message's names that it does not have. By
    their words: each reading of a message has its terms at other places."""
    missing = sum(name not in piece.held for name in names)
    return NAME * missing / len(names) if names else 0.0


def namesakes(names: Sequence[QueryTerm], cards: Mapping[NoteKey, Card]) -> frozenset[NoteKey]:
    """The first of these notes, which come in their order, whose slug, title or alias has a name
    of the message."""
    forms = {form for name in names for form in name.forms}
    found = (note for note, card in cards.items() if naming(forms, card).some)
    return frozenset(islice(found, NAMESAKES))


def _is_new(piece: Piece, texts: list[frozenset[str]]) -> bool:
    """Whether fewer than ALIKE passages say this already; it is one of them from here on."""
    words = frozenset(folded_words(piece.passage.text))
    if sum(_alike(words, other) for other in texts) >= ALIKE:
        return False
    texts.append(words)
    return True


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    together = len(one | other)
    return together > 0 and len(one & other) >= NEAR * together
