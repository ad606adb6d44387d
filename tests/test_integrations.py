"""What is handed to clients by hand says what `install` says, and is built the same every time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from integrations.desktop.build import build
from memory_mcp import __version__
from memory_mcp.cli.install.catalog import CLIENTS
from memory_mcp.cli.install.formats import at
from memory_mcp.cli.install.places import Machine

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "integrations" / "claude-code-plugin"
DESKTOP = ROOT / "integrations" / "desktop"
ENTRY = {"command": "memory-mcp", "args": [], "env": {}}


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_plugin_has_the_server_and_the_hooks_that_install_enters() -> None:
    client = CLIENTS["claude-code"]
    machine = Machine(home=Path("/h"))
    server = json.loads(client.server(machine, "memory", ENTRY).part.enter(""))
    assert read(PLUGIN / ".mcp.json") == server
    hooks = client.hooks(machine, ("memory-mcp",))
    assert hooks is not None
    assert (
        read(PLUGIN / "hooks" / "hooks.json")["hooks"] == json.loads(hooks.part.enter(""))["hooks"]
    )


def test_plugin_marketplace_and_bundle_are_of_this_version() -> None:
    plugin = read(PLUGIN / ".claude-plugin" / "plugin.json")
    assert plugin["version"] == read(DESKTOP / "manifest.json")["version"] == __version__
    (listed,) = read(PLUGIN / ".claude-plugin" / "marketplace.json")["plugins"]
    assert (listed["name"], listed["source"]) == (plugin["name"], "./")


def test_the_skill_names_tools_that_there_are() -> None:
    text = (PLUGIN / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    _, header, body = text.split("---\n", 2)
    skill = yaml.safe_load(header)
    assert skill["name"] == "memory"
    assert len(skill["description"]) < 1024
    table = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in set(re.findall(r"`(memory_\w+)`", body)):
        assert f"| `{name}` |" in table


def test_the_example_for_claude_desktop_is_what_install_enters() -> None:
    example = read(ROOT / "claude_desktop_config.example.json")
    entry = {**ENTRY, "command": "/path/to/bin/memory-mcp"}
    part = CLIENTS["claude-desktop"].server(Machine(home=Path("/h")), "memory", entry).part
    assert part.enter(json.dumps(example)) == json.dumps(example)
    assert part.enter("{}") != "{}"


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_the_page_on_clients_shows_what_install_enters(name: str) -> None:
    client = CLIENTS[name]
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    assert f"`memory-mcp install {name}`" in page or f"memory-mcp install {name}\n" in page
    entry = {**ENTRY, "command": "/path/to/bin/memory-mcp"}
    text = client.server(Machine(home=Path("/h")), "memory", entry).part.enter("")
    wanted = at(client.format.parse(text), (client.section, "memory"))
    shown = [found[1] for found in re.finditer(r"^```\w+\n(.*?)^```$", page, re.M | re.S)]
    assert any(_shows(client.format.parse, text, client.section, wanted) for text in shown)


def _shows(parse: Any, text: str, section: str, wanted: Any) -> bool:
    try:
        there = at(parse(text), (section, "memory"))
    except ValueError:
        return False
    return bool(there == wanted)


def test_the_bundle_is_the_same_from_the_same_sources_and_holds_the_package(
    tmp_path: Path,
) -> None:
    build(tmp_path / "a.mcpb")
    build(tmp_path / "b.mcpb")
    assert (tmp_path / "a.mcpb").read_bytes() == (tmp_path / "b.mcpb").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.mcpb") as bundle:
        names = bundle.namelist()
        manifest = json.loads(bundle.read("manifest.json"))
    assert manifest["server"]["entry_point"] in names
    assert not [name for name in names if "__pycache__" in name or "/." in name]
    package = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("memory_mcp/**/*.py")}
    assert package < {*names}
    skill = "integrations/claude-code-plugin/skills/memory/SKILL.md"  # the package ships it
    for needed in ("pyproject.toml", "README.md", "LICENSE", "prompts/remember.md", skill):
        assert needed in names


def test_the_package_in_the_bundle_starts(tmp_path: Path) -> None:
    build(tmp_path / "a.mcpb")
    with zipfile.ZipFile(tmp_path / "a.mcpb") as bundle:
        bundle.extractall(tmp_path / "x")
    code = "import memory_mcp.__main__ as m, sys; sys.stdout.write(m.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "x",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "x")},
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=True,
    )
    assert Path(done.stdout).is_relative_to(tmp_path)


def test_the_bundle_starts_the_command_of_the_package() -> None:
    config = read(DESKTOP / "manifest.json")["server"]["mcp_config"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert config["args"][-1] in project["scripts"]
    assert "user_config.home" in config["env"]["MEMORY_MCP_HOME"]
