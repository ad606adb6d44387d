"""The server driven by clients of another make: the TypeScript SDKs of MCP."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "integrations" / "typescript"
STEPS = [
    *("handshake", "tools", "write", "search", "get", "resources", "edit", "notice"),
    *("conflict", "delete", "restore", "refusals"),
]
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(NODE is None, reason="Node.js is not installed"),
    pytest.mark.skipif(
        not (FOLDER / "node_modules").is_dir(),
        reason="run `npm ci` in integrations/typescript first",
    ),
    pytest.mark.slow,
    pytest.mark.timeout(90),
]


@pytest.mark.parametrize("era", ["legacy", "modern", "first"])
def test_a_typescript_client_works_with_the_memory(tmp_path: Path, era: str) -> None:
    assert NODE is not None
    environment = {
        **{name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name},
        "MEMORY_MCP_HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }
    run = partial(
        subprocess.run, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    memory = [sys.executable, "-m", "memory_mcp"]
    try:
        done = run([NODE, str(FOLDER / "drive.mjs"), era, *memory], timeout=80)
    finally:
        run([*memory, "engine", "stop"], timeout=10)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [step["step"] for step in told if step["ok"]] == STEPS, (told[-1:], done.stderr)
    assert done.returncode == 0
