"""`install` enters the memory into real files, keeps all else, and finds the way back."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.cli.install.catalog import CLIENTS
from memory_mcp.cli.install.command import NAMES
from memory_mcp.cli.install.parts import BEGIN
from memory_mcp.cli.install.places import Machine
from memory_mcp.cli.install.trust import hook_hash
from memory_mcp.cli.installation import installation
from tests.cli.conftest import Command

PROGRAM = installation().command[0]
Tree = dict[str, bytes]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a person, to whom this machine belongs."""
    place = tmp_path / "person"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("USERPROFILE", str(place))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return place


def tree(folder: Path) -> Tree:
    """Every file below a folder, and every folder."""
    return {
        str(path.relative_to(folder)): b"" if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


def test_the_command_knows_every_client() -> None:
    assert sorted(CLIENTS) == list(NAMES)


def put(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


FULL = {
    "claude-code": {
        ".claude.json": '{\n  "numStartups": 3,\n  "mcpServers": {"x": {"command": "y"}}\n}\n',
        ".claude/settings.json": '{"hooks": {"Stop": [{"hooks": [{"command": "echo"}]}]}}',
    },
    "codex": {
        ".codex/config.toml": '# mine\nmodel = "m"\n\n[mcp_servers.x]\ncommand = "y" # c',
        ".codex/hooks.json": '{\n\t"hooks": {}\n}\n',
    },
    "claude-desktop": {".config/Claude/claude_desktop_config.json": '{"mcpServers": {}}'},
    "cursor": {".cursor/mcp.json": "{}"},
    "vscode": {".config/Code/User/mcp.json": '{\r\n  // mine\r\n  "servers": {},\r\n}\r\n'},
    "zed": {".config/zed/settings.json": '// Zed\n{\n  "theme": "One", // t\n}\n'},
    "windsurf": {".codeium/windsurf/mcp_config.json": ""},
    "goose": {".config/goose/config.yaml": "GOOSE_MODEL: m # c\nextensions:\n  x: {a: 1}\n"},
    "gemini": {".gemini/settings.json": '{"security": {"a": "b"}}\n'},
}


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_what_was_entered_is_taken_out_to_the_last_byte(
    client: str, person: Path, command: Command
) -> None:
    for name, text in FULL[client].items():
        put(person, name, text)
    before = tree(person)
    assert command("install", client).code == 0
    entered = tree(person)
    assert entered.keys() >= before.keys()
    assert all(PROGRAM.encode() in entered[name] for name in FULL[client])
    again = command("install", client)
    assert "already" in again.out
    assert tree(person) == entered
    assert "byte for byte" in command("install", client, "--uninstall").out
    assert tree(person) == before


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_what_install_made_is_gone_after_uninstall(
    client: str, person: Path, command: Command
) -> None:
    assert command("install", client).code == 0
    files = [name for name in tree(person) if (person / name).is_file()]
    assert sorted(files) == sorted(FULL[client])
    assert all((person / name).stat().st_mode & 0o77 == 0 for name in files)
    assert command("install", client, "--uninstall").code == 0
    assert tree(person) == {}


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_file_changed_since_loses_only_what_is_ours(
    client: str, person: Path, command: Command
) -> None:
    """As clients do it, which write their file anew."""
    for name, text in FULL[client].items():
        put(person, name, text)
    known = {name: _said(client, person / name) for name in FULL[client]}
    command("install", client)
    for name in FULL[client]:
        file = person / name
        more = "\n# changed" if file.suffix in (".toml", ".yaml") else "\n"
        file.write_bytes(file.read_bytes() + more.encode())
    assert "stays" in command("install", client, "--uninstall").out
    for name, values in known.items():
        assert _said(client, person / name) == values
        assert b"memory-mcp" not in (person / name).read_bytes()


def _said(client: str, file: Path) -> Any:
    from memory_mcp.cli.install.formats import JSONC

    format = CLIENTS[client].format if file.suffix in (".toml", ".yaml") else JSONC
    return format.parse(file.read_bytes().decode())


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("claude-code", ".claude/settings.json", '{"hooks": '),
        ("claude-code", ".claude.json", '{"a": 1 /* c */}'),
        ("codex", ".codex/config.toml", "a = \n"),
        ("goose", ".config/goose/config.yaml", "a: [\n"),
        ("zed", ".config/zed/settings.json", '{"a": 1 "b": 2}'),
        ("cursor", ".cursor/mcp.json", "[]"),
        ("vscode", ".config/Code/User/mcp.json", '{"servers": []}'),
    ],
)
def test_a_broken_file_is_refused_and_nothing_is_written(
    client: str, name: str, text: str, person: Path, command: Command
) -> None:
    file = put(person, name, text)
    before = tree(person)
    for flags in ([], ["--uninstall"]) if text not in ("[]", '{"servers": []}') else ([],):
        done = command("install", client, *flags)
        assert done.code == 1
        assert str(file) in done.err
        assert len(done.err.splitlines()) == 1
        assert tree(person) == before


