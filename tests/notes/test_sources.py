"""From a configuration to real folders."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import Source, open_sources


def sources_of(home: Path, agent: str = "default", **sources: Any) -> dict[str, Source]:
    config = Config(home=str(home), agent=agent, sources=sources)
    return {source.name: source for source in open_sources(config)}


def test_inbox_and_wiki_are_made_below_the_home_for_the_owner_only(tmp_path: Path) -> None:
    found = sources_of(tmp_path / "home", agent="rook")
    assert found["memory"].root == tmp_path / "home/agents/rook/memory"
    assert found["memory"].id == "memory:rook"
    assert found["wiki"].id == "wiki"
    for source in found.values():
        assert source.root.is_dir()
        assert stat.S_IMODE(source.root.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_no_other_folder_is_ever_made(tmp_path: Path) -> None:
    found = sources_of(
        tmp_path / "home",
        wiki={"path": str(tmp_path / "elsewhere/wiki")},
        vault={"path": "vaults/one"},
    )
    assert not (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "home/vaults").exists()
    assert found["vault"].root == tmp_path / "home/vaults/one"
    assert scan(found["vault"]).state == "missing"


def test_tilde_stands_for_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    found = sources_of(tmp_path / "home", vault={"path": "~/Vault"})
    assert found["vault"].root == tmp_path / "me/Vault"


def test_a_root_that_is_a_link_is_resolved_once(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.md").write_text("a", encoding="utf-8")
    (tmp_path / "link").symlink_to("real")
    found = sources_of(tmp_path / "home", vault={"path": str(tmp_path / "link")})
    assert found["vault"].root == tmp_path / "real"
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("/")
    assert set(scan(found["vault"]).files) == {"a"}


def test_a_file_belongs_to_the_innermost_source(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "shared/wiki").mkdir(parents=True)
    (vault / "shared/wiki/page.md").write_text("page", encoding="utf-8")
    (vault / "own.md").write_text("own", encoding="utf-8")
    found = sources_of(
        tmp_path / "home", wiki={"path": str(vault / "shared/wiki")}, vault={"path": str(vault)}
    )
    assert found["vault"].inner == (found["wiki"].root,)
    assert set(scan(found["vault"]).files) == {"own"}
    assert set(scan(found["wiki"]).files) == {"page"}


@pytest.mark.parametrize("spelling", ["one", "./one/", "one/../one", "link"])
def test_two_names_for_one_folder_are_refused_with_both_keys(
    tmp_path: Path, spelling: str
) -> None:
    (tmp_path / "home/one").mkdir(parents=True)
    (tmp_path / "home/link").symlink_to("one")
    with pytest.raises(ConfigError) as caught:
        sources_of(tmp_path / "home", first={"path": "one"}, second={"path": spelling})
    assert "sources.first.path" in str(caught.value)
    assert "sources.second.path" in str(caught.value)


def test_exclude_of_the_index_counts_for_every_source(tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "home": str(tmp_path),
            "sources": {"vault": {"path": "v", "exclude": ["Templates/**"]}},
            "index": {"exclude": ["*.draft.md"]},
        }
    )
    vault = open_sources(config)[-1]
    assert vault.exclude == ("*.draft.md", "Templates/**")


def test_a_pattern_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"sources\.vault\.exclude.*'!'"):
        sources_of(tmp_path / "home", vault={"path": "v", "exclude": ["!"]})


def test_a_file_where_the_inbox_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "agents").write_text("in the way", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"sources\.memory\.path.*a file is where a folder"):
        sources_of(tmp_path)
