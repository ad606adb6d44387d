"""What a connection remembers of its reading."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.server.session import Session


def test_what_was_never_read_is_neither_known_nor_partial() -> None:
    session = Session()
    assert session.revision("memory/a") is None
    assert not session.partial("memory/a")


def test_pages_that_follow_each_other_add_up() -> None:
    session = Session()
    session.read("memory/a", "r1", complete=False, start=0, end=100)
    assert session.partial("memory/a")
    session.read("memory/a", "r1", complete=False, start=100, end=180)
    assert session.partial("memory/a")
    session.read("memory/a", "r1", complete=False, start=180, end=None)
    assert not session.partial("memory/a")


def test_a_gap_between_pages_leaves_the_reading_partial() -> None:
    session = Session()
    session.read("memory/a", "r1", complete=False, start=0, end=100)
    session.read("memory/a", "r1", complete=False, start=101, end=None)
    assert session.partial("memory/a")


def test_pages_of_two_revisions_do_not_add_up() -> None:
    session = Session()
    session.read("memory/a", "r1", complete=False, start=0, end=100)
    session.read("memory/a", "r2", complete=False, start=100, end=None)
    assert session.partial("memory/a")
    assert session.revision("memory/a") == "r2"


def test_a_section_is_a_part_and_the_whole_note_stays_whole() -> None:
    session = Session()
    session.read("memory/a", "r1", complete=False)
    assert session.partial("memory/a")
    session.read("memory/a", "r1", complete=True, start=0)
    session.read("memory/a", "r1", complete=False)
    assert not session.partial("memory/a")


def test_what_was_written_whole_counts_as_read() -> None:
    session = Session()
    session.wrote("memory/a", "r1", whole=True)
    session.wrote("memory/a", "r2", whole=False)
    assert not session.partial("memory/a")
    assert session.revision("memory/a") == "r2"


def test_an_addition_to_a_note_that_was_not_read_leaves_it_partial() -> None:
    session = Session()
    session.wrote("memory/a", "r1", whole=False)
    assert session.partial("memory/a")
    session.forget("memory/a")
    assert session.revision("memory/a") is None


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 10)), max_size=12))
def test_a_note_is_whole_only_when_every_letter_was_shown(pages: list[tuple[int, int]]) -> None:
    session, seen, size = Session(), set[int](), 20
    for start, length in pages:
        end = min(start + length, size)
        session.read("memory/a", "r", complete=False, start=start, end=end if end < size else None)
        seen.update(range(start, end))
        if not session.partial("memory/a"):
            assert seen == set(range(size))


def test_a_change_to_somebody_elses_text_does_not_make_it_known() -> None:
    session = Session()
    session.wrote("memory/plan", "a" * 12, whole=True)
    session.wrote("memory/plan", "c" * 12, whole=False, replaced="b" * 12)
    assert session.revision("memory/plan") == "c" * 12
    assert session.partial("memory/plan")


def test_a_change_to_the_text_that_was_read_keeps_it_known() -> None:
    session = Session()
    session.read("memory/plan", "a" * 12, complete=True)
    session.wrote("memory/plan", "b" * 12, whole=False, replaced="a" * 12)
    assert not session.partial("memory/plan")
