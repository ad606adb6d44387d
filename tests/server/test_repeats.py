"""A write whose engine died is repeated: it is done once, and answered as if nothing had been."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.attempts import POINTS, Caller, emptied, notes, place
from tests.server.worlds import World

SLUGS = ("ant", "bee", "cat")
SECRET = "The key is AKIAIOSFODNN7EXAMPLQ.\n"
TEXTS = (
    "Rain.",
    "# Sun\n\nWarm.\n",
    SECRET,
    "[[bee]] and <private>x</private>",
)

_slug = st.sampled_from(SLUGS)
_text = st.sampled_from(TEXTS)
_calls = st.one_of(
    st.builds(lambda slug, text: ("memory_write", {"slug": slug, "content": text}), _slug, _text),
    st.builds(lambda slug, text: ("memory_edit", {"slug": slug, "append": text}), _slug, _text),
    st.builds(lambda slug, text: ("memory_edit", {"slug": slug, "content": text}), _slug, _text),
    st.builds(
        lambda slug, text: ("memory_edit", {"slug": slug, "old_text": "a", "new_text": text}),
        _slug,
        _text,
    ),
    st.builds(lambda slug: ("memory_delete", {"slug": slug}), _slug),
    st.builds(lambda one, two: ("memory_link", {"source": one, "target": two}), _slug, _slug),
    st.builds(lambda slug: ("memory_get", {"reference": f"memory/{slug}"}), _slug),
    st.builds(
        lambda slug: ("memory_write", {"slug": slug, "content": "x", "if_revision": "0" * 12}),
        _slug,
    ),
)
_cuts = st.lists(st.sampled_from(POINTS), max_size=3)


@dataclass(frozen=True, slots=True)
class Twins:
    """Two memories, one of which has engines that die."""

    portal: BlockingPortal
    brittle: World
    sound: World


@pytest.fixture(scope="module")
def twins() -> Iterator[Twins]:
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        brittle, sound = (
            stack.enter_context(portal.wrap_async_context_manager(place(folder / name)))
            for name in ("brittle", "sound")
        )
        yield Twins(portal, brittle, sound)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(_calls, _cuts), min_size=1, max_size=6))
def test_wherever_engines_die_each_call_is_done_once_and_answered_as_if_none_had(
    twins: Twins, steps: list[tuple[tuple[str, dict[str, Any]], list[str]]]
) -> None:
    twins.portal.call(_compare, twins, steps)


async def _compare(
    twins: Twins, steps: list[tuple[tuple[str, dict[str, Any]], list[str]]]
) -> None:
    for world in (twins.brittle, twins.sound):
        await emptied(world)
    one, other = Caller(twins.brittle), Caller(twins.sound)
    for (tool, arguments), cuts in steps:
        answer = await one.call(tool, cuts=cuts, **arguments)
        assert answer == await other.call(tool, **arguments)
        assert notes(twins.brittle.app) == notes(twins.sound.app)
    _compare_states(twins, one, other)


def _kept(world: World, reference: str) -> list[str]:
    return [version.revision for version in world.app.history.versions(reference)]


EACH: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_write", {"slug": "dog", "content": SECRET}),
    ("memory_edit", {"slug": "dog", "append": "Of one who knows it all."}),
    ("memory_edit", {"slug": "dog", "old_text": "knows", "new_text": "knew"}),
    ("memory_link", {"source": "dog", "target": "bee"}),
    ("memory_link", {"source": "dog", "target": "bee"}),
    ("memory_edit", {"slug": "bee", "append": SECRET}),
    ("memory_edit", {"slug": "bee", "content": "By one who has seen a part: refused."}),
    ("memory_edit", {"slug": "cat", "content": "Never read, all new."}),
    ("memory_edit", {"slug": "cat", "content": "And once more."}),
    ("memory_edit", {"slug": "cat", "old_text": "once", "new_text": "once"}),
    ("memory_delete", {"slug": "cat"}),
    ("memory_delete", {"slug": "cat"}),
    ("memory_write", {"slug": "cat", "content": "There again."}),
    ("memory_write", {"slug": "ant", "content": "Over the unread."}),
)


@pytest.mark.parametrize("point", POINTS)
def test_each_kind_of_change_is_done_once_whatever_it_was_cut_off_at(
    twins: Twins, point: str
) -> None:
    twins.portal.call(_compare_each, twins, point)


async def _compare_each(twins: Twins, point: str) -> None:
    for world in (twins.brittle, twins.sound):
        await emptied(world)
        for slug in SLUGS:
            await Caller(world).call("memory_write", slug=slug, content="Rain at night.")
    one, other = Caller(twins.brittle), Caller(twins.sound)
    for tool, arguments in EACH:
        answer = await one.call(tool, cuts=[point, point], **arguments)
        assert answer == await other.call(tool, **arguments)
        _compare_states(twins, one, other)


def _compare_states(twins: Twins, one: Caller, other: Caller) -> None:
    assert notes(twins.brittle.app) == notes(twins.sound.app)
    for reference in (f"memory/{slug}" for slug in (*SLUGS, "dog")):
        assert _kept(twins.brittle, reference) == _kept(twins.sound, reference)
        assert one.session.revision(reference) == other.session.revision(reference)
        assert one.session.partial(reference) == other.session.partial(reference)
