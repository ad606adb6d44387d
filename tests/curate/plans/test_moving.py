"""Moving a page: links lead where they led, and no other byte changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memory_mcp.core.config import ChunkSettings, Config
from memory_mcp.core.errors import ConflictError, InputError, NotFoundError
from memory_mcp.core.note import Card
from memory_mcp.core.parse import parse
from memory_mcp.core.relink import relink
from memory_mcp.curate.plans.moving import Moved, Relocation
from memory_mcp.curate.plans.plan import Spot
from memory_mcp.index.labels import NoteKey
from memory_mcp.index.names import Names
from memory_mcp.notes.sources import Source, open_sources
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio


HEAD = "---\naliases: [Ally]\n---\n# Alice\n"


async def moved(w: World, old: str, new: str) -> Moved:
    planner = w.curation.parts.planner()
    done = await planner.move(planner.page(old), planner.page(new))
    await w.curation.runs.apply("move-1", planner.changes)
    return done


async def test_a_page_moves_with_all_that_leads_to_it(tmp_path: Path) -> None:
    notes = {
        "wiki/people/alice": HEAD + "With [Bob](bob.md) and [[people/bob]] and [me](alice.md).\n",
        "wiki/people/bob": "# Bob\nKnows [[alice]] and [her](alice.md), `[[alice]]`.\n",
        "wiki/garden": "Ask [[people/alice#Work|Alice M.]] or [x](people/alice.md).\r\n"
        "Or [[Alice]], [[Ally]].\n",
        "memory/one": "---\nlinks: [{to: wiki/people/alice, relation: part_of}]\n---\nA\n",
        "memory/two": "---\nsupersedes: people/alice\n---\n![[wiki/people/alice]]\n",
        "vault/three": "[[people/alice]]\n",
    }
    async with world(tmp_path, notes) as w:
        done = await moved(w, "people/alice", "team/alice-moser")
        assert done.relinked == (
            "memory/one",
            "memory/two",
            "wiki/garden",
            "wiki/people/bob",
        )
        assert len(done.warnings) == 1 and "vault/three" in done.warnings[0]
        assert not w.file("wiki/people/alice").exists()
        assert w.text("wiki/team/alice-moser") == (
            HEAD + "With [Bob](../people/bob.md) and [[people/bob]] and [me](alice-moser.md).\n"
        )
        assert w.text("wiki/people/bob") == (
            "# Bob\nKnows [[alice-moser]] and [her](../team/alice-moser.md), `[[alice]]`.\n"
        )
        assert w.text("wiki/garden") == (
            "Ask [[team/alice-moser#Work|Alice M.]] or [x](team/alice-moser.md).\r\n"
            "Or [[alice-moser]], [[Ally]].\n"
        )
        assert w.text("memory/one") == (
            "---\nlinks: [{to: wiki/team/alice-moser, relation: part_of}]\n---\nA\n"
        )
        assert w.text("memory/two") == (
            "---\nsupersedes: team/alice-moser\n---\n![[wiki/team/alice-moser]]\n"
        )
        assert w.text("vault/three") == notes["vault/three"]
        await w.curation.runs.restore("move-1")
        assert {name: w.text(name) for name in notes} == notes


async def test_a_name_that_would_be_taken_away_from_another_page_is_written_in_full(
    tmp_path: Path,
) -> None:
    notes = {"wiki/a/plan": "A\n", "wiki/old": "B\n", "wiki/c": "[[plan]] and [[old]]\n"}
    async with world(tmp_path, notes) as w:
        await moved(w, "old", "b/plan")
        assert w.text("wiki/c") == "[[a/plan]] and [[b/plan]]\n"


async def test_what_is_planned_already_counts(tmp_path: Path) -> None:
    async with world(tmp_path, {"wiki/old": "A\n", "wiki/taken": "B\n"}) as w:
        planner = w.curation.parts.planner()
        await planner.write(planner.page("new"), "See [[old]].\n", new=True)
        await planner.delete(planner.page("taken"))
        await planner.move(planner.page("old"), planner.page("taken"))
        await w.curation.runs.apply("r", planner.changes)
        assert "See [[taken]]." in w.text("wiki/new")
        assert w.text("wiki/taken") == "A\n"


async def test_a_move_that_cannot_be_is_refused(tmp_path: Path) -> None:
    async with world(tmp_path, {"wiki/a": "A\n", "wiki/b": "B\n"}) as w:
        planner = w.curation.parts.planner()
        with pytest.raises(ConflictError, match="exists already"):
            await planner.move(planner.page("a"), planner.page("b"))
        with pytest.raises(NotFoundError, match="wiki/x"):
            await planner.move(planner.page("x"), planner.page("y"))
        with pytest.raises(InputError, match="another path"):
            await planner.move(planner.page("a"), planner.page("a"))
        assert planner.changes == ()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose sources are only named here; opening them makes their folders."""
    return tmp_path_factory.mktemp("home")


