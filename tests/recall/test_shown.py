"""What a conversation has in view, on disk."""

from __future__ import annotations

import os
from pathlib import Path

from memory_mcp.recall.shown import FOLDER, KEEP_SECONDS, MOST_ITEMS, Given, Shown


def test_what_was_shown_outlives_the_process_and_is_forgotten_when_told(tmp_path: Path) -> None:
    Shown(tmp_path).add("s", ["a", "b"], Given("m", "p"))
    Shown(tmp_path).add("s", ["c"], Given("n", "p"))
    assert Shown(tmp_path).read("s") == {
        "a": Given("m", "p"),
        "b": Given("m", "p"),
        "c": Given("n", "p"),
    }
    assert Shown(tmp_path).read("t") == {}
    Shown(tmp_path).reset("s")
    assert Shown(tmp_path).read("s") == {}
    Shown(tmp_path).reset("s")


def test_nothing_is_kept_without_a_session(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    shown.add(None, ["a"], Given())
    assert shown.read(None) == {}
    assert not (tmp_path / FOLDER).exists()


def test_a_session_is_bounded_and_old_ones_go(tmp_path: Path) -> None:
    Shown(tmp_path).add("old", ["a"], Given())
    (old,) = (tmp_path / FOLDER).iterdir()
    stamp = old.stat().st_mtime - KEEP_SECONDS - 10
    os.utime(old, (stamp, stamp))
    shown = Shown(tmp_path)
    shown.add("s", (str(n) for n in range(MOST_ITEMS + 5)), Given())
    assert next(iter(shown.read("s"))) == "5"
    assert shown.read("old") == {}


def test_a_damaged_file_is_taken_for_nothing_shown(tmp_path: Path) -> None:
    shown = Shown(tmp_path)
    shown.add("s", ["a"], Given())
    (path,) = (tmp_path / FOLDER).iterdir()
    for damage in (b"", b"[[1]]", b"{}", b"\xff", b"[" * 100_000):
        path.write_bytes(damage)
        assert shown.read("s") == {}
    assert path.stat().st_mode & 0o077 == 0 or os.name == "nt"


def test_any_text_is_a_session_id(tmp_path: Path) -> None:
    for session in ("../../x", "\ud800", "a" * 10_000, ""):
        Shown(tmp_path).add(session, ["a"], Given())
        assert "a" in Shown(tmp_path).read(session)
    assert all(path.parent == tmp_path / FOLDER for path in tmp_path.rglob("*.json"))
