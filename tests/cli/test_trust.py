"""`trust`, and what a command sees in the folder of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.errors import StorageError
from memory_mcp.settings.project_file import KEYS, NAME, parsed
from memory_mcp.settings.repository import repository_of
from memory_mcp.settings.trust import Trust
from tests.cli.conftest import Command
from tests.repositories import git, repository


@pytest.fixture
def repo(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in whose folder commands run, and a home with projects."""
    (home / "config.yml").write_text(
        "projects: auto\nembedding: {provider: none}\n", encoding="utf-8"
    )
    folder = repository(tmp_path / "repo")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    return folder


def test_a_file_is_trusted_by_its_bytes_until_it_changes(
    repo: Path, home: Path, command: Command
) -> None:
    (repo / NAME).write_text("read_only: true\n", encoding="utf-8")
    assert "does not count" in command("status", "--json").json["warnings"][0]["message"]
    assert command("write", "a", "--content", "x").code == 0
    said = command("trust", str(repo))
    assert "read_only: true" in said.out
    assert (home / ".state" / "trust.json").stat().st_mode & 0o777 == 0o600
    assert command("status", "--json").json["warnings"] == []
    assert "read-only" in command("write", "b", "--content", "x").err
    assert command("trust", "--list", "--json").json == {
        "trusted": [{"path": str(repo / NAME), "state": "counts"}]
    }
    (repo / NAME).write_text("read_only: true  # still\n", encoding="utf-8")
    assert command("write", "b", "--content", "x").code == 0
    assert "trust it again" in command("trust", "--list").out
    assert command("trust", "--remove", str(repo / NAME)).code == 0
    assert command("trust", "--list", "--json").json == {"trusted": []}
    assert command("trust", "--remove", ".").code == 1


def test_config_show_names_what_a_trusted_file_changes(
    repo: Path, home: Path, command: Command
) -> None:
    (repo / "docs").mkdir()
    (repo / NAME).write_text(
        "agent: rook\nread_only: true\nrecall: {max_results: 3}\nsources: {docs: {path: docs}}\n",
        encoding="utf-8",
    )
    keys = ("agent", "writing.read_only", "recall.max_results", "sources.docs.path")

    def shown(*before: str) -> dict[str, tuple[object, str]]:
        found = command(*before, "config", "show", "--json").json
        return {key: (found[key]["value"], found[key]["origin"]) for key in keys if key in found}

    default = {"agent": "default", "writing.read_only": False, "recall.max_results": 5}
    assert shown() == {key: (value, "default") for key, value in default.items()}
    command("trust", str(repo))
    file = str(repo / NAME)
    own: dict[str, tuple[object, str]] = {
        key: (value, file) for key, value in zip(keys, ("rook", True, 3, "docs"), strict=True)
    }
    assert shown() == own
    assert shown("--agent", "work") == own | {"agent": ("work", "--agent")}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("reasoner: {provider: command, command: rm}", "reasoner"),
        ("embedding: {base_url: 'http://x'}", "embedding"),
        ("home: /elsewhere", "home"),
        ("http: {port: 1}", "http"),
        ("projects: off", "projects"),
        ("writing: {secrets: allow}", "writing"),
        ("tools: [core]", "tools"),
        ("read_only: maybe", "read_only"),
        ("project: ../other", "project"),
        ("agent: a/b", "agent"),
        ("recall: {max_results: none}", "recall.max_results"),
        ("sources: {memory: {path: x}}", "sources.memory"),
        ("sources: {docs: {path: /etc}}", "sources.docs.path"),
        ("sources: {docs: {path: ../x}}", "sources.docs.path"),
        ("sources: {docs: {path: ~/x}}", "sources.docs.path"),
        ("sources: {docs: {path: 'C:\\x'}}", "sources.docs.path"),
        ("sources: {docs: {path: 'a/{agent}'}}", "sources.docs.path"),
        ("sources: {docs: {}}", "sources.docs.path"),
        ("- a list", NAME),
    ],
)
def test_what_a_project_must_not_say_is_not_trusted(
    repo: Path, command: Command, text: str, named: str
) -> None:
    (repo / NAME).write_text(text, encoding="utf-8")
    done = command("trust", ".")
    assert done.code == 1
    assert named in done.err
    assert command("trust", "--list", "--json").json == {"trusted": []}


def test_only_a_plain_file_that_is_there_is_trusted(repo: Path, command: Command) -> None:
    assert "write it first" in command("trust", ".").err
    (repo / "real.yml").write_text("agent: rook\n", encoding="utf-8")
    (repo / NAME).symlink_to(repo / "real.yml")
    assert "no plain file" in command("trust", ".").err
    assert command("status", "--json").json["warnings"][0]["reference"] == NAME
    assert command("trust").code == 2
    assert command("trust", "--list", ".").code == 2