def test_another_server_by_our_name_stays_and_ours_gets_its_own(
    person: Path, command: Command
) -> None:
    text = '{"mcpServers": {"memory": {"command": "npx", "args": ["server-memory"]}}}'
    file = put(person, ".cursor/mcp.json", text)
    refused = command("install", "cursor")
    assert refused.code == 1
    assert "--name" in refused.err
    assert file.read_text("utf-8") == text
    assert command("install", "cursor", "--name", "notes").code == 0
    servers = json.loads(file.read_bytes())["mcpServers"]
    assert servers["memory"] == json.loads(text)["mcpServers"]["memory"]
    assert servers["notes"]["command"] == PROGRAM
    command("install", "cursor", "--name", "notes", "--uninstall")
    assert file.read_text("utf-8") == text


def test_two_servers_in_one_file_go_one_by_one(person: Path, command: Command) -> None:
    file = put(person, ".cursor/mcp.json", '{"mcpServers": {"x": {"command": "y"}}}\n')
    command("install", "cursor")
    once = file.read_bytes()
    assert command("--agent", "work", "install", "cursor", "--name", "work").code == 0
    command("install", "cursor", "--uninstall")
    assert set(json.loads(file.read_bytes())["mcpServers"]) == {"x", "work"}
    command("install", "cursor")
    command("install", "cursor", "--name", "work", "--uninstall")
    assert set(json.loads(file.read_bytes())["mcpServers"]) == {"x", "memory"}
    assert file.read_bytes() == once


def test_an_entry_made_by_hand_is_brought_up_to_date(person: Path, command: Command) -> None:
    text = '[mcp_servers.memory]\ncommand = "/old/bin/memory-mcp"\nrequired = false\n'
    file = put(person, ".codex/config.toml", text)
    assert command("install", "codex").code == 0
    entry = tomllib.loads(file.read_text("utf-8"))["mcp_servers"]["memory"]
    assert (entry["command"], entry["required"]) == (PROGRAM, False)
    command("install", "codex", "--uninstall")
    assert "memory" not in file.read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_file_behind_a_link_is_changed_there(person: Path, command: Command) -> None:
    real = put(person, "dotfiles/claude/settings.json", "{}\n")
    real.chmod(0o640)
    link = person / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(Path("..", "dotfiles", "claude", "settings.json"))
    before = tree(person)
    assert command("install", "claude-code").code == 0
    assert link.is_symlink()
    assert b"SessionStart" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640
    command("install", "claude-code", "--uninstall")
    assert link.is_symlink()
    assert tree(person) == before


