"""Hints where to look again."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream

from memory_mcp.notes.sources import Source
from memory_mcp.notes.watch import Hints, watch
from tests.notes.build import source_at, write

pytestmark = pytest.mark.anyio


class Heard:
    """The hints that arrived, with bounded waits for more."""

    def __init__(self, stream: MemoryObjectReceiveStream[Hints]) -> None:
        self._stream = stream
        self.all: set[tuple[str, str]] = set()

    async def until(self, *wanted: tuple[str, str]) -> set[tuple[str, str]]:
        """Wait until each place was named, or a folder above it; all hints since the last call."""
        found: set[tuple[str, str]] = set()
        try:
            with anyio.fail_after(5):
                while not all(_covered(place, found) for place in wanted):
                    found |= await self._stream.receive()
        except TimeoutError:
            pytest.fail(f"not all of {wanted} among {found}")
        self.all |= found
        return found


def _covered(place: tuple[str, str], hints: set[tuple[str, str]]) -> bool:
    source, disk = place
    parts = disk.split("/")
    return any((source, "/".join(parts[:end])) in hints for end in range(len(parts) + 1))


@asynccontextmanager
async def watching(sources: Sequence[Source]) -> AsyncIterator[Heard]:
    stop = anyio.Event()
    send, receive = anyio.create_memory_object_stream[Hints](1000)

    async def listen() -> None:
        async for hints in watch(sources, stop):
            await send.send(hints)

    with send, receive:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            heard = Heard(receive)
            there = [source for source in sources if source.root.is_dir()]
            await heard.until(*((source.id, "") for source in there))
            yield heard
            stop.set()


def replaced(path: Path) -> None:
    """Save as most editors do: write beside, then rename."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text("new", encoding="utf-8")
    beside.replace(path)


SAVES: dict[str, Callable[[Path], object]] = {
    "in place": lambda path: path.write_text("new", encoding="utf-8"),
    "by rename": replaced,
    "removed": lambda path: path.unlink(),
    "moved away": lambda path: path.rename(path.with_suffix(".bak")),
}


@pytest.mark.parametrize("kind", SAVES)
async def test_every_kind_of_save_is_a_hint_to_the_file(tmp_path: Path, kind: str) -> None:
    source = source_at(tmp_path)
    path = write(source, "people/ana.md")
    async with watching([source]) as heard:
        SAVES[kind](path)
        assert await heard.until(("vault", "people/ana.md")) == {("vault", "people/ana.md")}


async def test_a_change_is_heard_at_once(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    async with watching([source]) as heard:
        started = time.perf_counter()
        write(source, "a.md")
        await heard.until(("vault", "a.md"))
        assert time.perf_counter() - started < 1  # 70 ms alone; others may be working too


async def test_what_a_scan_skips_is_no_hint(tmp_path: Path) -> None:
    source = source_at(tmp_path, exclude=("Private/**",))
    for folder in (".git", "node_modules", "Private", "kept"):
        (source.root / folder).mkdir()
    async with watching([source]) as heard:
        for name in (
            ".git/x.md",
            "node_modules/x.md",
            "Private/x.md",
            "x.txt",
            "x.md~",
            ".x.md.swp",
            "#x.md#",
            "4913",
        ):
            write(source, name)
        write(source, "kept/x.md")
        assert await heard.until(("vault", "kept/x.md")) == {("vault", "kept/x.md")}


async def test_a_new_folder_is_a_hint_and_is_watched_from_then_on(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    async with watching([source]) as heard:
        write(source, "new/deep/a.md")
        await heard.until(("vault", "new"), ("vault", "new/deep"))
        write(source, "new/deep/b.md")
        await heard.until(("vault", "new/deep/b.md"))


async def test_a_moved_folder_is_a_hint_to_both_names(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, "old/a.md")
    async with watching([source]) as heard:
        (source.root / "old").rename(source.root / "new")
        await heard.until(("vault", "old"), ("vault", "new"))
        write(source, "new/a.md", "changed")
        await heard.until(("vault", "new/a.md"))


async def test_a_removed_folder_is_a_hint(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, "old/sub/a.md")
    async with watching([source]) as heard:
        shutil.rmtree(source.root / "old")
        await heard.until(("vault", "old"))


async def test_a_folder_that_is_moved_in_whole_is_a_hint(tmp_path: Path) -> None:
    source = source_at(tmp_path / "vault")
    write(source_at(tmp_path / "outside"), "sub/a.md")
    async with watching([source]) as heard:
        (tmp_path / "outside").rename(source.root / "in")
        await heard.until(("vault", "in"), ("vault", "in/sub"))


async def test_many_changes_are_one_hint_to_the_source(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    async with watching([source]) as heard:
        for number in range(1000):
            os.close(os.open(source.root / f"{number}.md", os.O_CREAT))
        await heard.until(("vault", ""))


async def test_a_hint_goes_to_the_innermost_source(tmp_path: Path) -> None:
    wiki = source_at(tmp_path / "vault/wiki", name="wiki")
    vault = source_at(tmp_path / "vault", inner=(wiki.root,))
    async with watching([vault, wiki]) as heard:
        write(wiki, "a.md")
        write(vault, "b.md")
        await heard.until(("wiki", "a.md"), ("vault", "b.md"))
    assert ("vault", "wiki/a.md") not in heard.all


async def test_roots_that_come_and_go_are_taken_up(tmp_path: Path) -> None:
    stays, late = source_at(tmp_path / "stays", name="stays"), source_at(tmp_path / "late")
    late.root.rmdir()
    async with watching([stays, late]) as heard:
        late.root.mkdir()
        await heard.until(("vault", ""))
        write(late, "a.md")
        await heard.until(("vault", "a.md"))
        shutil.rmtree(late.root)
        await heard.until(("vault", ""))
        late.root.mkdir()
        await heard.until(("vault", ""))
        write(late, "b.md")
        await heard.until(("vault", "b.md"))


async def test_a_source_alone_may_be_missing_at_start(tmp_path: Path) -> None:
    late = source_at(tmp_path / "late")
    late.root.rmdir()
    async with watching([late]) as heard:
        late.root.mkdir()
        await heard.until(("vault", ""))


async def test_a_link_to_a_large_place_costs_nothing(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    (source.root / "everything").symlink_to("/")
    (source.root / "self").symlink_to(".")
    async with watching([source]) as heard:
        write(source, "a.md")
        await heard.until(("vault", "a.md"))


async def test_it_ends_soon_when_stopped_or_cancelled(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    stop = anyio.Event()
    with anyio.fail_after(2):
        async for _ in watch([source], stop):
            stop.set()
    other = anyio.Event()
    with anyio.fail_after(2), anyio.CancelScope() as scope:
        async for _ in watch([source], other):
            scope.cancel()
    assert not other.is_set()


async def test_it_rests_when_nothing_happens(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, "a.md")
    async with watching([source]):
        before = time.process_time()
        with anyio.move_on_after(1.5):
            await anyio.Event().wait()
        assert time.process_time() - before < 0.15
