"""Two clients whose engines die write to one note: what was acknowledged is in it once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.attempts import Caller, emptied, place, refusal, structured
from tests.server.worlds import World

CUTS = ("begin+", "intend+", "saw-", "answered+")
"""Before the intention, before the file changes, after it, and with the answer on record."""

KINDS = ("append", "old_text", "heading", "write", "header", "rest")
REPLACING = ("heading", "write", "rest")
"""What stood there before is in the call: who makes it must have read it."""

START = "# Log\n\nslot\n\n## Part\n\nempty\n"


@dataclass(frozen=True, slots=True)
class Step:
    """One call of one client. Between its attempts the other may do a call of its own."""

    client: int
    kind: str
    cuts: tuple[str, ...]
    between: bool
    read: bool
    """Whether the client reads the note first; else it may be in conflict."""


_steps = st.lists(
    st.builds(
        Step,
        st.sampled_from([0, 1]),
        st.sampled_from(KINDS),
        st.lists(st.sampled_from(CUTS), max_size=2).map(tuple),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@dataclass(slots=True)
class Model:
    """Which markers must be in the note."""

    sure: set[str] = field(default_factory=set)
    """Of calls that were acknowledged: there once."""
    header: set[str] = field(default_factory=set)
    """Those of them that memory_write takes away with the old header."""
    doubtful: set[str] = field(default_factory=set)
    """Of calls that were in conflict: there once, or not at all."""
    count: int = 0

    def marker(self) -> str:
        self.count += 1
        return f"mark-{self.count}-end"


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[BlockingPortal, World]]:
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        manager = portal.wrap_async_context_manager(place(folder / "home"))
        yield portal, stack.enter_context(manager)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_steps)
def test_wherever_engines_die_what_was_acknowledged_is_in_the_note_exactly_once(
    shared: tuple[BlockingPortal, World], steps: list[Step]
) -> None:
    portal, world = shared
    portal.call(_play, world, steps)


async def _play(world: World, steps: list[Step]) -> None:
    await emptied(world)
    clients = (Caller(world), Caller(world))
    model = Model()
    structured(await clients[0].call("memory_write", slug="log", content=START))
    for number, step in enumerate(steps, 100):
        await _step(world, clients, model, number, step)
        text = world.inbox("log").read_text(encoding="utf-8")
        for marker in model.sure:
            assert text.count(marker) == 1, (marker, text)
        for marker in model.doubtful:
            assert text.count(marker) <= 1, (marker, text)


async def _step(
    world: World, clients: tuple[Caller, Caller], model: Model, number: int, step: Step
) -> None:
    one, other = clients[step.client], clients[1 - step.client]
    if step.read or step.kind in REPLACING:
        structured(await one.call("memory_get", reference="memory/log"))
    marker = model.marker()
    tool, arguments = _call(world, step.kind, marker)
    repeated: list[str | int] = []
    result = None
    for cut in step.cuts:
        result = await one.attempt(number, tool, arguments, repeated, cut)
        if result is not None:
            break
        repeated = [number]
        if step.between:
            await _append(other, model)
    if result is None:
        result = await one.attempt(number, tool, arguments, repeated)
    assert result is not None
    _judge(model, marker, result)
    if step.kind == "write" and marker in model.sure:
        model.sure -= model.header
        model.header.clear()
    elif step.kind == "header" and marker in model.sure:
        model.header.add(marker)


async def _append(caller: Caller, model: Model) -> None:
    structured(await caller.call("memory_get", reference="memory/log"))
    marker = model.marker()
    result = await caller.call("memory_edit", slug="log", append=f"- {marker}")
    _judge(model, marker, result)


def _judge(model: Model, marker: str, result: dict[str, Any]) -> None:
    if not result.get("isError"):
        model.sure.add(marker)
        return
    assert "memory_get" in refusal(result)
    model.doubtful.add(marker)


def _call(world: World, kind: str, marker: str) -> tuple[str, dict[str, Any]]:
    """A call that adds the marker and keeps all others."""
    number = marker.split("-")[1]
    text = world.inbox("log").read_text(encoding="utf-8")
    if kind == "append":
        return "memory_edit", {"slug": "log", "append": f"- {marker}"}
    if kind == "old_text":
        return "memory_edit", {"slug": "log", "old_text": "slot", "new_text": f"slot {marker}"}
    if kind == "heading":
        part = text.partition("## Part\n")[2].strip()
        return "memory_edit", {"slug": "log", "heading": "Part", "content": f"{part}\n{marker}\n"}
    if kind == "write":
        body = text[text.index("# Log") :]
        return "memory_write", {"slug": "log", "content": f"{body}{marker}\n"}
    if kind == "rest":
        body = text[text.index("# Log") :]
        return "memory_edit", {"slug": "log", "content": f"{body}{marker}\n"}
    return "memory_edit", {"slug": "log", "frontmatter": {f"key-{number}": marker}}
