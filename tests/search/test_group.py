"""Notes of ranked passages."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.note import Passage
from memory_mcp.search.group import PASSAGES, Group, Piece, behind_successors, by_rank, group

LONG_TEXT = "The key of the boat house hangs behind the blue door."


def piece(
    path: str, rank: float, text: str = "", source: str = "memory", heading: str = "h"
) -> Piece:
    shown = text or f"passage {path} {rank}"
    return Piece(
        note=(source, path),
        passage=Passage(heading, shown, 1, 1, "", shown),
        rank=rank,
        confidence=min(1.0, rank),
        cosine=None,
        bm25=rank,
    )


def paths(groups: list[Group]) -> list[str]:
    return [item.note[1] for item in groups]


def test_a_note_has_one_place_and_at_most_three_passages() -> None:
    pieces = by_rank([piece("long", 1 - n / 100) for n in range(9)] + [piece("short", 0.5)])
    groups = group(pieces)
    assert paths(groups) == ["long", "short"]
    assert len(groups[0].pieces) == PASSAGES


def test_weak_passages_are_not_shown_beside_a_strong_one() -> None:
    groups = group([piece("a", 1.0), piece("a", 0.2)])
    assert len(groups[0].pieces) == 1


def test_a_passage_inside_another_of_its_note_is_not_shown_again() -> None:
    groups = group(
        [piece("a", 1.0, "one two three"), piece("a", 0.9, "two THREE"), piece("a", 0.8, "x")]
    )
    assert [item.passage.text for item in groups[0].pieces] == ["one two three", "x"]


def test_the_same_text_in_another_note_is_folded_into_the_better_one() -> None:
    groups = group(
        [
            piece("a", 1.0, LONG_TEXT),
            piece("a", 0.9, LONG_TEXT + "\n", source="vault"),
            piece("b", 0.5),
        ]
    )
    assert [item.note for item in groups] == [("memory", "a"), ("memory", "b")]
    assert groups[0].copies == (("vault", "a"),)


def test_a_copy_that_says_more_keeps_its_place_by_what_it_says_more() -> None:
    groups = group(
        [
            piece("a", 1.0, LONG_TEXT),
            piece("b", 0.9, LONG_TEXT),
            piece("c", 0.8),
            piece("b", 0.7, "more"),
        ]
    )
    assert paths(groups) == ["a", "c", "b"]
    assert groups[0].copies == ()


def test_equal_short_texts_under_other_headings_are_no_copies() -> None:
    groups = group(
        [
            piece("a", 1.0, "Status: done", heading="A"),
            piece("b", 0.9, "Status: done", heading="B"),
        ]
    )
    assert paths(groups) == ["a", "b"]


def test_a_note_that_replaces_a_better_one_comes_just_before_it() -> None:
    groups = group([piece("x", 1.0), piece("old", 0.9), piece("y", 0.8), piece("new", 0.3)])
    placed = behind_successors(groups, {("memory", "old"): ("memory", "new")})
    assert paths(placed) == ["x", "new", "old", "y"]


def test_in_a_chain_the_newest_comes_first() -> None:
    groups = group([piece("one", 0.9), piece("two", 0.8), piece("three", 0.7)])
    chain = {("memory", "one"): ("memory", "two"), ("memory", "two"): ("memory", "three")}
    assert paths(behind_successors(groups, chain)) == ["three", "two", "one"]


def test_notes_that_replace_each_other_are_all_kept() -> None:
    groups = group([piece("one", 0.9), piece("two", 0.8)])
    circle = {("memory", "one"): ("memory", "two"), ("memory", "two"): ("memory", "one")}
    assert sorted(paths(behind_successors(groups, circle))) == ["one", "two"]


names = st.sampled_from("abcdef")


@given(
    st.lists(st.tuples(names, st.floats(0.01, 2)), max_size=12),
    st.dictionaries(names, names, max_size=6),
)
def test_successors_change_order_only_and_ranks_keep_falling(
    found: list[tuple[str, float]], replaced: dict[str, str]
) -> None:
    groups = group(by_rank(piece(path, rank) for path, rank in found))
    successors = {("memory", old): ("memory", new) for old, new in replaced.items()}
    placed = behind_successors(groups, successors)
    assert sorted(paths(placed)) == sorted(paths(groups))
    ranks = [item.rank for item in placed]
    assert all(low <= high + 1e-9 for high, low in pairwise(ranks))
