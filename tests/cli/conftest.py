"""A home of words only, and a way to run commands in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.cli.main import run


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


Command = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose index needs no model."""
    place = tmp_path / "home"
    place.mkdir(mode=0o700)
    (place / "config.yml").write_text("embedding: {provider: none}\n", encoding="utf-8")
    return place


@pytest.fixture
def command(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs `memory-mcp <words>` on the home."""
    monkeypatch.setenv("MEMORY_MCP_HOME", str(home))

    def call(*words: str) -> Done:
        capsys.readouterr()
        code = run(words)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


def note(home: Path, reference: str, text: str) -> Path:
    """Write a file of the inbox or the wiki as an editor would."""
    source, _, path = reference.partition("/")
    folder = {"memory": "agents/default/memory", "wiki": "wiki"}[source]
    file = home / folder / f"{path}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
