"""The knowledge graph of the reference memory server, read line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.wording import ENGLISH
from memory_mcp.curate.importing.graph import read_graph

LINES: list[dict[str, Any]] = [
    {
        "type": "entity",
        "name": "Alice Moreau",
        "entityType": "person",
        "observations": ["Speaks French", "Likes tea\nblack, at four"],
    },
    {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
    {"type": "relation", "from": "Alice Moreau", "to": "Acme", "relationType": "works_at"},
    {"type": "relation", "from": "Alice Moreau", "to": "Lyon", "relationType": "lives in"},
    {"type": "relation", "from": "Nobody", "to": "Acme", "relationType": "owns"},
    {"type": "entity", "name": "Alice Moreau", "observations": ["Speaks French", "Has a cat"]},
]


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


def test_an_entity_is_a_note_with_its_observations_and_relations() -> None:
    found = read_graph(lines(*LINES), ENGLISH)
    alice, acme = found.items
    assert alice.path == "people/alice-moreau"
    assert alice.header == {"title": "Alice Moreau", "tags": ["person"]}
    assert alice.links == (("Acme", "works_at"),)
    for said in ("- Speaks French\n", "- Likes tea\n  black, at four\n", "- Has a cat\n"):
        assert alice.text.count(said) == 1
    assert alice.text.endswith("- lives in Lyon\n")
    assert "Lyon" in alice.remarks[0]
    assert acme.text == "# Acme\n"
    (left,) = found.left
    assert left.origin == "line 5"
    assert "Nobody owns Acme" in left.reason


def test_what_read_graph_prints_is_the_same_as_the_file() -> None:
    whole: dict[str, Any] = {"entities": [], "relations": []}
    for value in LINES:
        bare = {key: item for key, item in value.items() if key != "type"}
        whole["entities" if value["type"] == "entity" else "relations"].append(bare)
    assert read_graph(json.dumps(whole), ENGLISH).items == read_graph(lines(*LINES), ENGLISH).items


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "1", "null", '{"type": "entity"}', '{"type": "entity", "name": " "}', '"a"'],
)
def test_a_line_that_says_nothing_is_left_with_its_number(line: str) -> None:
    found = read_graph("\n\n" + line, ENGLISH)
    assert found.items == ()
    assert [item.origin for item in found.left] == ["line 3"]


def test_observations_of_a_fork_with_times_are_read_by_their_content() -> None:
    value = {"type": "entity", "name": "A", "observations": [{"content": "x", "timestamp": 1}, 7]}
    found = read_graph(lines(value), ENGLISH)
    assert "- x\n" in found.items[0].text
    assert 'no text: "7"' in found.left[0].reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
TEXT = st.text(max_size=60)
ENTITY = st.fixed_dictionaries(
    {"type": st.just("entity"), "name": TEXT, "entityType": TEXT, "observations": st.lists(TEXT)}
)
RELATION = st.fixed_dictionaries(
    {"type": st.just("relation"), "from": TEXT, "to": TEXT, "relationType": TEXT}
)


@given(st.lists(st.one_of(TEXT, st.one_of(JSON, ENTITY, RELATION).map(json.dumps)), max_size=12))
def test_any_file_is_read_to_the_end_and_no_line_is_lost_unsaid(rows: list[str]) -> None:
    found = read_graph("\n".join(rows), ENGLISH)
    for item in found.items:
        item.text.encode("utf-8")
        assert item.path.count("/") == 1
    assert len({item.origin for item in found.items}) == len(found.items)


@given(st.lists(ENTITY, max_size=6))
def test_every_word_of_every_observation_is_on_the_page(values: list[dict[str, Any]]) -> None:
    found = {item.origin: item for item in read_graph(lines(*values), ENGLISH).items}
    for value in values:
        name = value["name"].replace("\0", "")
        if name not in found:
            continue
        text = found[name].text
        for said in value["observations"]:
            for word in said.replace("\0", "").split():
                assert word in text
