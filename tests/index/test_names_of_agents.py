"""What an agent can know of names does not depend on what others have."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.note import Card, Link
from memory_mcp.index.names import Names
from memory_mcp.index.view import NamesView
from tests.index.test_names import SOURCES, card, link

OTHER = replace(SOURCES[0], id="memory:scout")
EVERY = (*SOURCES, OTHER)
WORDS = (
    "foo",
    "Foo",
    "foo-2",
    "bar/foo",
    "memory/foo",
    "wiki/foo",
    "vault/bar/foo",
    "memory",
    "x",
)

paths = st.sampled_from(
    [word for word in WORDS if not word.startswith(("memory", "wiki", "vault"))]
)
links = st.builds(
    link,
    st.sampled_from(WORDS),
    st.sampled_from(["wikilink", "markdown", "relation"]),
    st.sampled_from(["links", "supersedes"]),
)


@st.composite
def notes(draw: st.DrawFn) -> list[tuple[str, Card]]:
    """(source id, card) of up to twelve notes, no two at one place."""
    found: dict[tuple[str, str], Card] = {}
    for _ in range(draw(st.integers(0, 12))):
        source, path = draw(st.sampled_from(EVERY)), draw(paths)
        some = draw(st.lists(links, max_size=3))
        title = draw(st.sampled_from(WORDS))
        found[source.id, path] = card(f"{source.name}/{path}", *some, title=title)
    return [(key[0], one) for key, one in found.items()]


def known(of: list[tuple[str, Card]]) -> Names:
    names = Names(EVERY)
    for source_id, one in of:
        names.put(source_id, one)
    return names


def resolved(names: NamesView, text: str) -> object:
    try:
        source, path = names.resolve(text)
    except MemoryMcpError as error:
        return type(error), str(error)
    return source.id, path


@given(notes(), st.lists(links, min_size=1, max_size=3))
def test_names_of_a_view_are_those_of_a_home_without_other_agents(
    all_notes: list[tuple[str, Card]], asked: list[Link]
) -> None:
    for own in (SOURCES[0], OTHER):
        ids = [own.id, "wiki", "vault"]
        seen = [one for one in all_notes if one[0] in ids]
        crowded, alone = NamesView(known(all_notes), ids), NamesView(known(seen), ids)
        for text in WORDS:
            assert resolved(crowded, text) == resolved(alone, text)
        for source_id, one in all_notes:
            place = source_id, one.path
            for some in (*asked, *one.links):
                assert crowded.target(*place, some) == alone.target(*place, some)
            assert crowded.backlinks(*place) == alone.backlinks(*place)
            assert crowded.superseded_by(*place) == alone.superseded_by(*place)
