"""The file that keeps what a client has read and asked to be written."""

from __future__ import annotations

import logging
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import InputError
from memory_mcp.server.ledger import KEEP_SECONDS, Intention, Ledger, Seen, digest_of, sweep

NAME = "0123456789abcdef" * 2
INTENTION = Intention(
    "memory_edit", "memory/tea", "a" * 64, None, "2026-03-14T09:30:00.000000+00:00", True, ("w",)
)

_lines = st.lists(
    st.one_of(
        st.tuples(
            st.just("saw"),
            st.sampled_from("ab"),
            st.builds(Seen, st.text(), st.integers(0), st.booleans()),
        ),
        st.tuples(st.just("forgot"), st.sampled_from("ab")),
        st.tuples(st.just("begin"), st.sampled_from(["1", '"1"']), st.text(max_size=5)),
        st.tuples(
            st.just("intend"),
            st.sampled_from(["1", '"1"']),
            st.builds(
                Intention,
                st.text(),
                st.text(),
                st.none() | st.text(),
                st.none() | st.text(),
                st.none() | st.text(),
                st.booleans(),
                st.lists(st.text(), max_size=2).map(tuple),
            ),
        ),
        st.tuples(
            st.just("answered"),
            st.sampled_from(["1", '"1"']),
            st.dictionaries(st.text(), st.none() | st.text() | st.integers()),
        ),
    )
)


def apply(ledger: Ledger, line: tuple[Any, ...]) -> None:
    getattr(ledger, line[0])(*line[1:])


def content(ledger: Ledger) -> tuple[Any, ...]:
    return dict(ledger.seen), {key: ledger.call(key) for key in ("1", '"1"')}


@given(_lines)
def test_what_was_noted_is_there_for_the_next_engine(lines: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder), NAME)
        for line in lines:
            apply(ledger, line)
        assert content(Ledger.open(Path(folder), NAME)) == content(ledger)


@given(_lines, st.data())
def test_a_file_that_was_cut_anywhere_loses_its_last_line_and_takes_new_ones(
    lines: list[tuple[Any, ...]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder), NAME)
        states, sizes = [content(ledger)], [0]
        for line in lines:
            apply(ledger, line)
            states.append(content(Ledger.open(Path(folder), NAME)))
            sizes.append(ledger.path.stat().st_size if ledger.path.exists() else 0)
        if not sizes[-1]:
            return
        cut = data.draw(st.integers(0, sizes[-1]))
        os.truncate(ledger.path, cut)
        whole = max(number for number, size in enumerate(sizes) if size <= cut)
        again = Ledger.open(Path(folder), NAME)
        assert content(again) in (states[whole], states[min(whole + 1, len(states) - 1)])
        again.saw("new", Seen("r", 1, True))
        assert content(Ledger.open(Path(folder), NAME)) == content(again)


@given(
    st.lists(
        st.binary(max_size=30)
        | st.sampled_from(
            [
                b'{"seen":"a"}',
                b'{"seen":1,"revision":"r","upto":1,"complete":true}',
                b"[]",
                b"1",
                b"{",
                b'{"begins":"1","digest":"d","job_id":"../x"}',
                b'{"intends":"1","tool":1}',
                b'{"answered":"1","result":[1]}',
                b"[" * 5000,
                b'{"begins":[],"digest":"","job_id":""}',
            ]
        )
    )
)
def test_lines_that_are_none_are_passed_over(lines: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder), NAME)
        ledger.saw("memory/tea", Seen("r", 1, True))
        with ledger.path.open("ab") as file:
            file.write(b"\n" + b"\n".join(lines))
        again = Ledger.open(Path(folder), NAME)
        assert again.seen["memory/tea"] == Seen("r", 1, True)
        again.saw("memory/oak", Seen("r", 1, True))
        assert "memory/oak" in Ledger.open(Path(folder), NAME).seen


