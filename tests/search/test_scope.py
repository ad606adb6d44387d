"""Filters of a request."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_mcp.core.errors import InputError
from memory_mcp.core.note import Card, SourceKind
from memory_mcp.core.tag import has_tag
from memory_mcp.index.chosen import labels_of
from memory_mcp.notes.sources import Source
from memory_mcp.search.scope import scope


def source(name: str, kind: SourceKind = "vault") -> Source:
    return Source(name, name, kind, Path("/nowhere") / name, 1.0, (), 12, 100)


KNOWN = (source("memory", "memory"), source("wiki", "wiki"), source("books"))


def card(path: str, name: str = "wiki", tags: tuple[str, ...] = ()) -> Card:
    return Card(name, path, "0" * 12, 1, path, "", tags=tags)


def test_no_names_and_all_mean_every_source() -> None:
    assert scope(KNOWN, ()).sources == KNOWN
    assert scope(KNOWN, ("all",)).sources == KNOWN
    assert scope(KNOWN, ("books", "memory")).source_ids == ("memory", "books")


def test_an_unknown_source_is_refused_and_the_known_ones_are_listed() -> None:
    with pytest.raises(InputError, match=r"'vaults'.*memory, wiki, books"):
        scope(KNOWN, ("vaults",))


@pytest.mark.parametrize("prefix", ["people", "people/", "wiki/people", "./people", "people/an"])
def test_a_prefix_counts_below_the_source_or_with_its_name(prefix: str) -> None:
    found = scope(KNOWN, (), prefix)
    assert found.holds(card("people/ann"))
    assert not found.holds(card("places/ann"))


def test_a_slash_at_the_end_of_a_prefix_means_the_folder() -> None:
    assert scope(KNOWN, (), "people").holds(card("people2/ann"))
    assert not scope(KNOWN, (), "people/").holds(card("people2/ann"))


def test_a_prefix_is_compared_in_composed_form() -> None:
    assert scope(KNOWN, (), "cafe\u0301").holds(card("caf\u00e9/menu"))


@pytest.mark.parametrize("prefix", ["../", "/etc", "a/../../b"])
def test_a_prefix_that_leads_out_is_refused(prefix: str) -> None:
    with pytest.raises(InputError):
        scope(KNOWN, (), prefix)


@pytest.mark.parametrize("wanted", ["home", "#Home", "HOME", "home/"])
def test_a_tag_means_the_tags_below_it_too_in_any_case(wanted: str) -> None:
    found = scope(KNOWN, (), tag=wanted)
    assert found.holds(card("a", tags=("Home/Kitchen",)))
    assert found.holds(card("a", tags=("x", "home")))
    assert not found.holds(card("a", tags=("homework",)))


def test_a_tag_below_does_not_stand_for_the_one_above() -> None:
    assert not has_tag(("home",), "home/kitchen")


@pytest.mark.parametrize(
    "prefix", [None, "people/", "people/old/", "wiki/", "wiki/people/", "books/", "wiki/books/"]
)
@pytest.mark.parametrize("tag", [None, "home", "Home/Kitchen"])
def test_a_rule_leaves_what_the_filter_leaves(prefix: str | None, tag: str | None) -> None:
    found = scope(KNOWN, (), prefix, tag)
    for known in KNOWN:
        rule = found.rule(known)
        assert rule is not None
        for path in ("ann", "people/ann", "people/old/ben", "books/a", "wiki/people/x", "wiki/y"):
            for tags in ((), ("home",), ("#HOME/kitchen/", "x"), ("homework",)):
                one = card(path, known.name, tags)
                labels = labels_of(one)
                below = not rule.folders or not {*rule.folders}.isdisjoint(labels.folders)
                left = below and (rule.tag is None or rule.tag in labels.tags)
                assert left == found.holds(one), (path, tags, rule)


@pytest.mark.parametrize("prefix", ["people", "global/people/"])
def test_a_prefix_that_a_store_cannot_tell_has_no_rule(prefix: str) -> None:
    assert scope(KNOWN, (), prefix).rule(KNOWN[0]) is None
