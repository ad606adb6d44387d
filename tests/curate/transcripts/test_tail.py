"""The end of a transcript is read, whatever lies at its path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.curate.transcripts.tail import lines_from_end


def test_lines_come_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"one\ntwo\nthree\n")
    assert list(lines_from_end(str(path))) == [b"", b"three", b"two", b"one"]


def test_a_line_that_was_cut_off_by_the_limit_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"one\ntwo\nthree")
    assert list(lines_from_end(str(path), 7)) == [b"three"]
    assert list(lines_from_end(str(path), 4)) == []


def test_a_huge_file_is_read_at_its_end_only(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 40)
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast")
    assert next(lines_from_end(str(path), 100)) == b"last"


def test_what_is_no_file_holds_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path in ("pipe", "loop", "missing", "missing/deep", "."):
        assert list(lines_from_end(str(tmp_path / path))) == []
    assert list(lines_from_end("/dev/zero")) == []


@pytest.mark.parametrize("path", ["a\0b", "", "x" * 5000, "\ud83d"])
def test_what_is_no_path_holds_nothing(path: str) -> None:
    assert list(lines_from_end(path)) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser reads it")
def test_a_file_that_must_not_be_read_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"one\n")
    path.chmod(0)
    assert list(lines_from_end(str(path))) == []


@given(st.lists(st.binary(max_size=9).filter(lambda line: b"\n" not in line), max_size=9))
def test_every_line_is_there_once(lines: list[bytes]) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\n".join(lines))
        file.flush()
        assert list(lines_from_end(file.name))[::-1] == (lines or [b""])