@pytest.mark.parametrize(
    "name", ["", "../x", "a" * 31, "a" * 33, "A" * 32, "g" * 32, "a" * 31 + "/", "a" * 32 + "\n"]
)
def test_names_that_no_client_has_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="32 hex digits"):
        Ledger.open(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_on_disk_before_there_is_something_to_keep(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, NAME)
    ledger.forgot("memory/tea")
    ledger.end()
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_a_client_that_left_is_removed_and_a_new_one_begins_empty(
    tmp_path: Path,
) -> None:
    ledger = Ledger.open(tmp_path, NAME)
    ledger.saw("memory/tea", Seen("r", 1, True))
    ledger.begin("1", "d")
    ledger.end()
    ledger.end()
    assert list(ledger.path.parent.iterdir()) == []
    again = Ledger.open(tmp_path, NAME)
    assert again.seen == {}
    assert again.call("1") is None


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of Unix")
def test_only_the_owner_can_read_it_also_after_it_was_rewritten(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, NAME)
    ledger.saw("memory/tea", Seen("r", 1, True))
    grow(ledger)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_its_place_is_not_followed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "target").write_text("mine", encoding="utf-8")
    (tmp_path / "sessions" / f"{NAME}.jsonl").symlink_to(tmp_path / "target")
    Ledger.open(tmp_path, NAME).saw("memory/tea", Seen("r", 1, True))
    assert (tmp_path / "target").read_text(encoding="utf-8") == "mine"
    assert "cannot be written" in caplog.text


def grow(ledger: Ledger, count: int = 400) -> None:
    """So many large answers: more than a file keeps."""
    for number in range(count):
        ledger.begin(f"{number}", "d")
        ledger.answered(f"{number}", {"text": "x" * 10_000})


def test_a_large_file_is_rewritten_and_keeps_what_still_counts(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, NAME)
    ledger.saw("memory/tea", Seen("r", 1, True))
    grow(ledger)
    ledger.intend("399", INTENTION)
    assert ledger.path.stat().st_size < 5_000_000
    assert [path.name for path in ledger.path.parent.iterdir()] == [ledger.path.name]
    again = Ledger.open(tmp_path, NAME)
    assert again.seen == {"memory/tea": Seen("r", 1, True)}
    assert again.call("0") is None
    last = again.again("399", "d")
    assert last is not None
    assert last.intention == INTENTION
    assert last.answer == {"text": "x" * 10_000}


def test_reading_very_many_notes_does_not_rewrite_the_file_each_time(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, NAME)
    shrunk, last = 0, 0
    for number in range(30_000):
        ledger.saw(f"memory/{number:0100d}", Seen("r" * 12, number, True))
        if number % 100 == 0:
            size = ledger.path.stat().st_size
            shrunk, last = shrunk + (size < last), size
    assert shrunk == 0, "there was nothing to leave out"
    assert len(Ledger.open(tmp_path, NAME).seen) == 30_000


def test_many_threads_may_note_at_once(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, NAME)

    def note(number: int) -> None:
        ledger.begin(f"{number}", "d")
        ledger.intend(f"{number}", INTENTION)
        ledger.saw(f"memory/{number}", Seen("r" * 2_000, 1, True))
        ledger.answered(f"{number}", {"text": "x" * 5_000})

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(note, range(400)))
    again = Ledger.open(tmp_path, NAME)
    assert len(again.seen) == 400
    for number in range(399, 395, -1):
        call = again.call(f"{number}")
        assert call is not None
        assert call.answer is not None


def test_an_id_stands_for_the_call_that_was_begun_with_it(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, NAME)
    first = digest_of("memory_edit", {"slug": "a", "append": "x"})
    second = digest_of("memory_edit", {"append": "x", "slug": "b"})
    assert first == digest_of("memory_edit", {"append": "x", "slug": "a"})
    ledger.begin("1", first)
    ledger.answered("1", {"text": "done"})
    assert ledger.again("1", second) is None
    assert ledger.again("2", first) is None
    known = ledger.again("1", first)
    assert known is not None
    assert known.answer == {"text": "done"}
    job_id = known.job_id
    assert ledger.begin("1", first).answer is None
    assert ledger.begin("1", first).job_id != job_id


def test_a_disk_that_refuses_is_said_once_and_nothing_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sessions").write_text("in the way", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        ledger = Ledger.open(tmp_path, NAME)
        ledger.begin("1", "d")
        ledger.intend("1", INTENTION)
    assert len(caplog.records) == 1
    call = ledger.call("1")
    assert call is not None
    assert call.intention == INTENTION


def test_files_of_clients_that_were_not_heard_of_for_a_week_are_removed(tmp_path: Path) -> None:
    old, new = Ledger.open(tmp_path, "a" * 32), Ledger.open(tmp_path, "b" * 32)
    for ledger in (old, new):
        ledger.saw("memory/tea", Seen("r", 1, True))
    now = new.path.stat().st_mtime
    (old.path.parent / "folder").mkdir()
    os.utime(old.path.parent / "folder", (0, 0))
    os.utime(old.path, (now - KEEP_SECONDS - 1,) * 2)
    sweep(tmp_path, now)
    assert not old.path.exists()
    assert new.path.exists()
    sweep(tmp_path / "nowhere", now)
