"""Nothing but the home is written, and nothing is reported to anybody, when the memory works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CODE = """
from memory_mcp.index.embedder import BundledEmbedder
BundledEmbedder().query("What is kept here?")
"""


def test_the_model_leaves_nothing_in_the_persons_folders(tmp_path: Path) -> None:
    person, temporary = tmp_path / "person", tmp_path / "temporary"
    person.mkdir()
    temporary.mkdir()
    places = {
        "HOME": str(person),
        "TMPDIR": str(temporary),
        "XDG_CACHE_HOME": str(person / "cache"),
        "ORT_DISABLE_TELEMETRY": "0",
    }
    subprocess.run(
        [sys.executable, "-c", CODE], env={**os.environ, **places}, check=True, timeout=9
    )
    assert [*person.rglob("*"), *temporary.rglob("*")] == []
