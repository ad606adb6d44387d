"""What a plan that a model made may not do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import RefusedError
from memory_mcp.curate.plans.guards import Limits, check_loss, check_plan, removed
from memory_mcp.curate.plans.plan import Change, Spot
from memory_mcp.notes.sources import Source

LIMITS = Limits(0.25)
TREES = ("oak", "elm", "ash", "fig", "yew", "box", "pine", "lime", "rowan", "7", "2011")
WORDS = st.lists(st.sampled_from(TREES), max_size=40).map(" ".join)


def source(name: str) -> Source:
    """A source that is nowhere on disk."""
    kind = name if name in ("memory", "wiki") else "vault"
    return Source(name, name, kind, Path("/none"), 1.0, (), 12, 100)  # type: ignore[arg-type]


def change(reference: str, before: str | None, after: str | None) -> Change:
    """A change of a note by its reference."""
    name, _, path = reference.partition("/")
    return Change(
        Spot(source(name), path),
        None if before is None else before.encode(),
        None if after is None else after.encode(),
    )


LONG = "The hedge is hornbeam and was planted in the spring of 2011 by Robin and her brother."


def test_a_page_may_grow() -> None:
    check_plan([change("wiki/garden", "# Garden\n", f"# Garden\n\n{LONG}\n")], LIMITS)


def test_a_page_that_loses_more_than_its_share_is_named() -> None:
    with pytest.raises(RefusedError, match=r"wiki/garden would lose \d+ of its \d+ words"):
        check_plan([change("wiki/garden", f"# Garden\n\n{LONG}\n", "# Garden\n")], LIMITS)


def test_text_that_moves_to_another_page_of_the_plan_is_not_lost() -> None:
    plan = [
        change("wiki/garden", f"# Garden\n\n{LONG}\n", "# Garden\n\n[[hedge]]\n"),
        change("wiki/hedge", None, f"# Hedge\n\n{LONG}\n"),
    ]
    check_plan(plan, LIMITS)


def test_the_pages_of_a_run_together_have_the_same_cap() -> None:
    words = " ".join(f"word{n}" for n in range(100))
    less = " ".join(f"word{n}" for n in range(80))
    plan = [change("wiki/b", words, less)]
    check_plan(plan, LIMITS, [change("wiki/a", words, less)])
    with pytest.raises(RefusedError, match="The run would have taken"):
        check_plan([change("wiki/a", less, " ".join(less.split()[:60]))], LIMITS,
                   [change("wiki/a", words, less)])  # fmt: skip


def test_a_short_page_may_be_corrected_and_not_replaced() -> None:
    check_plan([change("wiki/kim", "Kim eats no meat at all", "Kim eats no fish at all")], LIMITS)
    with pytest.raises(RefusedError, match="would lose"):
        check_plan([change("wiki/kim", "Kim eats no meat", "Bob hates tea parties")], LIMITS)


def test_deleting_a_short_note_is_a_loss() -> None:
    with pytest.raises(RefusedError, match="memory/kim would lose 3 of its 3 words"):
        check_plan([change("memory/kim", "Kim is vegan", None)], LIMITS)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Kim\n", "---\ntitle: [\n---\nKim\n", "header of wiki/p could not be read"),
        ("Kim\n", "  \n", "would be empty"),
        ("Kim\n", "---\ntitle: Kim\n---\n\n", "would be empty"),
        ("a <private>x</private> b\n", "a b\n", "lose private parts"),
        ("one two\n", "one two <private> three\n", "without an end"),
        ("Kim\n", "---\npinned: true\n---\nKim\n", "be pinned, which only a person"),
        ("---\npinned: true\n---\nKim\n", "---\npinned: false\n---\nKim\n", "no longer be pinned"),
        ("Kim\n", "---\nmetadata:\n  seed: true\n---\nKim\n", "metadata.seed"),
        ("Kim\n", "---\nmetadata:\n  triggers: [hi]\n---\nKim\n", "metadata.triggers"),
        ("---\nwiki_promote: false\n---\nKim\n", "---\ntags: []\n---\nKim\n", "wiki_promote"),
        ("---\ntags: [a]\n---\nKim\n", "---\ntitle: a\n---\nKim\n", "would lose tags"),
        (
            "---\nsource:\n  kind: web\n---\nKim\n",
            "---\nsource:\n  by: me\n---\nKim\n",
            "comes from outside",
        ),
        ("Kim\n", f"Kim\n\n{LONG}\n\n{LONG}\n", "same line more than once"),
        ("Kim\n", "Kim\n\n<MEMORY[wiki/x] revision=1>\n", "frame"),
    ],
)
def test_each_rule_names_what_is_wrong(before: str, after: str, said: str) -> None:
    with pytest.raises(RefusedError, match=said.replace(".", r"\.")):
        check_plan([change("wiki/p", before, after)], LIMITS)


def test_what_the_model_was_told_does_not_become_a_note() -> None:
    told = "Read every candidate page in full before you change any of them."
    with pytest.raises(RefusedError, match="a line of the instructions"):
        check_plan([change("wiki/p", None, f"# P\n\n{told}\n")], LIMITS, instructions=told)


def test_bytes_that_are_no_text_are_refused() -> None:
    plan = [Change(Spot(source("wiki"), "p"), b"Kim\n", b"Kim \xff\n")]
    with pytest.raises(RefusedError, match="would not be text"):
        check_plan(plan, LIMITS)


def test_a_vault_is_never_changed() -> None:
    with pytest.raises(RefusedError, match="vault/x is in a read-only vault"):
        check_plan([change("vault/x", "a b c d", "a b c d e")], LIMITS)


def test_a_plan_changes_a_few_notes() -> None:
    plan = [change(f"wiki/p{n}", None, "text") for n in range(13)]
    with pytest.raises(RefusedError, match="changes 13 notes, and at most 12"):
        check_plan(plan, LIMITS)


def test_a_broken_header_that_a_person_left_may_stay() -> None:
    broken = "---\ntitle: [\ntags: x\n---\nKim\n"
    check_plan([change("wiki/p", broken, f"{broken}\nMore of it.\n")], LIMITS)


@given(WORDS, WORDS, WORDS)
def test_a_page_never_loses_more_than_it_had(before: str, after: str, other: str) -> None:
    one = change("wiki/a", before, after)
    lost, had = removed(one, [one, change("wiki/b", None, other)])
    alone, _ = removed(one, [one])
    assert 0 <= lost <= alone <= had


@given(WORDS, WORDS)
def test_adding_text_or_moving_all_of_it_is_never_a_loss(before: str, more: str) -> None:
    check_loss([change("wiki/a", before, f"{before} {more}")], 0)
    moved = [change("wiki/a", before, more), change("wiki/b", None, before)]
    check_loss(moved, 0)


@given(WORDS, WORDS, st.floats(0, 1))
def test_what_passes_lost_no_more_than_the_share_or_half_of_a_few(
    before: str, after: str, share: float
) -> None:
    one = change("wiki/a", before, after)
    try:
        check_loss([one], share)
    except RefusedError:
        return
    lost, had = removed(one, [one])
    assert lost <= max(share * had, min(5, had / 2))
