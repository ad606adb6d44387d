"""The stored index may vanish or be damaged at any moment; the notes stay findable."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_mcp.core.errors import StorageError
from memory_mcp.index.cache import EmbeddingCache
from memory_mcp.index.catalog import Catalog
from memory_mcp.index.database import Database
from memory_mcp.index.index import disk_state
from tests.index.world import World, found, near, until_settled

pytestmark = pytest.mark.anyio


def _zeros(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def _half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def _text(path: Path) -> None:
    path.write_text("no database at all, only a line of text\n" * 100, encoding="utf-8")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _hole(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\xff" * len(data[4096:8192])
    path.write_bytes(bytes(data))


def _other_layout(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE files (other TEXT)")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize("damage", [_zeros, _half, _text, _empty, _hole, _other_layout])
@pytest.mark.parametrize("name", ["catalog.sqlite3", "embeddings.sqlite3"])
async def test_a_damaged_database_is_made_anew_and_says_so(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    world = World(tmp_path)
    for n in range(30):
        world.write(f"memory/n{n}", f"# N{n}\n\nThe policy number {n} ends in 884." + " more" * 50)
    async with world.running():
        pass
    damage(world.home / ".index" / name)
    async with world.running() as index:
        assert len(found(index, "policy")) == 20
        state = index.state()
        assert (state.pending, state.vectors) == (0, 30)
        if damage is not _empty:
            assert any(name in warning.message for warning in state.warnings)
    assert disk_state(world.config, world.sources).pending == 0


async def test_the_whole_folder_may_be_deleted(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/safe", "The policy number ends in 884.")
    async with world.running():
        pass
    shutil.rmtree(world.home / ".index")
    async with world.running() as index:
        assert found(index, "policy") == ["memory/safe"]
        assert await near(index, "policy number") == ["memory/safe"]


async def test_a_folder_deleted_under_a_running_index_is_written_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/safe", "The policy number ends in 884.")
    world.write("memory/other", "The kettle is in the shed.")
    async with world.running() as index:
        shutil.rmtree(world.home / ".index")
        world.write("memory/new", "A third note.")
        await until_settled(index)
        assert len(found(index, "policy kettle third")) == 3
        await until_settled(index)
    assert disk_state(world.config, world.sources).pending == 0


@pytest.mark.parametrize("damage", [_zeros, _half, _text, _empty, _hole])
async def test_files_damaged_under_a_running_index_are_made_anew_and_it_lives_on(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    world = World(tmp_path)
    for n in range(30):
        world.write(f"memory/n{n}", f"# N{n}\n\nThe policy number {n} ends in 884." + " more" * 50)
    async with world.running() as index:
        for file in (world.home / ".index").iterdir():
            damage(file)
        world.write("memory/new", "A kettle is in the shed.")
        await until_settled(index)
        assert found(index, "kettle") == ["memory/new"]
        assert await near(index, "kettle in the shed", 1) == ["memory/new"]
        assert any("catalog.sqlite3" in warning.message for warning in index.state().warnings)
        outside = disk_state(world.config, world.sources)
        assert (outside.pending, outside.vectors) == (0, 31)
        assert any("made anew" in warning.message for warning in outside.warnings)


async def test_an_empty_folder_in_the_place_of_a_database_is_put_aside(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("memory/safe", "The policy number ends in 884.")
    for name in ("catalog.sqlite3", "embeddings.sqlite3-journal"):
        (world.home / ".index" / name).mkdir(parents=True)
    async with world.running() as index:
        assert len(index.state().warnings) == 2
    assert disk_state(world.config, world.sources).pending == 0


def test_a_write_that_was_cut_off_is_rolled_back_by_who_looks(tmp_path: Path) -> None:
    world = World(tmp_path)
    Catalog(world.home / ".index").prune(lambda source_id: False)
    file = world.home / ".index" / "catalog.sqlite3"
    code = (
        "import os, sqlite3, sys\n"
        "base = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "base.execute('PRAGMA cache_size = 2')\n"
        "base.execute('BEGIN IMMEDIATE')\n"
        "for n in range(500):\n"
        "    base.execute('INSERT INTO facts VALUES (?, ?)', (str(n), 'x' * 1000))\n"
        "os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == 9
    assert file.with_name(f"{file.name}-journal").stat().st_size > 0
    assert disk_state(world.config, world.sources).warnings == ()


async def test_the_folder_of_the_index_is_private(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.running():
        assert stat.S_IMODE((world.home / ".index").stat().st_mode) == 0o700


async def test_a_folder_that_cannot_be_made_costs_a_warning(tmp_path: Path) -> None:
    world = World(tmp_path)
    (world.home / ".index").write_text("a file is in the way", encoding="utf-8")
    world.write("memory/safe", "The policy number ends in 884.")
    async with world.running() as index:
        assert found(index, "policy") == ["memory/safe"]
        assert await near(index, "policy number") == ["memory/safe"]
        assert any(warning.reference == "index" for warning in index.state().warnings)


def test_a_full_disk_is_named_and_raises_no_bare_error(tmp_path: Path) -> None:
    database = Database(tmp_path / "small.sqlite3", "CREATE TABLE t (x BLOB)", 1)
    database.run(lambda connection: connection.execute("PRAGMA max_page_count = 8"))

    def fill(connection: sqlite3.Connection) -> None:
        for _ in range(100):
            connection.execute("INSERT INTO t VALUES (zeroblob(4000))")

    with pytest.raises(StorageError, match="full"):
        database.run(fill)
    assert database.run(lambda c: c.execute("SELECT count(*) FROM t").fetchone()[0]) == 0
    database.close()


def test_two_processes_share_a_cache_and_one_may_renew_it(tmp_path: Path) -> None:
    embedder = World(tmp_path).hash
    vectors = dict(zip("ab", embedder.passages(["oak", "iron"]), strict=True))
    one, two = EmbeddingCache(tmp_path), EmbeddingCache(tmp_path)
    one.save("id", vectors)
    assert two.load("id", ["a", "b", "c"], 32).keys() == {"a", "b"}
    one.close()
    for file in tmp_path.glob("embeddings.sqlite3*"):
        file.unlink()
    assert one.load("id", ["a"], 32) == {}
    one.save("id", vectors)
    assert two.load("id", ["a"], 32).keys() == {"a"}
    assert two.load("other", ["a"], 32) == {}
    assert two.load("id", ["a"], 16) == {}
    one.close()
    two.close()


def test_a_kept_vector_that_is_no_unit_vector_counts_as_missing(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    embedder = World(tmp_path / "w").hash
    cache.save("id", dict(zip("ab", embedder.passages(["oak", "iron"]), strict=True)))
    cache.database.run(
        lambda c: c.execute("UPDATE vectors SET vector = zeroblob(128) WHERE key = 'a'")
    )
    assert cache.load("id", ["a", "b"], 32).keys() == {"b"}
    assert cache.forget("id", keep=["b"]) == 1
    cache.close()
