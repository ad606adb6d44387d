"""Folders of which each agent has its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError
from memory_mcp.notes.own import may_exist, other_spelling, source_id
from memory_mcp.notes.scan import scan
from memory_mcp.notes.sources import Source, open_sources


def config_of(home: Path, agent: str = "rook", **sources: Any) -> Config:
    return Config.model_validate({"home": str(home), "agent": agent, "sources": sources})


def sources_of(home: Path, agent: str = "rook", **sources: Any) -> dict[str, Source]:
    return {source.name: source for source in open_sources(config_of(home, agent, **sources))}


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("text", encoding="utf-8")


def test_the_id_names_the_agent_only_where_each_has_a_folder(tmp_path: Path) -> None:
    assert source_id("memory", "agents/{agent}/memory", "rook") == "memory:rook"
    assert source_id("memory", "notes", "rook") == "memory"
    found = sources_of(tmp_path, vault={"path": "v/{agent}"}, memory={"path": "notes"})
    assert {name: source.id for name, source in found.items()} == {
        "memory": "memory",
        "wiki": "wiki",
        "vault": "vault:rook",
    }


def test_a_name_that_the_path_leaves_again_makes_no_difference(tmp_path: Path) -> None:
    found = sources_of(tmp_path, memory={"path": "a/{agent}/../notes"})
    assert (found["memory"].id, found["memory"].root) == ("memory", tmp_path / "a/notes")


def test_only_what_all_share_is_opened_where_nobody_is_named(tmp_path: Path) -> None:
    config = config_of(tmp_path, vault={"path": "v/{agent}"}, other={"path": "o"})
    assert [source.name for source in open_sources(config, own=False)] == ["wiki", "other"]
    assert not (tmp_path / "agents").exists()


@pytest.mark.parametrize("template", ["v/ai/{agent}", "v/ai-{agent}", "v/a/{agent}/m"])
def test_a_vault_leaves_out_the_folders_of_all_agents_that_may_come(
    tmp_path: Path, template: str
) -> None:
    vault = {"path": "v"}
    memory = {"path": template}
    write(tmp_path / "v/mine.md")
    write(tmp_path / "v/ai/readme.md")
    before = sources_of(tmp_path, memory=memory, vault=vault)["vault"]
    write(tmp_path / template.replace("{agent}", "jay") / "x.md")
    assert set(scan(before).files) == {"mine", "ai/readme"}
    after = sources_of(tmp_path, memory=memory, vault=vault)
    assert set(scan(after["vault"]).files) == {"mine", "ai/readme"}
    jay = sources_of(tmp_path, "jay", memory=memory, vault=vault)["memory"]
    assert set(scan(jay).files) == {"x"}


def test_a_vault_leaves_out_an_agents_folder_that_a_link_leads_to(tmp_path: Path) -> None:
    write(tmp_path / "vault/jays/x.md")
    (tmp_path / "home/agents").mkdir(parents=True)
    (tmp_path / "home/agents/jay").symlink_to(tmp_path / "vault")
    memory = {"path": "agents/{agent}/jays"}
    found = sources_of(tmp_path / "home", memory=memory, vault={"path": str(tmp_path / "vault")})
    assert scan(found["vault"]).files == {}


def test_letters_with_a_meaning_in_patterns_are_letters_in_a_path(tmp_path: Path) -> None:
    write(tmp_path / "v (a+b)/ai/jay/x.md")
    write(tmp_path / "v (a+b)/y.md")
    memory = {"path": "v (a+b)/ai/{agent}"}
    found = sources_of(tmp_path, memory=memory, vault={"path": "v (a+b)"})
    assert set(scan(found["vault"]).files) == {"y"}


def test_inboxes_directly_in_a_vault_are_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"such as .*v/agents/\{agent\}"):
        sources_of(tmp_path, memory={"path": "v/{agent}"}, vault={"path": "v"})
    sources_of(tmp_path, memory={"path": "v/agents/{agent}"}, vault={"path": "v"})


def test_what_is_stored_of_an_agent_counts_while_its_folder_is_there(tmp_path: Path) -> None:
    away = tmp_path / "disk/{agent}"
    config = config_of(tmp_path / "home", vault={"path": str(away)}, other={"path": "o"})
    open_sources(config)
    assert may_exist(config, "memory:rook")
    assert may_exist(config, "wiki")
    assert may_exist(config, "vault:jay"), "the disk may be away"
    for gone in ("memory:jay", "memory", "memory:../rook", "wiki:rook", "none", "none:rook"):
        assert not may_exist(config, gone), gone
    shutil.rmtree(tmp_path / "home/agents/rook")
    assert not may_exist(config, "memory:rook")


def test_a_folder_of_this_very_spelling_or_of_none_is_the_agents_own(tmp_path: Path) -> None:
    template = "agents/{agent}/memory"
    assert other_spelling(template, tmp_path, "rook") is None
    (tmp_path / "agents/rook").mkdir(parents=True)
    assert other_spelling(template, tmp_path, "rook") is None


def test_a_disk_that_takes_two_spellings_for_one_says_how_it_spells(tmp_path: Path) -> None:
    (tmp_path / "agents/rook").mkdir(parents=True)
    if not (tmp_path / "agents/Rook").exists():
        pytest.skip("this disk tells capital letters from small ones")
    assert other_spelling("agents/{agent}/memory", tmp_path, "Rook") == "rook"
