"""Which notes are worth interrupting for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memory_mcp.core.note import Passage
from memory_mcp.recall.gate import CHANCE, CHANCE_BY_WORDS, MARGIN, NAME, lacking, passed
from memory_mcp.search.group import Group, NoteKey, Piece

FLOOR = 0.35


def group(path: str, *pieces: tuple[str, float], rank: float = 1.0) -> Group:
    found = tuple(
        Piece(("s", path), Passage("h", text, 1, 2, "", text), rank, score, 0.5, 0.0)
        for text, score in pieces
    )
    return Group(("s", path), found)


def names(groups: tuple[Group, ...]) -> list[str]:
    return [one.note[1] for one in groups]


def even(answering: Sequence[Group]) -> Mapping[NoteKey, float]:
    """As likely as its rank."""
    return {one.note: one.rank for one in answering}


def gate(*groups: Group, seen: frozenset[str] = frozenset()) -> tuple[list[str], int]:
    found = passed(
        groups,
        FLOOR,
        lambda piece: piece.confidence,
        lambda _, p: p.passage.text not in seen,
        even,
    )
    return names(found.groups), found.same


def test_nothing_passes_that_stands_hardly_above_chance() -> None:
    assert gate(group("a", ("text", FLOOR + MARGIN - 0.01))) == ([], 0)
    assert gate(group("a", ("text", FLOOR + MARGIN + 0.01))) == (["a"], 0)
    assert gate() == ([], 0)


def among(*groups: Group, named: tuple[str, ...] = ()) -> list[str]:
    """What passes where nothing is in view."""
    found = passed(
        groups,
        FLOOR,
        lambda piece: piece.confidence,
        lambda _, piece: True,
        even,
        [("s", name) for name in named],
    )
    return names(found.groups)


def test_another_note_comes_along_where_it_is_likely_enough() -> None:
    best = group("a", ("one", 0.9))
    near = group("b", ("two", 0.8), rank=CHANCE + 0.01)
    far = group("c", ("three", 0.8), rank=CHANCE - 0.01)
    assert among(best, near, far) == ["a", "b"]


def test_words_alone_bring_less_likely_notes() -> None:
    between = (CHANCE + CHANCE_BY_WORDS) / 2
    pair = [group("a", ("one", 0.9)), group("b", ("two", 0.8), rank=between)]
    by_words = [
        one._replace(pieces=tuple(piece._replace(cosine=None) for piece in one.pieces))
        for one in pair
    ]
    assert among(*pair) == ["a"]
    assert among(*by_words) == ["a", "b"]


def test_the_best_note_that_answers_comes_however_unlikely() -> None:
    first = group("first", ("one", FLOOR - 0.01))
    best, other = group("a", ("two", 0.9), rank=0.05), group("b", ("three", 0.8), rank=0.04)
    assert among(first, best, other) == ["a"]


def test_a_note_named_after_someone_in_the_message_comes_along_however_unlikely() -> None:
    best, kim = group("a", ("one", 0.9)), group("kim", ("two", 0.4), rank=0.01)
    assert among(best, kim) == ["a"]
    assert among(best, kim, named=("kim",)) == ["a", "kim"]


def test_what_is_in_view_is_not_repeated_and_brings_nothing_weaker_along() -> None:
    best, other = group("a", ("one", 0.9)), group("b", ("two", 0.4), rank=0.05)
    assert gate(best, other, seen=frozenset({"one"})) == ([], 0)


def test_one_fact_in_many_notes_takes_two_places() -> None:
    many = [
        group(f"r{n}", (f"Reminder {n}: the bakery is closed on Mondays.", 0.8)) for n in range(8)
    ]
    open_ = group("open", ("Since June the bakery is open on Mondays.", 0.7))
    assert gate(*many, open_) == (["r0", "r1", "open"], 6)


def test_only_the_first_note_brings_several_passages() -> None:
    first = group("a", ("one", 0.9), ("two", 0.8))
    other = group("b", ("three", 0.8), ("four", 0.8))

    def texts(seen: Collection[str]) -> list[list[str]]:
        fresh = passed(
            [first, other],
            FLOOR,
            lambda one: one.confidence,
            lambda _, p: p.passage.text not in seen,
            even,
        )
        return [[piece.passage.text for piece in one.pieces] for one in fresh.groups]

    assert texts(()) == [["one", "two"], ["three"]]
    assert texts({"one", "two"}) == [["three", "four"]]


def test_notes_that_contradict_each_other_in_one_word_are_both_there() -> None:
    yes = group("yes", ("The bakery by the church is open on all Mondays in winter.", 0.8))
    no = group("no", ("The bakery by the church is closed on all Mondays in winter.", 0.8))
    assert gate(yes, no) == (["yes", "no"], 0)


def test_a_passage_without_the_names_of_the_message_counts_less() -> None:
    piece = group("a", ("text", 0.8)).pieces[0]
    assert lacking([], piece) == 0
    assert lacking(["kim", "otto"], piece) == NAME
    assert lacking(["kim", "otto"], piece._replace(held=frozenset({"kim", "may"}))) == NAME / 2
