"""Nothing that somebody saves in the last moment is lost."""

from __future__ import annotations

from pathlib import Path

from memory_mcp.notes.exchange import exchange
from memory_mcp.notes.folder import Folder, open_folder
from memory_mcp.notes.place import Place
from memory_mcp.notes.putting import _give_back, create, delete, replace


def place_in(folder: Folder) -> Place:
    return Place("memory/n", folder, "n.md", "n.md")


def test_a_save_while_the_old_text_is_kept_stops_the_change(tmp_path: Path) -> None:
    note = tmp_path / "n.md"
    note.write_bytes(b"old")

    def keep(data: bytes) -> str:
        assert data == b"old"
        note.write_bytes(b"mine")
        return "kept"

    with open_folder(tmp_path) as folder:
        assert replace(place_in(folder), b"old", b"new", note.stat(), keep) is None
        assert note.read_bytes() == b"mine"
        note.write_bytes(b"old")
        assert delete(place_in(folder), b"old", keep) is None
    assert note.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["n.md"]


def test_a_file_that_is_there_is_not_created(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_bytes(b"mine")
    with open_folder(tmp_path) as folder:
        assert not create(place_in(folder), b"new")
    assert (tmp_path / "n.md").read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["n.md"]


def test_what_was_displaced_by_mistake_is_put_back(tmp_path: Path) -> None:
    kept: list[bytes] = []

    def keep(data: bytes) -> str:
        kept.append(data)
        return "kept"

    (tmp_path / ".t").write_bytes(b"mine")
    (tmp_path / "n.md").write_bytes(b"new")
    with open_folder(tmp_path) as folder:
        if not exchange(folder, ".t", "n.md"):
            return  # this file system cannot
        assert (tmp_path / "n.md").read_bytes() == b"mine"
        assert exchange(folder, ".t", "n.md")
        _give_back(place_in(folder), ".t", b"new", keep)
        assert (tmp_path / "n.md").read_bytes() == b"mine"
        assert kept == []
        (tmp_path / ".t").write_bytes(b"earlier")
        _give_back(place_in(folder), ".t", b"new", keep)
    assert kept == [b"mine"]  # saved over ours in between: both are somewhere
    assert (tmp_path / "n.md").read_bytes() == b"earlier"


def test_names_that_are_not_there_cannot_be_exchanged(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    with open_folder(tmp_path) as folder:
        assert not exchange(folder, "a", "b")
    assert (tmp_path / "a").read_bytes() == b"a"
