"""References and links mean one note, or say which notes they may mean."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.core.errors import AmbiguousError, InputError, NotFoundError
from memory_mcp.core.note import Card, Link, LinkKind, SourceKind
from memory_mcp.index.names import Names
from memory_mcp.notes.sources import Source

KINDS: tuple[tuple[str, str, SourceKind], ...] = (
    ("memory", "memory:default", "memory"),
    ("wiki", "wiki", "wiki"),
    ("vault", "vault", "vault"),
)
SOURCES = tuple(
    Source(name, id_, kind, Path("/nowhere") / name, 1.0, (), 12, 100) for name, id_, kind in KINDS
)
IDS = {source.name: source.id for source in SOURCES}


def card(reference: str, *links: Link, **more: object) -> Card:
    source, _, path = reference.partition("/")
    title = str(more.pop("title", path.rpartition("/")[2]))
    return Card(source, path, "0" * 12, 1, title, "", links=links, **more)  # type: ignore[arg-type]


def names(*cards: Card) -> Names:
    known = Names(SOURCES)
    for one in cards:
        known.put(IDS[one.source], one)
    return known


def resolve(known: Names, text: str) -> str:
    source, path = known.resolve(text)
    return f"{source.name}/{path}"


def link(target: str, kind: LinkKind = "wikilink", relation: str = "links") -> Link:
    return Link(target, kind, relation)


def target(known: Names, reference: str, one: Link) -> str | None:
    source, _, path = reference.partition("/")
    found = known.target(IDS[source], path, one)
    return known.reference(*found) if found else None


@pytest.mark.parametrize(
    "text",
    [
        "vault/Projects/Straße",
        "vault/Projects/Straße.md",
        "./vault/Projects/Straße",
        unicodedata.normalize("NFD", "vault/Projects/Straße"),
        "Projects/Straße",
        "Straße",
        "straße",
        "VAULT/projects/STRASSE",
        "vault/Straße",
    ],
)
def test_one_note_answers_to_all_spellings_of_its_reference(text: str) -> None:
    assert resolve(names(card("vault/Projects/Straße"), card("memory/x")), text) == (
        "vault/Projects/Straße"
    )


def test_what_fits_two_notes_is_refused_with_both() -> None:
    known = names(card("vault/A/Index"), card("vault/B/Index"))
    for text in ("Index", "vault/Index", "index"):
        with pytest.raises(AmbiguousError, match=r"vault/A/Index, vault/B/Index"):
            known.resolve(text)
    assert resolve(known, "A/Index") == "vault/A/Index"


def test_exact_spelling_and_exact_path_win() -> None:
    known = names(card("vault/garden"), card("vault/GARDEN"), card("vault/old/garden"))
    assert resolve(known, "garden") == "vault/garden"
    assert resolve(known, "vault/GARDEN") == "vault/GARDEN"
    with pytest.raises(AmbiguousError):
        known.resolve("Garden")


def test_a_missing_note_names_what_is_near() -> None:
    known = names(card("memory/my-space-plan"), card("vault/other"))
    with pytest.raises(NotFoundError, match="memory/my-space-plan"):
        known.resolve("memory/my-space-plam")
    with pytest.raises(NotFoundError, match="memory/my-space-plan"):
        known.resolve("space-plan")


def test_an_unknown_source_is_told_the_sources_there_are() -> None:
    with pytest.raises(NotFoundError, match=r"no source 'notes'.*memory, wiki, vault"):
        names(card("memory/a")).resolve("notes/zzz")


def test_a_reference_that_leaves_its_folder_is_refused() -> None:
    with pytest.raises(InputError):
        names(card("memory/a")).resolve("memory/../../etc/passwd")


def test_only_visible_sources_are_looked_into() -> None:
    known = names(card("memory/a"), card("vault/a"))
    source, path = known.resolve("a", ["vault"])
    assert (source.name, path) == ("vault", "a")
    with pytest.raises(NotFoundError):
        known.resolve("memory/a", ["vault"])


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (link("A/Index"), "vault/A/Index"),
        (link("Index"), None),
        (link("KM"), "vault/People/Karla Muster"),
        (link("people/karla muster"), "vault/People/Karla Muster"),
        (link("Karla Muster"), "vault/People/Karla Muster"),
        (link("Karla%20Muster", "markdown"), "vault/People/Karla Muster"),
        (link("../People/Karla Muster.md", "markdown"), "vault/People/Karla Muster"),
        (link("beside.md", "markdown"), "vault/notes/beside"),
        (link("/A/Index", "markdown"), "vault/A/Index"),
        (link("memory/kettle", "relation"), "memory/kettle"),
        (link("kettle"), "memory/kettle"),
        (link("The copper kettle"), "memory/kettle"),
        (link("feedback_kettle"), "memory/kettle"),
        (link("../../../out", "markdown"), None),
        (link("absent"), None),
    ],
)
def test_links_lead_where_people_mean_them_to(one: Link, expected: str | None) -> None:
    known = names(
        card("vault/A/Index"),
        card("vault/B/Index"),
        card("vault/People/Karla Muster", aliases=("KM",)),
        card("vault/notes/note"),
        card("vault/notes/beside"),
        card("memory/kettle", title="The copper kettle", name="feedback_kettle"),
    )
    assert target(known, "vault/notes/note", one) == expected


def test_of_two_notes_of_one_name_the_one_in_the_same_folder_is_meant() -> None:
    known = names(card("vault/A/Index"), card("vault/B/Index"), card("vault/B/note"))
    assert target(known, "vault/B/note", link("Index")) == "vault/B/Index"


def test_percent_signs_are_not_mixed_up() -> None:
    known = names(card("vault/100% sure"), card("vault/100%25 sure"), card("vault/x"))
    assert resolve(known, "vault/100% sure") == "vault/100% sure"
    assert resolve(known, "vault/100%25 sure") == "vault/100%25 sure"
    assert target(known, "vault/x", link("100%25 sure", "markdown")) == "vault/100%25 sure"


def test_back_links_follow_notes_that_come_and_go() -> None:
    known = names(card("vault/a", link("b")), card("vault/b"))
    assert [back.reference for back in known.backlinks("vault", "b")] == ["vault/a"]
    known.put("vault", card("vault/c", aliases=("b",)))
    assert known.backlinks("vault", "c") == ()  # the path is stronger than the alias
    known.drop("vault", "b")
    assert [back.reference for back in known.backlinks("vault", "c")] == ["vault/a"]
    known.put("vault", card("vault/a", link("elsewhere")))
    assert known.backlinks("vault", "c") == ()
    assert known.backlinks("vault", "absent") == ()


def test_a_note_is_superseded_by_the_latest_that_says_so() -> None:
    newer = link("memory/plan", "relation", "supersedes")
    known = names(
        card("memory/plan", newer),
        card("memory/plan-2", newer, updated="2026-02-01"),
        card("memory/plan-3", newer, updated="2026-03-01"),
        card("memory/other", link("memory/plan", "relation", "part_of"), updated="2027-01-01"),
    )
    assert known.superseded_by("memory:default", "plan") == "memory/plan-3"
    assert known.superseded_by("memory:default", "plan", ["vault"]) is None
    assert known.superseded_by("memory:default", "plan-3") is None


def test_an_old_note_may_say_itself_what_supersedes_it() -> None:
    known = names(
        card("memory/old", link("memory/new", "relation", "Superseded-By"), updated="2027-01-01"),
        card("memory/new", link("memory/older", "relation", "supersedes")),
        card("memory/self", link("memory/self", "relation", "superseded_by")),
        card("memory/lost", link("memory/absent", "relation", "superseded_by")),
        card("memory/older"),
    )
    assert known.superseded_by("memory:default", "old") == "memory/new"
    assert known.superseded_by("memory:default", "old", ["vault"]) is None
    for other in ("new", "self", "lost"):
        assert known.superseded_by("memory:default", other) is None
    replaced = known.related("memory:default", "new", "supersedes")
    assert replaced == ("memory/old", "memory/older")
    known.drop("memory:default", "new")
    assert known.superseded_by("memory:default", "old") is None
    assert known.says("supersedes")
    for name in ("old", "self", "lost"):
        known.drop("memory:default", name)
    assert not known.says("supersedes")


def test_the_latest_counts_whichever_of_two_notes_says_so() -> None:
    known = names(
        card("memory/plan", link("memory/plan-2", "relation", "superseded_by")),
        card("memory/plan-2", updated="2026-02-01"),
        card("memory/plan-3", link("plan", "relation", "supersedes"), updated="2026-03-01"),
    )
    assert known.superseded_by("memory:default", "plan") == "memory/plan-3"
    assert known.related("memory:default", "plan-2", "supersedes") == ("memory/plan",)


PATHS = st.sampled_from(["a", "b", "A", "n/a", "n/b", "n/c", "deep/n/a"])
TARGETS = st.sampled_from(["a", "b", "c", "n/a", "../a", "./b", "vault/a", "T", "deep/n/a"])
CARDS = st.builds(
    lambda source, path, targets, title: card(f"{source}/{path}", *targets, title=title),
    st.sampled_from(["memory", "vault"]),
    PATHS,
    st.lists(st.builds(link, TARGETS, st.sampled_from(["wikilink", "markdown"])), max_size=3),
    st.sampled_from(["T", "a", "b"]),
)


@given(st.lists(st.tuples(st.booleans(), CARDS), max_size=20))
@settings(max_examples=200, deadline=None)
def test_back_links_are_exactly_the_links_that_lead_here(
    steps: Sequence[tuple[bool, Card]],
) -> None:
    known = Names(SOURCES)
    there: dict[tuple[str, str], Card] = {}
    for keep, one in steps:
        key = (IDS[one.source], one.path)
        if keep:
            known.put(key[0], one)
            there[key] = one
        else:
            known.drop(*key)
            there.pop(key, None)
    for key in there:
        expected = sorted(
            {
                other
                for other, one in there.items()
                for each in one.links
                if other != key and known.target(*other, each) == key
            }
        )
        found = [(back.source_id, back.path) for back in known.backlinks(*key)]
        assert sorted(set(found)) == expected
