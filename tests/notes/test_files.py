"""Reading and changing one note."""

from __future__ import annotations

import os
import socket
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import (
    ConflictError,
    InputError,
    MemoryMcpError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from memory_mcp.notes import files
from memory_mcp.notes.files import Written, read
from memory_mcp.notes.history import History
from memory_mcp.notes.reading import LARGEST
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import Source
from tests.notes.build import NOW, history_at, leftovers, source_at, write

COMPOSED = unicodedata.normalize("NFC", "Señor/café")
DECOMPOSED = unicodedata.normalize("NFD", "Señor/café")


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return source_at(tmp_path / "vault")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return history_at(tmp_path)


def put(source: Source, path: str, text: bytes | None, history: History) -> Written:
    return files.update(source, path, lambda before: text, history, NOW)


def to(text: bytes) -> Callable[[bytes | None], bytes | None]:
    return lambda before: text


def test_a_note_is_read_with_the_stamp_that_a_scan_sees(source: Source) -> None:
    path = write(source, "a/b.md", "\ufeffone\r\ntwo")
    os.utime(path, ns=(0, 1_700_000_000_123_456_789))
    content = read(source, "a/b")
    assert content.data == b"\xef\xbb\xbfone\r\ntwo"
    assert content.stamp == scan(source).files["a/b"].stamp
    assert content.modified == "2023-11-14T22:13:20+00:00"
    assert content.disk == "a/b.md"


def test_a_composed_path_finds_the_decomposed_name(source: Source, history: History) -> None:
    path = write(source, f"{DECOMPOSED}.md", "old")
    assert read(source, COMPOSED).disk == f"{DECOMPOSED}.md"
    put(source, COMPOSED, b"new", history)
    assert path.read_bytes() == b"new"
    put(source, COMPOSED + " noir", b"beside", history)
    assert (path.parent / unicodedata.normalize("NFC", "café noir.md")).exists()
    assert len(list(source.root.iterdir())) == 1


def test_the_spelling_that_a_scan_lists_is_the_one_that_is_read(source: Source) -> None:
    for form in ("NFD", "NFC"):
        write(source, unicodedata.normalize(form, "é/é.md"), form)
    for path, found in scan(source).files.items():
        assert read(source, path).disk == found.disk
    assert read(source, "é/é").data == b"NFC"


def test_a_missing_note_is_not_found(source: Source) -> None:
    (source.root / "folder.md").mkdir()
    for path in ("none", "none/none", "folder"):
        with pytest.raises(NotFoundError, match=f"vault/{path}"):
            read(source, path)


def test_a_missing_source_is_said_as_such(source: Source, history: History) -> None:
    source.root.rmdir()
    with pytest.raises(StorageError, match=r"folder of vault.*sources\.vault\.path"):
        read(source, "a")
    with pytest.raises(StorageError, match="folder of vault"):
        put(source, "a", b"a", history)
    assert not source.root.exists()


def test_a_source_below_the_home_is_made_again(tmp_path: Path, history: History) -> None:
    source = source_at(tmp_path / "home/wiki", name="wiki")
    source.root.rmdir()
    put(source, "people/alice", b"a", history)
    assert read(source, "people/alice").data == b"a"


def test_create_change_and_delete_keep_the_old_text(source: Source, history: History) -> None:
    assert put(source, "a/b", b"one", history) == Written(None, b"one", None)
    changed = put(source, "a/b", b"two\r\n", history)
    assert (changed.before, changed.after) == (b"one", b"two\r\n")
    assert history.load("vault/a/b", changed.kept) == b"one"
    gone = put(source, "a/b", None, history)
    assert history.load("vault/a/b", gone.kept) == b"two\r\n"
    assert not (source.root / "a/b.md").exists()
    assert put(source, "a/b", None, history) == Written(None, None, None)
    assert [version.size for version in history.versions("vault/a/b")] == [5, 3]
    assert leftovers(source.root) == []


def test_equal_bytes_write_nothing(source: Source, history: History) -> None:
    path = write(source, "a.md", "same")
    before = path.stat()
    assert put(source, "a", b"same", history) == Written(b"same", b"same", None)
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert history.versions("vault/a") == ()


def test_a_change_that_raises_writes_nothing(source: Source, history: History) -> None:
    def refuse(before: bytes | None) -> bytes | None:
        raise ConflictError("not now")

    for path in ("a", "new/folder/b"):
        with pytest.raises(ConflictError, match="not now"):
            files.update(source, path, refuse, history, NOW)
    assert list(source.root.iterdir()) == []


def test_mode_of_the_old_file_stays_and_new_ones_follow_the_umask(
    source: Source, history: History
) -> None:
    path = write(source, "a.md", "old")
    path.chmod(0o640)
    put(source, "a", b"new", history)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        put(source, "b", b"new", history)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((source.root / "b.md").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owner_of_the_old_file_stays(source: Source, history: History) -> None:
    path = write(source, "a.md", "old")
    os.chown(path, 4321, 4321)
    put(source, "a", b"new", history)
    assert (path.stat().st_uid, path.stat().st_gid) == (4321, 4321)


def test_a_write_protected_note_is_left_alone(source: Source, history: History) -> None:
    path = write(source, "a.md", "old")
    path.chmod(0o444)
    with pytest.raises(StorageError, match="write-protected"):
        put(source, "a", b"new", history)
    assert path.read_bytes() == b"old"


def test_a_save_in_between_is_not_lost(source: Source, history: History) -> None:
    path = write(source, "a.md", "one\n")
    seen: list[bytes | None] = []

    def add(before: bytes | None) -> bytes | None:
        seen.append(before)
        if len(seen) == 1:
            path.write_bytes(b"editor\n")
        return (before or b"") + b"ours\n"

    written = files.update(source, "a", add, history, NOW)
    assert seen == [b"one\n", b"editor\n"]
    assert path.read_bytes() == b"editor\nours\n"
    assert written.before == b"editor\n"


def test_a_file_that_appears_or_vanishes_in_between_is_seen(
    source: Source, history: History
) -> None:
    path = source.root / "a.md"
    seen: list[bytes | None] = []

    def change(before: bytes | None) -> bytes | None:
        seen.append(before)
        if len(seen) == 1:
            path.write_bytes(b"editor")
        elif len(seen) == 2:
            path.unlink()
        return b"ours"

    files.update(source, "a", change, history, NOW)
    assert seen == [None, b"editor", None]
    assert path.read_bytes() == b"ours"


def test_a_file_that_never_stands_still_is_a_conflict(source: Source, history: History) -> None:
    path = write(source, "a.md", "0")
    count = iter(range(1, 1000))

    def change(before: bytes | None) -> bytes | None:
        path.write_bytes(b"%d" % next(count))
        return b"ours"

    with pytest.raises(ConflictError, match="another program"):
        files.update(source, "a", change, history, NOW)
    assert path.read_bytes() != b"ours"
    assert leftovers(source.root) == []


def test_a_deletion_gives_way_to_a_save_in_between(source: Source, history: History) -> None:
    path = write(source, "a.md", "old")

    def delete(before: bytes | None) -> bytes | None:
        if before == b"old":
            path.write_bytes(b"newer")
            return None
        return before

    assert files.update(source, "a", delete, history, NOW).after == b"newer"
    assert path.read_bytes() == b"newer"


def test_links_are_neither_read_nor_written(tmp_path: Path, history: History) -> None:
    source = source_at(tmp_path / "vault")
    secret = write(source_at(tmp_path / "outside"), "secret.md", "secret")
    write(source, "real.md", "real")
    links: dict[str, str | Path] = {
        "leak.md": secret,
        "dir": secret.parent,
        "near.md": "real.md",
        "gone.md": "nowhere",
        "ring.md": "ring.md",
    }
    for name, target in links.items():
        (source.root / name).symlink_to(target)
    for path in ("leak", "dir/secret", "near", "gone", "ring"):
        with pytest.raises(RefusedError, match="link"):
            read(source, path)
        for text in (b"INTRUDER", None):
            with pytest.raises(RefusedError, match="link"):
                put(source, path, text, history)
    with pytest.raises(RefusedError, match="link"):
        put(source, "dir/new", b"INTRUDER", history)
    assert secret.read_bytes() == b"secret"
    assert sorted(path.name for path in secret.parent.iterdir()) == ["secret.md"]
    assert sum(path.is_symlink() for path in source.root.iterdir()) == 5


def test_pipes_and_sockets_are_refused_at_once(source: Source, history: History) -> None:
    os.mkfifo(source.root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(source.root / "sock.md"))
        for path in ("pipe", "sock"):
            with pytest.raises(RefusedError, match="no regular file"):
                read(source, path)
            with pytest.raises(RefusedError, match="no regular file"):
                put(source, path, b"x", history)


def test_a_file_that_is_too_large_is_refused_with_the_number(
    source: Source, history: History
) -> None:
    path = write(source, "a.md", "")
    os.truncate(path, LARGEST)
    assert len(read(source, "a").data) == LARGEST
    os.truncate(path, LARGEST + 1)
    with pytest.raises(RefusedError, match="16,777,216"):
        read(source, "a")
    for name in ("a", "b"):
        with pytest.raises(RefusedError, match="16,777,216"):
            put(source, name, bytes(LARGEST + 1), history)
    assert [entry.name for entry in source.root.iterdir()] == ["a.md"]


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a\0b", "a\nb", "a\\b", "x" * 1001],
)
def test_what_is_no_path_is_refused(source: Source, history: History, path: str) -> None:
    with pytest.raises(InputError):
        read(source, path)
    with pytest.raises(InputError):
        put(source, path, b"x", history)


def test_names_that_would_not_be_listed_are_neither_read_nor_written(
    tmp_path: Path, history: History
) -> None:
    (tmp_path / "v/inner").mkdir(parents=True)
    source = source_at(tmp_path / "v", exclude=("Private/**",), inner=(tmp_path / "v/inner",))
    for path in (".hidden", ".git/x", "node_modules/x", "Private/x", "inner/x", "~$x"):
        write(source, f"{path}.md")
        with pytest.raises(NotFoundError):
            read(source, path)
        with pytest.raises(RefusedError, match="would not be listed"):
            put(source, path, b"new", history)


def test_a_name_that_is_too_long_is_said_plainly(source: Source, history: History) -> None:
    with pytest.raises(StorageError, match=r"vault/n+ could not be written: the name is too long"):
        put(source, "n" * 300, b"x", history)
    assert list(source.root.iterdir()) == []


def test_the_longest_name_of_a_file_system_works(source: Source, history: History) -> None:
    for path in ("n" * 252, "ü" * 126):
        put(source, path, b"one", history)
        put(source, path, b"two", history)
        assert read(source, path).data == b"two"
        assert history.load(f"vault/{path}") == b"one"


def test_a_file_in_the_way_of_a_folder_is_said_plainly(source: Source, history: History) -> None:
    write(source, "a", "a file without ending")
    with pytest.raises(StorageError, match="a file is where a folder should be"):
        put(source, "a/b", b"x", history)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_no_path_leads_outside(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    base = tmp_path_factory.mktemp("base")
    source = source_at(base / "vault")
    history = history_at(base)
    try:
        put(source, path, b"text", history)
    except MemoryMcpError:
        written = False
    else:
        written = True
        assert read(source, unicodedata.normalize("NFC", path)).data == b"text"
    inside = [entry for entry in source.root.rglob("*") if entry.is_file()]
    assert len(inside) == written
    outside = {entry.name for entry in base.iterdir()}
    assert outside <= {"vault", "home"}
    assert not any(entry.suffix == ".md" for entry in (base / "home").rglob("*"))
