"""Which notes are worth interrupting for."""

from __future__ import annotations

from memory_mcp.core.note import Passage
from memory_mcp.recall.gate import MARGIN, NAME, SHARE, lacking, passed
from memory_mcp.search.group import Group, Piece
from memory_mcp.search.trace import Trace

FLOOR = 0.35


def group(path: str, *pieces: tuple[str, float]) -> Group:
    found = tuple(
        Piece(("s", path), Passage("h", text, 1, 2, "", text), Trace(), score, 0.5, 0.0)
        for text, score in pieces
    )
    return Group(("s", path), found, Trace())


def names(groups: tuple[Group, ...]) -> list[str]:
    return [one.note[1] for one in groups]


def gate(*groups: Group, seen: frozenset[str] = frozenset()) -> tuple[list[str], int]:
    found = passed(
        groups, FLOOR, lambda piece: piece.confidence, lambda _, p: p.passage.text not in seen
    )
    return names(found.groups), found.same


def test_nothing_passes_that_stands_hardly_above_chance() -> None:
    assert gate(group("a", ("text", FLOOR + MARGIN - 0.01))) == ([], 0)
    assert gate(group("a", ("text", FLOOR + MARGIN + 0.01))) == (["a"], 0)
    assert gate() == ([], 0)


def test_weaker_notes_come_along_only_near_the_best() -> None:
    near, far = 0.9 * SHARE + 0.01, 0.9 * SHARE - 0.01
    assert gate(group("a", ("one", 0.9)), group("b", ("two", near)), group("c", ("three", far)))[
        0
    ] == ["a", "b"]


def test_what_is_in_view_is_not_repeated_and_brings_nothing_weaker_along() -> None:
    best, other = group("a", ("one", 0.9)), group("b", ("two", 0.4))
    assert gate(best, other, seen=frozenset({"one"})) == ([], 0)


def test_one_fact_in_many_notes_takes_two_places() -> None:
    many = [
        group(f"r{n}", (f"Reminder {n}: the bakery is closed on Mondays.", 0.8)) for n in range(8)
    ]
    open_ = group("open", ("Since June the bakery is open on Mondays.", 0.7))
    assert gate(*many, open_) == (["r0", "r1", "open"], 6)


def test_notes_that_contradict_each_other_in_one_word_are_both_there() -> None:
    yes = group("yes", ("The bakery by the church is open on all Mondays in winter.", 0.8))
    no = group("no", ("The bakery by the church is closed on all Mondays in winter.", 0.8))
    assert gate(yes, no) == (["yes", "no"], 0)


def test_a_passage_without_the_names_of_the_message_counts_less() -> None:
    piece = group("a", ("text", 0.8)).pieces[0]
    assert lacking([], piece) == 0
    assert lacking([0, 1], piece) == NAME