def test_a_flag_or_a_variable_says_who_the_agent_is_before_the_file(
    repo: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / NAME).write_text("agent: rook\n", encoding="utf-8")
    command("trust", ".")
    assert command("status", "--json").json["agent"] == "rook"
    assert command("--agent", "jay", "status", "--json").json["agent"] == "jay"
    monkeypatch.setenv("MEMORY_MCP_AGENT", "daw")
    assert command("status", "--json").json["agent"] == "daw"


def test_clones_share_an_inbox_where_their_files_name_one(
    repo: Path, tmp_path: Path, home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / NAME).write_text("project: harbour\n", encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Name the project")
    git(tmp_path, "clone", "-q", "repo", "clone")
    for folder in (repo, tmp_path / "clone"):
        command("trust", str(folder))
        monkeypatch.chdir(folder)
        assert command("status", "--json").json["project"]["id"] == "harbour"


def test_commands_see_the_notes_of_the_project_in_which_they_run(
    repo: Path, tmp_path: Path, home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("write", "kiln", "--content", "The kiln of the project.").code == 0
    assert command("write", "tea", "--content", "Tea for all.", "--scope", "global").code == 0
    assert command("write", "kiln", "--content", "The kiln, anew.").code == 0
    assert command("save", "--content", "A kiln was saved.").code == 0
    project = repository_of(repo)
    assert project is not None
    inbox = home / "projects" / project.id / "memory"
    assert {path.stem for path in inbox.glob("*.md")} == {"kiln", "a-kiln-was-saved"}
    rows = command("list", "--json").json["notes"]
    assert {row["reference"]: row["scope"] for row in rows} == {
        "memory/kiln": "project",
        "memory/a-kiln-was-saved": "project",
        "memory/tea": "global",
    }
    assert len(command("history", "kiln", "--json").json["versions"]) == 1
    assert command("delete", "kiln").code == 0
    assert command("restore", "kiln").code == 0
    assert "anew" in command("show", "memory/kiln").out
    status = command("status", "--json").json
    assert status["projects"] == [{"id": project.id, "path": str(inbox), "files": 2}]
    assert status["sources"]["memory"]["files"] == 1
    assert status["sources"][f"memory@{project.id}"]["files"] == 2
    assert len(command("jobs", "--json").json["jobs"]) == 1
    doctor = command("doctor", "--json").json
    assert any(project.id in item["text"] for item in doctor["findings"])
    monkeypatch.chdir(tmp_path)
    rows = command("list", "--json").json["notes"]
    assert [row["reference"] for row in rows] == ["memory/tea"]
    assert command("show", "memory/kiln").code == 1
    assert command("history", "memory/kiln").code == 1
    assert command("jobs", "--json").json["jobs"] == []


def test_a_whole_home_folder_in_git_is_no_project(
    repo: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "below").mkdir()
    for own in (repo, repo / "below"):
        monkeypatch.setenv("HOME", str(own))
        assert "project" not in command("status", "--json").json


def test_a_variable_names_the_folder_of_a_client_that_is_started_elsewhere(
    repo: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "project" not in command("status", "--json").json
    monkeypatch.setenv("MEMORY_MCP_FOLDER", str(repo))
    assert command("status", "--json").json["project"]["folder"] == str(repo)


def test_a_list_that_is_damaged_trusts_nothing(repo: Path, home: Path, command: Command) -> None:
    (repo / NAME).write_text("read_only: true\n", encoding="utf-8")
    (home / ".state").mkdir(exist_ok=True)
    for text in ("{", "[]", '{"trusted": 3}', '{"trusted": {"x": 3}}'):
        (home / ".state" / "trust.json").write_text(text, encoding="utf-8")
        assert command("write", "a", "--content", "x").code == 0
        assert len(command("status", "--json").json["warnings"]) == 1
    (home / ".state" / "trust.json").write_text("{", encoding="utf-8")
    with pytest.raises(StorageError, match="delete it"):
        Trust(home).files()
    assert command("trust", ".").code == 1


@given(data=st.binary(max_size=400))
def test_any_bytes_are_settings_or_problems(data: bytes) -> None:
    file, problems = parsed(Path("/repo"), data, "")
    assert (file is None) == bool(problems)


_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    values=st.dictionaries(st.sampled_from((*KEYS, "home", "reasoner", "x")), _values, max_size=4)
)
def test_any_values_are_settings_below_the_folder_or_problems(values: dict[str, object]) -> None:
    file, problems = parsed(Path("/repo"), json.dumps(values).encode(), "")
    assert (file is None) == bool(problems)
    if file is not None:
        assert {key for key in values if values[key] is not None} <= set(KEYS)
        for item in file.sources.values():
            assert ".." not in Path(item.path).parts
            assert not Path(item.path).is_absolute()
