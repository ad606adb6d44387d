"""No name, link, special file or swap leads a read, a write or a scan out of a source."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memory_mcp.core.errors import MemoryMcpError, NotFoundError, RefusedError, StorageError
from memory_mcp.notes import files
from memory_mcp.notes.history import History
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import Source
from tests.fakes import FixedClock
from tests.notes.build import source_at

SENTINEL = b"OUTSIDE: never to be read or written\n"
SECONDS = 3.0

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and descriptors of POSIX")


class Place:
    """A source and, beside it, what it must never reach."""

    def __init__(self, folder: Path) -> None:
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "secret.md").write_bytes(SENTINEL)
        (self.outside / "deep").mkdir()
        (self.outside / "deep" / "secret.md").write_bytes(SENTINEL)
        home = folder / "home"
        self.root = home / "agents" / "default" / "memory"
        self.root.mkdir(parents=True)
        self.source: Source = source_at(self.root, name="memory")
        self.history = History(home / ".history")
        self.clock = FixedClock()

    def write(self, path: str, text: bytes = b"NEW\n") -> None:
        """Create or replace a note."""
        files.update(self.source, path, lambda _: text, self.history, self.clock.now())

    def check(self) -> None:
        """Nothing outside was written, and nothing was added."""
        found = sorted(path.relative_to(self.outside) for path in self.outside.rglob("*"))
        assert [str(path) for path in found] == ["deep", "deep/secret.md", "secret.md"]
        for name in ("secret.md", "deep/secret.md"):
            assert (self.outside / name).read_bytes() == SENTINEL

    def check_history(self) -> None:
        """No text from outside was taken for an old text of a note."""
        for path in self.history.root.rglob("*.md"):
            assert SENTINEL not in path.read_bytes()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.check()


def _deeds(place: Place) -> tuple[Callable[[str], object], ...]:
    return (
        lambda path: files.read(place.source, path),
        place.write,
        lambda path: files.update(
            place.source, path, lambda _: None, place.history, place.clock.now()
        ),
    )


def test_what_is_no_regular_file_is_neither_opened_nor_replaced(place: Place) -> None:
    os.mkfifo(place.root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as heard, TemporaryDirectory() as short:
        heard.bind(f"{short}/s")  # a socket's path must be short when it is made, not afterwards
        Path(short, "s").rename(place.root / "heard.md")
        for name in ("pipe", "heard"):
            for deed in _deeds(place):
                with pytest.raises(RefusedError, match="no regular file"):
                    deed(name)
    assert stat.S_ISFIFO((place.root / "pipe.md").stat().st_mode)
    assert scan(place.source).files == {}


def test_a_pipe_is_not_opened_so_that_its_writer_still_waits(place: Place) -> None:
    os.mkfifo(place.root / "pipe.md")
    with pytest.raises(RefusedError):
        files.read(place.source, "pipe")
    with pytest.raises(OSError, match="No such device"):  # nobody has it open to read
        os.open(place.root / "pipe.md", os.O_WRONLY | os.O_NONBLOCK)


def test_a_folder_with_the_name_of_a_note_is_said(place: Place) -> None:
    (place.root / "dir.md").mkdir()
    with pytest.raises(RefusedError, match="A folder has the name"):
        place.write("dir")
    with pytest.raises(NotFoundError):
        files.read(place.source, "dir")


@pytest.mark.parametrize("target", ["../../../../outside/secret.md", "/etc/passwd", "nowhere"])
def test_a_link_in_the_place_of_a_note_is_refused(place: Place, target: str) -> None:
    (place.root / "leak.md").symlink_to(target)
    for deed in _deeds(place):
        with pytest.raises(RefusedError, match="link"):
            deed("leak")
    assert str((place.root / "leak.md").readlink()) == target


def test_a_linked_folder_is_not_entered(place: Place) -> None:
    (place.root / "sub").symlink_to(place.outside)
    for path in ("sub/secret", "sub/new", "sub/deep/secret", "sub/new/one"):
        for deed in _deeds(place):
            with pytest.raises(RefusedError, match="link"):
                deed(path)
    assert scan(place.source).files == {}


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_link_that_came_in_place_of_the_root_or_a_folder_above_is_not_followed(
    place: Place, level: int
) -> None:
    place.write("kept")
    above = [place.root, *place.root.parents][level]
    below = place.root.relative_to(above)
    above.rename(above.with_name("away"))
    (place.outside / "deep").joinpath(below).mkdir(parents=True, exist_ok=True)
    above.symlink_to(place.outside / "deep")
    for deed in _deeds(place)[:2]:
        with pytest.raises(StorageError, match="link came in its place"):
            deed("secret")
    assert scan(place.source).state == "missing"
    if below.parts:
        shutil.rmtree(place.outside / "deep" / below.parts[0])


def test_no_folder_is_made_behind_a_link_where_the_root_is_missing(place: Place) -> None:
    agents = place.root.parents[1]
    shutil.rmtree(agents)
    agents.symlink_to(place.outside)
    with pytest.raises((RefusedError, StorageError)):
        place.write("new")


def test_a_hard_link_from_outside_is_never_written_through(place: Place) -> None:
    os.link(place.outside / "secret.md", place.root / "hard.md")
    place.write("hard")
    assert (place.root / "hard.md").read_bytes() == b"NEW\n"
    files.update(place.source, "hard", lambda _: None, place.history, place.clock.now())


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "/x", "a//x", "./x", ".", "..", "", "a\\x", "a\0x", "a\nx", "x" * 1001],
)
def test_a_path_that_could_lead_elsewhere_is_no_path(place: Place, path: str) -> None:
    for deed in _deeds(place):
        with pytest.raises(MemoryMcpError):
            deed(path)


def test_a_sibling_whose_name_begins_like_the_source_is_outside(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault2").mkdir()
    (tmp_path / "vault2" / "secret.md").write_bytes(SENTINEL)
    vault = source_at(tmp_path / "vault")
    (tmp_path / "vault" / "l.md").symlink_to(tmp_path / "vault2" / "secret.md")
    assert scan(vault).files == {}
    with pytest.raises(RefusedError):
        files.read(vault, "l")
    for path in ("../vault2/secret", "2/secret"):
        with pytest.raises(MemoryMcpError):
            files.read(vault, path)


# Swaps as fast as a thread can.


@contextmanager
def swapping(*turns: Callable[[], None]) -> Iterator[threading.Event]:
    """Another thread takes these turns again and again; yields what it sets when it is over."""
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for turn in turns:
                with suppress(OSError):
                    turn()

    thread = threading.Thread(target=swap)
    timer = threading.Timer(SECONDS, over.set)
    thread.start()
    timer.start()
    try:
        yield over
    finally:
        over.set()
        timer.cancel()
        thread.join()


def _note_swaps(place: Place) -> tuple[Callable[[], None], ...]:
    note, ways = place.root / "swap.md", place.root.parent
    link, plain = ways / "link", ways / "plain"

    def to_link() -> None:
        link.symlink_to(place.outside / "secret.md")
        link.replace(note)

    def to_note() -> None:
        plain.write_bytes(b"plain\n")
        plain.replace(note)

    def to_folder() -> None:
        note.unlink()
        note.mkdir()
        note.rmdir()

    return to_link, to_note, to_folder


def _folder_swaps(place: Place) -> tuple[Callable[[], None], ...]:
    folder, aside = place.root / "sub", place.root.parent / "aside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(b"inside\n")

    def to_link() -> None:
        folder.rename(aside)
        folder.symlink_to(place.outside)

    def back() -> None:
        folder.unlink()
        aside.rename(folder)

    return to_link, back


def _root_swaps(place: Place) -> tuple[Callable[[], None], ...]:
    above = place.root.parents[1]
    aside = above.with_name("aside")

    def to_link() -> None:
        above.rename(aside)
        above.symlink_to(place.outside)

    def back() -> None:
        above.unlink()
        aside.rename(above)

    return to_link, back


@pytest.mark.parametrize(
    ("swaps", "path"),
    [
        (_note_swaps, "swap"),
        (_folder_swaps, "sub/secret"),
        (_folder_swaps, "sub/new"),
        (_root_swaps, "secret"),
    ],
)
def test_swaps_during_writes_reads_and_scans_lead_nowhere(
    place: Place, swaps: Callable[[Place], tuple[Callable[[], None], ...]], path: str
) -> None:
    done = {"read": 0, "written": 0, "refused": 0}
    with swapping(*swaps(place)) as over:
        while not over.is_set():
            try:
                assert files.read(place.source, path).data != SENTINEL
                done["read"] += 1
            except MemoryMcpError:
                done["refused"] += 1
            try:
                place.write(path)
                done["written"] += 1
            except MemoryMcpError:
                done["refused"] += 1
            assert set(scan(place.source).files) <= {path, "swap", "sub/secret", "sub/new"}
    assert min(done.values()) > 0, done
    place.check_history()
