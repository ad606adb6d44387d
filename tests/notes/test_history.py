"""Old versions that a person can find, and that survive."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import AmbiguousError, NotFoundError, StorageError
from memory_mcp.notes import history as module
from memory_mcp.notes.history import History
from memory_mcp.notes.names import nfc
from tests.notes.build import NOW, history_at, leftovers


def test_versions_come_back_newest_first_with_the_same_bytes(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    texts = [b"\xef\xbb\xbfone\r\n", b"two\n", b"\x00\xff"]
    kept = [
        history.keep("memory/garden", text, NOW + timedelta(days=day))
        for day, text in enumerate(texts)
    ]
    assert kept == [hashlib.sha256(text).hexdigest()[:12] for text in texts]
    versions = history.versions("memory/garden")
    assert [version.revision for version in versions] == kept[::-1]
    assert [version.size for version in versions] == [2, 4, 8]
    assert versions[-1].at == NOW
    assert history.load("memory/garden") == texts[2]
    assert [history.load("memory/garden", revision) for revision in kept] == texts
    assert history.load("memory/garden", kept[0][:6].upper()) == texts[0]


def test_a_person_finds_them_by_name_and_time(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    revision = history.keep("wiki/people/Ana Müller", b"x", NOW, note="deleted by job 7")
    folder = tmp_path / "home/.history/wiki/people/Ana Müller"
    assert [path.name for path in folder.iterdir()] == [
        f"20260504T080000.000000Z-{revision}-deleted by job 7.md"
    ]
    assert history.versions("wiki/people/Ana Müller")[0].note == "deleted by job 7"
    assert folder.stat().st_mode & 0o077 == 0


def test_versions_of_one_moment_keep_their_order(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    kept = [history.keep("memory/a", f"{number}".encode(), NOW) for number in range(20)]
    history.keep("memory/a", b"clock went back", NOW - timedelta(hours=1))
    assert [version.revision for version in history.versions("memory/a")[1:]] == kept[::-1]
    assert history.load("memory/a") == b"clock went back"


def test_equal_bytes_are_not_kept_twice_in_a_row(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    for text in (b"a", b"a", b"b", b"a"):
        history.keep("memory/a", text, NOW)
    assert len(history.versions("memory/a")) == 3


def test_equal_bytes_are_dated_anew(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    assert history.newest("memory/a") is None
    history.keep("memory/a", b"one", NOW, note="by hand")
    for later in (NOW + timedelta(days=1), NOW):
        before = history.newest("memory/a")
        history.keep("memory/a", b"one", later)
        [version] = history.versions("memory/a")
        assert before is not None
        assert version.at > before
        assert version.at == history.newest("memory/a")
        assert version.note == "by hand"
        assert history.load("memory/a") == b"one"


def test_a_note_and_a_folder_of_the_same_name_do_not_mix(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    history.keep("wiki/people", b"page", NOW)
    history.keep("wiki/people/alice", b"alice", NOW)
    assert history.load("wiki/people") == b"page"
    assert history.references() == ("wiki/people", "wiki/people/alice")


def test_what_is_not_there_is_said_with_what_is(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    assert history.versions("memory/none") == ()
    assert history.references() == ()
    with pytest.raises(NotFoundError, match="memory/none has no old versions"):
        history.load("memory/none")
    revision = history.keep("memory/a", b"a", NOW)
    with pytest.raises(NotFoundError, match=f"no version 'ffff'.*{revision}"):
        history.load("memory/a", "ffff")


def test_a_beginning_that_fits_two_versions_is_refused(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    found: dict[str, bytes] = {}
    for number in range(40):
        text = f"{number}".encode()
        found.setdefault(hashlib.sha256(text).hexdigest()[0], text)
        history.keep("memory/a", text, NOW)
    with pytest.raises(AmbiguousError):
        history.load("memory/a", hashlib.sha256(b"1").hexdigest()[0])


def test_a_kept_file_that_was_changed_is_not_given_out(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    history.keep("memory/a", b"true", NOW)
    [path] = (tmp_path / "home/.history/memory/a").iterdir()
    path.write_bytes(b"false")
    with pytest.raises(StorageError, match="was changed on disk"):
        history.load("memory/a")


def test_only_the_oldest_beyond_the_bound_go(tmp_path: Path) -> None:
    history = history_at(tmp_path)
    history.keep("memory/a", b"first", NOW)
    folder = tmp_path / "home/.history/memory/a"
    for number in range(module.KEEP):
        at = NOW + timedelta(seconds=number + 1)
        (folder / f"{at:%Y%m%dT%H%M%S}.000000Z-{number:012x}.md").write_bytes(b"")
    history.keep("memory/a", b"last", NOW + timedelta(days=1))
    versions = history.versions("memory/a")
    assert len(versions) == module.KEEP
    assert history.load("memory/a") == b"last"
    assert versions[-1].revision == f"{1:012x}"


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1),
        min_size=2,
        max_size=6,
    ),
    st.booleans(),
)
def test_any_reference_stays_inside_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], long: bool
) -> None:
    root = tmp_path_factory.mktemp("home")
    history = History(root / ".history")
    reference = nfc("/".join(parts) + ("/" + "ß" * 300 if long else ""))
    history.keep(reference, b"bytes", NOW)
    assert history.load(reference) == b"bytes"
    assert history.references() == (reference,)
    assert [path.name for path in root.iterdir()] == [".history"]
    assert leftovers(root) == []


@pytest.mark.parametrize(
    "reference",
    ["memory/con", "vault/../../up", "vault/..", "vault/a:b", "vault/x. ", "vault/" + "й" * 900],
)
def test_names_that_some_file_system_refuses_are_written_in_another_way(
    tmp_path: Path, reference: str
) -> None:
    history = history_at(tmp_path)
    history.keep(reference, b"x", NOW)
    assert history.references() == (reference,)
    names = [path.name for path in (tmp_path / "home/.history").rglob("*")]
    assert not {"con", "..", "a:b", "x. "} & set(names)
    assert all(len(name.encode()) < 255 for name in names)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_each_agent_sees_the_history_of_its_own_inbox_only(tmp_path: Path) -> None:
    default, other = History(tmp_path), History(tmp_path, "scout")
    default.keep("memory/plan", b"of the first agent", NOW)
    other.keep("memory/plan", b"of the scout", NOW)
    other.keep("wiki/shared", b"of both", NOW)
    assert default.load("memory/plan") == b"of the first agent"
    assert other.load("memory/plan") == b"of the scout"
    assert default.load("wiki/shared") == b"of both"
    assert default.references() == other.references() == ("memory/plan", "wiki/shared")