PATHS = ("alice", "bob", "people/alice", "people/bob", "team/bob", "team/deep/alice")
TARGETS = ("alice", "bob", "people/alice", "team/bob", "deep/alice", "Alice", "Bobby")
LINKS = st.one_of(
    st.builds("[[{}]]".format, st.sampled_from((*TARGETS, "wiki/alice", "wiki/people/alice#A"))),
    st.builds("[[{}|x]]".format, st.sampled_from(TARGETS)),
    st.builds(
        "[x]({}.md)".format,
        st.sampled_from((*TARGETS, "../alice", "./bob", "../people/alice", "/team/bob")),
    ),
    st.sampled_from(["`[[alice]]`", "[x](https://example.org)", "text", "\r\n", "[[nobody]]"]),
)  # fmt: skip
HEADER = st.one_of(
    st.just(""),
    st.builds("---\nsupersedes: {}\n---\n".format, st.sampled_from(TARGETS)),
    st.builds(
        "---\naliases: [Bobby]\nlinks: [{{to: {}, relation: x}}]\n---\n".format,
        st.sampled_from((*TARGETS, "wiki/alice", "memory/one")),
    ),
)
TEXT = st.builds(
    lambda head, links: head + " and ".join(links) + "\n", HEADER, st.lists(LINKS, max_size=5)
)
NAMES = re.compile(r"\[\[[^\[\]]*\]\]|\]\([^()]*\)|(?<=supersedes: )[^\n]+|(?<=to: )[^,]+")


def card(source: Source, path: str, text: str) -> Card:
    return parse(source.name, source.kind, path, text.encode("utf-8"), "", ChunkSettings()).card


def led(cards: Mapping[NoteKey, Card], sources: tuple[Source, ...]) -> dict[NoteKey, set[NoteKey]]:
    """The notes to which the links of each note lead."""
    names = Names(sources)
    for key, one in cards.items():
        names.put(key[0], one)
    return {
        key: {goal for link in one.links if (goal := names.target(*key, link)) is not None}
        for key, one in cards.items()
    }


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from(PATHS), TEXT, min_size=2),
    TEXT,
    st.sampled_from((*PATHS, "new/carol", "people/Carol Moser")),
    st.data(),
)
def test_after_a_move_every_link_leads_where_it_led(
    home: Path, pages: dict[str, str], note: str, new: str, data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from(sorted(pages)))
    assume(new not in pages)
    sources = tuple(open_sources(Config.model_validate({"home": str(home)})))
    by_name = {source.name: source for source in sources}
    wiki, inbox = by_name["wiki"], by_name["memory"]
    texts = {(wiki.id, path): text for path, text in pages.items()} | {(inbox.id, "one"): note}
    of = {wiki.id: wiki, inbox.id: inbox}
    cards = {key: card(of[key[0]], key[1], text) for key, text in texts.items()}
    seen = Relocation.of(sources, cards, Spot(wiki, old), Spot(wiki, new), pages[old])
    after = dict(texts)
    for key in [seen.old, *seen.linking()]:
        done = relink(texts[key], partial(seen.wanted, key))
        assert not done.failed
        assert NAMES.sub("@", done.text) == NAMES.sub("@", texts[key])
        after[key] = done.text

    def moved_key(key: NoteKey) -> NoteKey:
        return seen.new if key == seen.old else key

    after[seen.new] = after.pop(seen.old)
    goals = led({key: card(of[key[0]], key[1], text) for key, text in after.items()}, sources)
    for key, led_to in led(cards, sources).items():
        assert {moved_key(goal) for goal in led_to} <= goals[moved_key(key)]
