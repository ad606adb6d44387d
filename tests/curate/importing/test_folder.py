"""A folder of Markdown and the auto-memory of Claude Code: everything is taken, or said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_mcp.core.errors import InputError, NotFoundError
from memory_mcp.curate.importing.claude import read_claude
from memory_mcp.curate.importing.folder import read_folder


def lay(root: Path, **files: str | bytes) -> Path:
    """A folder with files; `__` in a name is a `/`, and each ends in `.md`."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def test_every_file_of_a_folder_is_taken_or_named(tmp_path: Path) -> None:
    root = lay(
        tmp_path / "notes",
        bees="# Bees\r\n",
        deep__down__hive="A hive.",
        latin=b"caf\xe9",
        wide="wide".encode("utf-16"),
        binary=b"\x00\x01\x02\x03",
        empty="\n \n",
        huge="x" * 2_000_001,
    )
    (root / "picture.png").write_bytes(b"png")
    (root / ".obsidian").mkdir()
    (root / ".obsidian" / "x.md").write_text("x", encoding="utf-8")
    (root / "way.md").symlink_to("/etc/hostname")
    (root / "inner.md").symlink_to(root / "bees.md")
    os.mkfifo(root / "pipe.md")
    (root / os.fsdecode(b"odd\xff.md")).write_text("x", encoding="utf-8")
    found = read_folder(root)
    assert {item.path: item.raw for item in found.items} == {
        "bees": b"# Bees\r\n",
        "deep/down/hive": b"A hive.",
    }
    left = {item.origin: item.reason for item in found.left}
    assert set(left) == {
        "latin.md",
        "wide.md",
        "binary.md",
        "empty.md",
        "huge.md",
        "1 other file",
        "way",
        "pipe",
        "odd\\xff",
    }
    assert "UTF-8" in left["latin.md"]
    assert "link" in left["way"]


def test_one_file_is_taken_alone(tmp_path: Path) -> None:
    root = lay(tmp_path, a="A.", b="B.")
    assert [item.path for item in read_folder(root / "b.md").items] == ["b"]


def test_a_path_that_is_no_folder_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        read_folder(tmp_path / "nowhere")
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="no folder"):
        read_folder(tmp_path / "x.txt")


FACT = "---\nname: user-role\ndescription: who\nmetadata:\n  type: user\n---\n\nA baker.\n"


def test_facts_of_claude_code_are_taken_and_their_list_is_not(tmp_path: Path) -> None:
    root = lay(
        tmp_path / "-home-ann-shop" / "memory",
        user_role=FACT,
        deploy="By make.",
        MEMORY="# Memory\n\n- [Role](user_role.md) — who\n- [It](./deploy.md) - how to **ship**\n",
    )
    found = read_claude(root)
    facts = {item.origin: item for item in found.items}
    assert set(facts) == {"-home-ann-shop/user_role.md", "-home-ann-shop/deploy.md"}
    assert facts["-home-ann-shop/deploy.md"].header == {"description": "how to ship"}
    assert facts["-home-ann-shop/user_role.md"].header == {}
    assert [item.origin for item in found.left] == ["MEMORY.md"]
    assert read_claude(root.parent) == found


def test_facts_that_stand_in_the_list_itself_are_taken(tmp_path: Path) -> None:
    root = lay(tmp_path / "-home-ann-shop" / "memory", MEMORY="# Notes\n\nUse pnpm, never npm.\n")
    (item,) = read_claude(root).items
    assert (item.path, item.origin) == ("home-ann-shop-memory", "-home-ann-shop/MEMORY.md")


def test_the_memory_of_several_projects_is_asked_about(tmp_path: Path) -> None:
    for name in ("one", "two"):
        lay(tmp_path / name / "memory", a="A.")
    with pytest.raises(InputError, match="one, two"):
        read_claude(tmp_path)
    with pytest.raises(NotFoundError, match="claude/projects"):
        read_claude(tmp_path / "nowhere")
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="no memory of Claude Code"):
        read_claude(tmp_path / "none")
