"""Settings on the command line: where they come from, what is wrong, a fresh home."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_config_show_names_value_and_place_of_every_setting(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MCP_INDEX__SWEEP_SECONDS", "7")
    shown = command("--agent", "work", "config", "show", "--json").json
    assert shown["index.sweep_seconds"] == {
        "value": 7,
        "origin": "MEMORY_MCP_INDEX__SWEEP_SECONDS",
    }
    assert shown["agent"] == {"value": "work", "origin": "--agent"}
    assert shown["embedding.provider"]["origin"] == str(home / "config.yml")
    assert shown["chunking.overlap"] == {"value": 1, "origin": "default"}
    assert "index.sweep_seconds\t7\tMEMORY_MCP_INDEX__SWEEP_SECONDS\n" in (
        command("config", "show").out
    )


def test_config_show_prints_no_secret(home: Path, command: Command) -> None:
    (home / "config.yml").write_text("vectors: {api_key: hunter2}\n", encoding="utf-8")
    (home / "config.yml").chmod(0o600)
    for words in (("config", "show"), ("config", "show", "--json")):
        done = command(*words)
        assert "***" in done.out
        assert "hunter2" not in done.out + done.err


def test_wrong_settings_are_all_listed_with_their_keys(home: Path, command: Command) -> None:
    (home / "config.yml").write_text(
        "index: {sweep_seconds: soon}\nchunkin: {}\nwriting: {secrets: maybe}\n", encoding="utf-8"
    )
    for words in (("status",), ("search", "x"), ("config", "show")):
        done = command(*words)
        assert (done.code, done.out) == (1, "")
        for part in ("index.sweep_seconds", "chunkin", "chunking", "writing.secrets"):
            assert part in done.err
        assert len(done.err.splitlines()) == 3


def test_init_makes_a_private_home_and_leaves_a_config_alone(
    tmp_path: Path, command: Command
) -> None:
    place = tmp_path / "new" / "home"
    done = command("--home", str(place), "init")
    assert done.code == 0
    assert (place / "agents/default/memory").is_dir()
    assert (place / "wiki").is_dir()
    if os.name != "nt":
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert f"MEMORY_MCP_HOME={place}" in done.out
    (place / "config.yml").write_text("agent: mine\n", encoding="utf-8")
    assert "was there" in command("--home", str(place), "init").out
    assert (place / "config.yml").read_text(encoding="utf-8") == "agent: mine\n"


def test_init_says_where_a_home_cannot_be(tmp_path: Path, command: Command) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = command("--home", str(tmp_path / "file" / "home"), "init")
    assert done.code == 1
    assert str(tmp_path / "file") in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("search",),
        ("serch", "x"),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--min-score", "2"),
        ("serve", "--transport", "carrier-pigeon"),
        ("--agent",),
    ],
)
def test_wrong_usage_is_exit_code_2(command: Command, words: tuple[str, ...]) -> None:
    done = command(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.strip()


def test_help_and_version_are_no_errors(command: Command) -> None:
    assert command("--version").out.startswith("memory-mcp, version ")
    for words in (("--help",), ("search", "--help"), ("config", "show", "-h")):
        done = command(*words)
        assert (done.code, done.err) == (0, "")
        assert "Usage: memory-mcp" in done.out


def test_there_is_no_engine_to_stop(command: Command) -> None:
    done = command("engine", "stop")
    assert done.code == 0
    assert "No engine runs" in done.out
    assert command("engine", "status", "--json").json["pid"] is None


@pytest.mark.parametrize("words", [("--home", ""), ("--agent", " "), ("--tools", "")])
def test_an_empty_flag_is_a_wrong_value(command: Command, words: tuple[str, str]) -> None:
    done = command(*words, "status")
    assert (done.code, done.out) == (1, "")
    assert words[0] in done.err
    assert "empty" in done.err


def test_tools_that_leave_a_client_with_none_are_refused(command: Command) -> None:
    done = command("--tools", ",", "status")
    assert (done.code, done.out) == (1, "")
    assert "tools" in done.err
    assert "core" in done.err


@pytest.mark.parametrize("tools", ["curation", "core,curation"])
def test_each_set_of_tools_can_be_had(command: Command, tools: str) -> None:
    done = command("--tools", tools, "status")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("below", ["", "home"])
@pytest.mark.parametrize("words", [("status",), ("list",), ("init",), ("doctor",)])
def test_a_home_that_is_a_file_is_called_one(
    tmp_path: Path, command: Command, below: str, words: tuple[str, ...]
) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    done = command("--home", str(file / below), *words)
    assert done.code == 1
    assert f"{file} is a file" in done.out + done.err
    assert "config.yml" not in done.out + done.err
    assert file.read_text(encoding="utf-8") == "mine"


REPORTS = ("search x", "list", "show x", "history x", "jobs", "reindex", "restore x", "delete x")
TAKES = ("link x y", "import markdown x")


@pytest.mark.parametrize("line", [*REPORTS, *TAKES])
def test_what_needs_a_memory_makes_none(tmp_path: Path, command: Command, line: str) -> None:
    nowhere = tmp_path / "nowhere"
    done = command("--home", str(nowhere), *line.split())
    assert (done.code, done.out) == (1, "")
    way_out = f"memory-mcp --home {nowhere} init"
    assert done.err == f"memory-mcp: there is no memory at {nowhere}; {way_out} makes it\n"
    assert not nowhere.exists()


def test_init_hands_its_flags_on_to_clients(tmp_path: Path, command: Command) -> None:
    place = str(tmp_path / "home")
    done = command("--home", place, "--agent", "work", "--read-only", "init")
    assert done.out.count("--agent work --read-only") == 3
    assert done.out.count('"--agent", "work", "--read-only"') == 2
    shown = command("--home", place, "--tools", "core", "init", "--json").json
    assert shown["server"]["args"][-2:] == ["--tools", "core"]
    assert shown["server"]["env"] == {"MEMORY_MCP_HOME": place}
    assert shown["config_written"] is False
    assert set(shown["sources"]) == {"memory", "wiki"}


def test_init_hands_on_what_the_environment_says(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("init", "--json").json["server"]["args"] in ([], ["-m", "memory_mcp"])
    monkeypatch.setenv("MEMORY_MCP_AGENT", "night")
    monkeypatch.setenv("MEMORY_MCP_WRITING__READ_ONLY", "true")
    args = command("init", "--json").json["server"]["args"]
    assert args[-3:] == ["--agent", "night", "--read-only"]
    assert "day" in command("--agent", "day", "init", "--json").json["server"]["args"]


def test_help_cuts_no_text(command: Command) -> None:
    from memory_mcp.cli.main import cli

    for name in ("", *cli.commands):
        shown = command(*filter(None, [name]), "--help").out
        assert not [line for line in shown.splitlines()[1:] if line.endswith("...")], name
