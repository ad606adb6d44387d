"""The tour of the demo, as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_mcp.cli.clients import start_command
from memory_mcp.cli.demo import STEPS


def demo(*words: str, temporary: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "TMPDIR": str(temporary), **variables}
    return subprocess.run(
        [sys.executable, "-m", "memory_mcp", "demo", *words],
        capture_output=True,
        env=environment,
        timeout=170,
    )


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_demo_does_every_step_and_leaves_nothing(tmp_path: Path) -> None:
    done = demo(temporary=tmp_path)
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    for number, (title, _) in enumerate(STEPS, 1):
        assert f"{number}. {title}" in text
    assert "Every step did what it says." in text
    for client in ("Claude Code", "Claude Desktop", "Codex", "Cursor"):
        assert client in text
    assert start_command()[0] in text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_demo_fails_loudly_where_a_step_does_not_hold(tmp_path: Path) -> None:
    """Its own settings must not leak in: a person's home and agent play no part."""
    broken = tmp_path / "sitecustomize.py"
    broken.write_text(
        "import sys\nif sys.argv[1:] == []:\n    raise SystemExit(3)\n", encoding="utf-8"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    place = tmp_path / "t"
    place.mkdir()
    done = demo(temporary=place, PYTHONPATH=path)
    assert done.returncode == 1
    assert b"memory-mcp: " in done.stderr
    assert b"Every step did" not in done.stdout
    assert list(place.iterdir()) == []
