"""What a source holds, by names and stamps only."""

from __future__ import annotations

import os
import socket
import time
import unicodedata
from pathlib import Path

import pytest

from memory_mcp.notes.scan import Scan, folders, scan
from tests.notes.build import run, script, source_at, write

COMPOSED = unicodedata.normalize("NFC", "Müller")
DECOMPOSED = unicodedata.normalize("NFD", "Müller")


def messages(found: Scan) -> dict[str, str]:
    return {warned.reference: warned.message for warned in found.warnings}


def test_notes_are_found_with_canonical_path_and_stamp(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    path = write(source, "people/Ana Maria.md", "hello")
    found = scan(source)
    note = found.files["people/Ana Maria"]
    state = path.stat()
    assert note.disk == "people/Ana Maria.md"
    assert (note.stamp.mtime_ns, note.stamp.size, note.stamp.inode) == (
        state.st_mtime_ns,
        5,
        state.st_ino,
    )
    assert (found.state, found.warnings, found.left_out) == ("ready", (), 0)
    assert found.folders == ("", "people")


def test_hidden_folders_and_working_copies_are_skipped(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    for name in (
        ".obsidian/x.md",
        ".trash/x.md",
        "a/.git/x.md",
        "a/node_modules/p/x.md",
        "#x.md#",
        "x.md~",
        ".x.md.swp",
        ".#x.md",
        "~$x.md",
        "x.md.tmp",
        ".x.tmp.md",
        ".md",
        "x.txt",
        ".index/deep/x.md",
    ):
        write(source, name)
    write(source, "a/kept.md")
    write(source, "x.sync-conflict-1.md")
    found = scan(source)
    assert set(found.files) == {"a/kept", "x.sync-conflict-1"}
    assert found.warnings == ()


def test_a_pattern_for_a_folder_excludes_all_below_and_nothing_beside(tmp_path: Path) -> None:
    source = source_at(tmp_path, exclude=("Secret/**", "*.draft.md", f"{COMPOSED}/**"))
    for name in (
        "Secret/a.md",
        "Secret/deep/er/b.md",
        "Secret plans.md",
        "Other/Secret/c.md",
        "Other/d.draft.md",
        f"{DECOMPOSED}/e.md",
    ):
        write(source, name)
    found = scan(source)
    assert set(found.files) == {"Secret plans", "Other/Secret/c"}
    assert found.folders == ("", "Other", "Other/Secret")


def test_a_negated_pattern_brings_a_file_back(tmp_path: Path) -> None:
    source = source_at(tmp_path, exclude=("Log/*.md", "!Log/keep.md"))
    write(source, "Log/a.md")
    write(source, "Log/keep.md")
    assert set(scan(source).files) == {"Log/keep"}


def test_links_are_not_followed_and_only_those_that_lose_something_are_told(
    tmp_path: Path,
) -> None:
    source = source_at(tmp_path / "vault")
    outside = source_at(tmp_path / "vault-twin")
    write(outside, "secret.md")
    write(source, "deep/real.md")
    links: dict[str, str | Path] = {
        "leak.md": outside.root / "secret.md",
        "leakdir": outside.root,
        "up": "..",
        "gone.md": "nowhere.md",
        "again": "deep",
        "self": ".",
        "copy.md": "deep/real.md",
        "deep/loop": "..",
        "ring.md": "ring.md",
        "photo.png": "/nonexistent.png",
    }
    for name, target in links.items():
        (source.root / name).symlink_to(target)
    found = scan(source)
    assert set(found.files) == {"deep/real"}
    told = messages(found)
    assert set(told) == {"vault/leak", "vault/leakdir", "vault/up", "vault/gone", "vault/ring"}
    assert "leads outside" in told["vault/leak"]
    assert "leads outside" in told["vault/leakdir"]
    assert "dangling" in told["vault/gone"]
    assert "secret" not in "".join(told.values())


def test_a_link_to_a_file_that_is_no_note_is_told(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, "todo.txt")
    (source.root / "todo.md").symlink_to("todo.txt")
    assert "no note itself" in messages(scan(source))["vault/todo"]


def test_a_folder_named_like_a_note_is_walked(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, "box.md/inner.md")
    assert set(scan(source).files) == {"box.md/inner"}


def test_pipes_and_sockets_are_told_and_never_opened(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    os.mkfifo(source.root / "pipe.md")
    os.mkfifo(source.root / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(source.root / "sock.md"))
        found = scan(source)
    assert found.files == {}
    assert set(messages(found)) == {"vault/pipe", "vault/sock"}
    assert found.state == "empty"


def test_a_name_that_is_not_utf8_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, "good.md")
    for raw in (b"caf\xe9.md", b"a\nb.md", b"back\\slash.md"):
        Path(os.fsdecode(os.fsencode(source.root) + b"/" + raw)).write_bytes(b"x")
    os.mkdir(os.fsencode(source.root) + b"/d\xe9p")  # noqa: PTH102 - bytes
    found = scan(source)
    assert set(found.files) == {"good"}
    told = messages(found)
    assert len(told) == 4
    assert "vault/caf\\xe9" in told
    assert all(reference.encode("utf-8") for reference in told)


def test_two_spellings_of_one_name_are_told_with_both(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, f"{DECOMPOSED}.md", "old form")
    write(source, f"{COMPOSED}.md", "new form")
    found = scan(source)
    assert list(found.files) == [COMPOSED]
    assert found.files[COMPOSED].disk == f"{COMPOSED}.md"
    assert messages(found)[f"vault/{DECOMPOSED}"].count("ller.md") == 3


def test_a_decomposed_name_has_a_composed_path(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, f"{DECOMPOSED}/x.md")
    found = scan(source).files
    assert found[f"{COMPOSED}/x"].disk == f"{DECOMPOSED}/x.md"


def test_capitals_in_the_ending_are_told(tmp_path: Path) -> None:
    source = source_at(tmp_path)
    write(source, "README.MD")
    found = scan(source)
    assert found.files == {}
    assert "capital" in messages(found)["vault/README.MD"]


def test_bounds_say_what_was_left_out_and_leave_out_the_same_each_time(tmp_path: Path) -> None:
    source = source_at(tmp_path, max_depth=2, max_files=3)
    for name in ("b/1.md", "b/2.md", "a/3.md", "z.md", "a/c/4.md", "a/c/deep/5.md"):
        write(source, name)
    found = scan(source)
    assert list(found.files) == ["z", "a/3", "b/1"]
    assert found.left_out == 3
    told = [warned.message for warned in found.warnings]
    assert any("2 notes" in text and "sources.vault.max_files" in text for text in told)
    assert any("1 folders" in text and "sources.vault.max_depth" in text for text in told)
    assert scan(source).files == found.files


def test_missing_and_empty_are_not_the_same(tmp_path: Path) -> None:
    source = source_at(tmp_path / "vault")
    assert scan(source).state == "empty"
    source.root.rmdir()
    assert scan(source).state == "missing"
    source.root.write_text("a file", encoding="utf-8")
    assert scan(source).state == "missing"
    assert folders(source) == ()


def test_a_root_that_became_a_link_is_missing(tmp_path: Path) -> None:
    source = source_at(tmp_path / "vault")
    source.root.rmdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x.md").write_text("x", encoding="utf-8")
    source.root.symlink_to("other")
    assert scan(source).state == "missing"


def test_below_looks_at_one_folder_or_one_file(tmp_path: Path) -> None:
    source = source_at(tmp_path, exclude=("Private/**",))
    for name in ("a/1.md", "a/b/2.md", "c/3.md", "ab/4.md", "Private/5.md", ".git/6.md"):
        write(source, name)
    assert set(scan(source, "a").files) == {"a/1", "a/b/2"}
    assert set(scan(source, "a/b").files) == {"a/b/2"}
    assert set(scan(source, "c/3.md").files) == {"c/3"}
    for nothing in (
        "gone",
        "gone/x.md",
        "Private",
        "Private/5.md",
        ".git",
        ".git/6.md",
        "a/1.md/x",
    ):
        found = scan(source, nothing)
        assert (found.files, found.state) == ({}, "ready"), nothing


def test_below_is_not_led_through_a_link(tmp_path: Path) -> None:
    source = source_at(tmp_path / "vault")
    write(source_at(tmp_path / "outside"), "sub/x.md")
    (source.root / "link").symlink_to(tmp_path / "outside")
    assert scan(source, "link").files == {}
    assert scan(source, "link/sub").files == {}
    assert scan(source, "link/sub/x.md").files == {}


def test_an_unreadable_folder_is_told_and_the_rest_goes_on(anybodys_folder: Path) -> None:
    source = source_at(anybodys_folder / "vault")
    write(source, "open/a.md")
    write(source, "shut/b.md").parent.chmod(0)
    out = run(
        script(
            """
import os
from pathlib import Path
from tests.notes.build import source_at
from memory_mcp.notes.scan import scan
os.geteuid() or os.setuid(12345)
found = scan(source_at(Path(sys.argv[1])))
print(sorted(found.files), found.warnings)
""",
            str(source.root),
        )
    )
    assert out.startswith("['open/a'] (Warned(reference='vault/shut'")
    assert "permission was denied" in out


def test_a_tree_longer_than_a_path_can_be_does_no_harm(tmp_path: Path) -> None:
    source = source_at(tmp_path, max_depth=100)
    write(source, "top.md")
    fd = os.open(source.root, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=fd)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open("bottom.md", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    found = scan(source)
    assert set(found.files) == {"top"}
    assert any("6" in text and "characters" in text for text in messages(found).values())


def test_five_thousand_files_take_a_fraction_of_a_second(tmp_path: Path) -> None:
    source = source_at(tmp_path, exclude=("Private/**",))
    for folder in range(50):
        place = source.root / f"f{folder}"
        place.mkdir()
        for number in range(100):
            os.close(os.open(place / f"n{number}.md", os.O_CREAT))
    started = time.process_time()
    found = scan(source)
    assert len(found.files) == 5_000
    assert time.process_time() - started < 1  # 0.08 s alone; others may be working too


@pytest.mark.parametrize("below", ["", "a"])
def test_a_source_inside_is_left_to_itself(tmp_path: Path, below: str) -> None:
    (tmp_path / "a/wiki").mkdir(parents=True)
    source = source_at(tmp_path, inner=(tmp_path / "a/wiki",))
    write(source, "a/own.md")
    write(source, "a/wiki/theirs.md")
    assert set(scan(source, below).files) == {"a/own"}
