"""What starts an installation, also where it lies in a cache that will be emptied."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memory_mcp
from memory_mcp.cli.installation import clone_of, is_passing


@pytest.mark.parametrize(
    "place",
    [
        "/home/ann/.cache/uv/archive-v0/Vx0cNqUN/bin/memory-mcp",
        "/var/tmp/own-cache/environments-v2/memory-mcp-1a2b/bin/python",
        "/home/ann/.cache/pipx/3f2a/bin/memory-mcp",
        "/home/ann/.local/pipx/.cache/3f2a/bin/memory-mcp",
    ],
)
def test_a_program_in_a_cache_does_not_last(place: str) -> None:
    assert is_passing(Path(place))


@pytest.mark.parametrize(
    "place",
    [
        "/home/ann/.local/bin/memory-mcp",
        "/home/ann/.local/share/uv/tools/memory-mcp/bin/memory-mcp",
        "/home/ann/.local/share/pipx/venvs/memory-mcp/bin/memory-mcp",
        "/home/ann/archive/.venv/bin/memory-mcp",
    ],
)
def test_an_installed_program_lasts(place: str) -> None:
    assert not is_passing(Path(place))


def test_the_clone_is_what_the_installer_noted(tmp_path: Path) -> None:
    clone = tmp_path / "my clone ä"
    clone.mkdir()
    assert clone_of(json.dumps({"url": clone.as_uri(), "dir_info": {}})) == clone
    clone.rmdir()
    assert clone_of(json.dumps({"url": clone.as_uri()})) is None
    for noted in (None, "", "[]", "{", '{"url": "https://127.0.0.1/x.whl"}'):
        assert clone_of(noted) is None


@pytest.mark.skipif(os.name == "nt", reason="links a Python")
@pytest.mark.parametrize("noted", [True, False])
def test_init_in_a_cache_says_that_it_needs_an_install(tmp_path: Path, noted: bool) -> None:
    """A whole environment as uv lays it: its script, and what it notes about the package."""
    place = tmp_path / "uv/archive-v0/Vx0cNqUN"
    clone = tmp_path / "clone"
    clone.mkdir()
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=30
    )
    packages = next(place.glob("lib/python*/site-packages"))
    root = Path(memory_mcp.__file__).parents[1]
    others = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "all.pth").write_text("\n".join([str(root), *others]), encoding="utf-8")
    about = packages / "memory_mcp-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: memory-mcp\nVersion: 0.1.0\n", encoding="utf-8")
    if noted:
        (about / "direct_url.json").write_text(json.dumps({"url": clone.as_uri()}), "utf-8")
    (place / "bin/memory-mcp").write_text("", encoding="utf-8")
    home = tmp_path / "home"
    done = subprocess.run(
        [str(place / "bin/python"), "-m", "memory_mcp", "--home", str(home), "init", "--json"],
        capture_output=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert "uv tool install" in shown["remark"]
    server = shown["server"]
    if noted:
        assert Path(server["command"]).name == "uvx"
        assert server["args"] == ["--from", str(clone), "memory-mcp"]
    else:
        assert server["command"] == str(place / "bin/memory-mcp")
        assert "do not work any more" in shown["remark"]
