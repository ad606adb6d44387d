"""Which folders may be sources, and who may look into the home."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError
from memory_mcp.notes.privacy import close_to_others
from memory_mcp.notes.sources import Source, open_sources

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths and modes of POSIX")


def opened(home: Path, **paths: object) -> tuple[Source, ...]:
    """The sources with these paths."""
    sources = {name: {"path": str(path)} for name, path in paths.items()}
    return open_sources(Config.model_validate({"home": str(home), "sources": sources}))


@pytest.mark.parametrize("name", ["memory", "wiki", "vault"])
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "root of a whole file system"),
        ("//", "root of a whole file system"),
        ("/proc/self", "belongs to the system"),
        ("/sys", "belongs to the system"),
        ("/dev/shm/../fd", "belongs to the system"),
        ("/etc", "folder of the system"),
        ("/usr/../var", "folder of the system"),
        (".", "the home of memory-mcp itself"),
        ("wiki/..", "the home of memory-mcp itself"),
        (".index", "lies in .index of the home"),
        (".state/notes", "lies in .state of the home"),
        ("./.history/memory", "lies in .history of the home"),
    ],
)
def test_what_would_show_the_system_or_the_home_is_no_source(
    tmp_path: Path, name: str, path: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        opened(tmp_path / "home", **{name: path})
    assert [problem.key for problem in refused.value.problems] == [f"sources.{name}.path"]


def test_a_link_to_a_folder_that_may_not_be_a_source_is_seen_through(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "all").symlink_to("/")
    (tmp_path / "self").symlink_to(home)
    for path in ("all", "self"):
        with pytest.raises(ConfigError):
            opened(home, vault=tmp_path / path)


def test_a_home_in_a_vault_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds the home .* put the home beside the notes"):
        opened(tmp_path / "vault" / "memory-mcp", vault=tmp_path / "vault")


def test_an_index_that_a_link_puts_into_a_vault_is_refused(tmp_path: Path) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    (vault / "cache").mkdir(parents=True)
    home.mkdir()
    (home / ".index").symlink_to(vault / "cache")
    with pytest.raises(ConfigError, match=r"holds \.index of the home"):
        opened(home, vault=vault)


def test_a_home_behind_a_hidden_folder_of_a_vault_is_none_of_its_notes(tmp_path: Path) -> None:
    home = tmp_path / ".memory-mcp"
    assert [source.name for source in opened(home, vault=tmp_path)] == ["memory", "wiki", "vault"]


def test_folders_of_a_home_and_of_a_vault_stay_allowed(tmp_path: Path) -> None:
    home, vault = tmp_path / "home", tmp_path / "vault"
    vault.mkdir()
    found = opened(home, memory=vault / "agent", wiki=vault / "wiki", vault=vault, own="notes")
    assert len(found) == 4


def modes(folder: Path) -> dict[str, int]:
    """The modes of a folder and all in it."""
    return {
        str(path.relative_to(folder.parent)): stat.S_IMODE(path.lstat().st_mode)
        for path in (folder, *folder.rglob("*"))
    }


def test_wide_modes_of_private_folders_are_taken_back(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside.db"
    outside.write_bytes(b"x")
    outside.chmod(0o666)
    for name in (".index", ".state", ".history"):
        (home / name).mkdir(parents=True)
        (home / name / "file").write_bytes(b"x")
        (home / name / "file").chmod(0o664)
        (home / name).chmod(0o777)
    (home / ".index" / "link").symlink_to(outside)
    close_to_others(home)
    assert modes(home / ".index")[".index"] == 0o700
    assert modes(home / ".index")[".index/file"] == 0o600
    assert modes(home / ".state") == {".state": 0o700, ".state/file": 0o600}
    assert modes(home / ".history")[".history"] == 0o700
    assert stat.S_IMODE(outside.stat().st_mode) == 0o666


def test_a_private_folder_that_is_a_link_or_missing_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".index").symlink_to(tmp_path / "shared")
    close_to_others(tmp_path / "home")
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755
