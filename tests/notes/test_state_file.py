"""A small file of our own is the old one or the new one, and nothing lies beside it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memory_mcp.notes.state_file import replace_state


def test_a_file_and_its_folder_are_made_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "deep" / "a.json"
    replace_state(path, b"one")
    replace_state(path, b"two")
    assert path.read_bytes() == b"two"
    assert [found.name for found in path.parent.iterdir()] == ["a.json"]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_cannot_be_put_in_place_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    (tmp_path / "a.json" / "kept").write_bytes(b"old")
    with pytest.raises(OSError, match=r"a\.json"):
        replace_state(tmp_path / "a.json", b"new")
    assert [found.name for found in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json" / "kept").read_bytes() == b"old"