def test_the_bytes_of_before_are_kept(person: Path, home: Path, command: Command) -> None:
    put(person, ".cursor/mcp.json", '{"a": "ä"}')
    out = command("install", "cursor").out
    (kept,) = (line.split(": ", 1)[1] for line in out.splitlines() if "as it was" in line)
    assert Path(kept).read_text("utf-8") == '{"a": "ä"}'
    assert Path(kept).is_relative_to(home / ".state")
    if os.name != "nt":
        assert Path(kept).stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_print_and_dry_run_write_nothing(
    client: str, person: Path, home: Path, command: Command
) -> None:
    before = tree(home)
    shown = command("install", client, "--print")
    assert shown.code == 0
    assert PROGRAM in shown.out
    diff = command("install", client, "--dry-run").out
    assert diff.startswith("--- ")
    assert f"{PROGRAM}" in diff
    assert all(line[:1] in "+-@ " for line in diff.splitlines())
    assert tree(person) == {}
    assert tree(home) == before


def test_agent_and_home_are_carried_into_server_and_hooks(
    person: Path, home: Path, command: Command
) -> None:
    assert command("--agent", "work", "install", "claude-code").code == 0
    entry = json.loads((person / ".claude.json").read_bytes())["mcpServers"]["memory"]
    assert entry["args"][-2:] == ["--agent", "work"]
    assert entry["env"] == {"MEMORY_MCP_HOME": str(home)}
    hooks = json.loads((person / ".claude/settings.json").read_bytes())["hooks"]
    for event, (group,) in hooks.items():
        (hook,) = group["hooks"]
        assert f"--home {home} --agent work hook " in hook["command"], event
        assert 3 <= hook["timeout"] <= 15


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_project_gets_files_of_its_own(
    client: str, person: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    done = command("install", client, "--project", "--instructions")
    chosen = CLIENTS[client]
    if chosen.project is None:
        assert (done.code, tree(project)) == (1, {})
        assert "--project" in done.err
        return
    names = {chosen.project, chosen.project_hooks, chosen.project_instructions} - {None}
    files = {name for name in tree(project) if (project / name).is_file()}
    assert files == names
    command("install", client, "--project", "--uninstall")
    assert tree(project) == {}
    assert tree(person) == {}


def test_the_line_of_instruction_is_written_only_when_asked(
    person: Path, command: Command
) -> None:
    file = put(person, ".claude/CLAUDE.md", "# Mine\n\nBe brief.")
    command("install", "claude-code")
    assert file.read_text("utf-8") == "# Mine\n\nBe brief."
    command("install", "claude-code", "--instructions")
    assert BEGIN in file.read_text("utf-8")
    command("install", "claude-code", "--uninstall")
    assert file.read_text("utf-8") == "# Mine\n\nBe brief."
    refused = command("install", "claude-desktop", "--instructions")
    assert refused.code == 1
    assert "--instructions --print" in refused.err


def test_variables_of_clients_move_their_files(
    person: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "x"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "g"))
    for client in ("claude-code", "codex", "zed", "goose"):
        assert command("install", client).code == 0
    names = ("c/.claude.json", "c/settings.json", "x/config.toml", "x/hooks.json")
    for name in (*names, "g/zed/settings.json", "g/goose/config.yaml"):
        assert (tmp_path / name).is_file()
    assert tree(person) == {}


PLACES = {
    "linux": {
        "claude-desktop": "/h/.config/Claude/claude_desktop_config.json",
        "vscode": "/h/.config/Code/User/mcp.json",
        "zed": "/h/.config/zed/settings.json",
        "goose": "/h/.config/goose/config.yaml",
    },
    "darwin": {
        "claude-desktop": "/h/Library/Application Support/Claude/claude_desktop_config.json",
        "vscode": "/h/Library/Application Support/Code/User/mcp.json",
        "zed": "/h/.config/zed/settings.json",
        "goose": "/h/.config/goose/config.yaml",
    },
    "win32": {
        "claude-desktop": "/r/Claude/claude_desktop_config.json",
        "vscode": "/r/Code/User/mcp.json",
        "zed": "/r/Zed/settings.json",
        "goose": "/r/Block/goose/config/config.yaml",
    },
}


