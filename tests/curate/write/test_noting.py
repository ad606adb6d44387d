"""A writer that tells of each change before it makes it."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memory_mcp.core.edit import EditRequest
from memory_mcp.core.errors import ConflictError, NotFoundError
from memory_mcp.curate.write.edit import Writer
from memory_mcp.curate.write.step import Step
from tests.curate.world import World, world

pytestmark = pytest.mark.anyio

NOTES = {"memory/tea": "Green.\n", "memory/oak": "Old.\n"}
CHANGES: dict[str, Callable[[Writer], Awaitable[object]]] = {
    "write": lambda writer: writer.write("tea", "Black."),
    "create": lambda writer: writer.write("elm", "Young."),
    "edit": lambda writer: writer.edit("tea", EditRequest(append="Hot.")),
    "delete": lambda writer: writer.delete("tea"),
    "delete nothing": lambda writer: writer.delete("elm"),
    "link": lambda writer: writer.link("tea", "memory/oak"),
}


def on_disk(place: World, reference: str) -> bytes | None:
    path = place.file(reference)
    return path.read_bytes() if path.exists() else None


@pytest.mark.parametrize("kind", CHANGES)
async def test_a_change_is_told_before_it_is_made_on_the_thread_that_makes_it(
    tmp_path: Path, kind: str
) -> None:
    told: list[tuple[Step, bytes | None, bool]] = []
    async with world(tmp_path, NOTES) as place:

        def intend(step: Step) -> None:
            other = threading.current_thread() is not threading.main_thread()
            told.append((step, on_disk(place, step.reference), other))

        await CHANGES[kind](place.writer.noting(intend))
        [(step, before, other)] = told
        assert step.before == before
        assert step.after == on_disk(place, step.reference)
        assert other


async def test_what_was_told_last_is_done_where_an_editor_saved_in_between(
    tmp_path: Path,
) -> None:
    told: list[Step] = []
    async with world(tmp_path, NOTES) as place:

        def intend(step: Step) -> None:
            told.append(step)
            if len(told) == 1:
                place.file("memory/tea").write_bytes(b"Green, from an editor.\n")

        await place.writer.noting(intend).edit("tea", EditRequest(append="Hot."))
        assert [step.before for step in told] == [b"Green.\n", b"Green, from an editor.\n"]
        assert told[-1].after == on_disk(place, "memory/tea")
        assert b"from an editor" in (told[-1].after or b"")


async def test_warnings_of_a_change_are_told_with_it(tmp_path: Path) -> None:
    told: list[Step] = []
    async with world(tmp_path, NOTES) as place:
        writer = place.writer.noting(told.append)
        done = await writer.write("key", "The key is AKIAIOSFODNN7EXAMPLQ.")
        assert done.warnings
        assert told[0].warnings == done.warnings


async def test_a_refused_change_is_not_told(tmp_path: Path) -> None:
    told: list[Step] = []
    async with world(tmp_path, NOTES) as place:
        writer = place.writer.noting(told.append)
        with pytest.raises(ConflictError):
            await writer.write("tea", "Black.", expected="0" * 12)
        with pytest.raises(NotFoundError):
            await writer.edit("elm", EditRequest(append="x"))
        assert told == []


async def test_what_listens_can_stop_the_change(tmp_path: Path) -> None:
    def refuse(step: Step) -> None:
        raise ConflictError(f"not {step.reference}")

    async with world(tmp_path, NOTES) as place:
        with pytest.raises(ConflictError, match="not memory/tea"):
            await place.writer.noting(refuse).delete("tea")
        assert on_disk(place, "memory/tea") == b"Green.\n"
        await place.writer.delete("tea")
        assert on_disk(place, "memory/tea") is None
