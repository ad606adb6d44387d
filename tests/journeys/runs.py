"""Running the program as a person does: each command a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SECONDS = 60


def memory(
    home: Path,
    *words: str,
    text: str | None = None,
    code: int = 0,
    environ: Mapping[str, str] | None = None,
) -> str:
    """What `memory-mcp <words>` prints, on stderr too where it is meant to fail."""
    done = subprocess.run(
        [sys.executable, "-m", "memory_mcp", *words],
        input=None if text is None else text.encode("utf-8"),
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        env={**(environ or os.environ), "MEMORY_MCP_HOME": str(home)},
        timeout=SECONDS,
    )
    errors = done.stderr.decode("utf-8", "replace")
    assert done.returncode == code, errors
    return done.stdout.decode("utf-8") + (errors if code else "")