@pytest.mark.parametrize("platform", sorted(PLACES))
@pytest.mark.skipif(os.name == "nt", reason="paths are written as on Unix")
def test_each_platform_has_its_places(platform: str) -> None:
    environment = {"APPDATA": "/r"} if platform == "win32" else {"XDG_CONFIG_HOME": ""}
    machine = Machine(platform, environment, Path("/h"))
    for client, place in PLACES[platform].items():
        assert str(CLIENTS[client].user(machine)) == place


def test_doctor_sees_untrusted_hooks_lost_entries_and_lost_commands(
    person: Path, command: Command
) -> None:
    for client in ("codex", "cursor", "claude-code"):
        command("install", client)
    findings = _findings(command)
    assert {f["state"] for f in findings if f["subject"] in ("Claude Code", "Cursor")} == {"good"}
    (wrong,) = (f for f in findings if f["state"] == "wrong")
    assert "/hooks" in wrong["way_out"]
    hooks = json.loads((person / ".codex/hooks.json").read_bytes())["hooks"]
    with (person / ".codex/config.toml").open("a", encoding="utf-8") as config:
        for event, (group,) in hooks.items():
            name = "".join(f"_{c.lower()}" if c.isupper() else c for c in event).lstrip("_")
            key = f"{person / '.codex/hooks.json'}:{name}:0:0"
            config.write(f'[hooks.state."{key}"]\n')
            config.write(f'trusted_hash = "{hook_hash(event, group, 0)}"\n')
    put(person, ".cursor/mcp.json", "{}")
    text = (person / ".claude.json").read_text("utf-8")
    put(person, ".claude.json", text.replace(PROGRAM, "/gone/memory-mcp"))
    states = {(f["subject"], f["state"]) for f in _findings(command)}
    assert ("Codex", "wrong") not in states
    assert ("Cursor", "remark") in states
    assert ("Claude Code", "wrong") in states


def _findings(command: Command) -> list[dict[str, str]]:
    found = command("doctor", "--json").json["findings"]
    return [item for item in found if item["subject"] in {c.title for c in CLIENTS.values()}]


def test_a_hash_is_the_one_that_codex_tells() -> None:
    """Two that Codex 0.171 told for these hooks (hooks/list of its app server)."""
    hook = {"type": "command", "command": "/bin/echo hook session-start", "timeout": 10}
    group = {"matcher": "startup|resume|clear|compact", "hooks": [hook]}
    said = "6cdb0b63441b20febe3f6b08711d4b2b306a21a22c4ae245e6aaedce558e0b3e"
    assert hook_hash("SessionStart", group, 0) == f"sha256:{said}"
    hook = {"type": "command", "command": "/bin/echo p", "timeout": 5}
    said = "50daaa1a4b80d2365b5a5c8a1f4ac1a166d77affdc9874fbe2bb566c994a22ea"
    assert hook_hash("SessionEnd", {"hooks": [hook]}, 0) == f"sha256:{said}"


@pytest.mark.skipif(os.name == "nt", reason="asks a shell of Unix")
def test_a_hook_starts_in_a_shell_whatever_the_home_is_called(
    person: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "my $HOME 'ä\" `x`"
    assert command("--home", str(odd), "install", "claude-code").code == 0
    hooks = json.loads((person / ".claude/settings.json").read_bytes())["hooks"]
    line = hooks["Stop"][0]["hooks"][0]["command"]
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-4:] == ["--home", str(odd), "hook", "stop"]


def test_a_bare_path_starts_the_entry(person: Path, command: Command) -> None:
    command("install", "cursor")
    entry = json.loads((person / ".cursor/mcp.json").read_bytes())["mcpServers"]["memory"]
    done = subprocess.run(
        [entry["command"], *entry["args"], "--version"],
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
