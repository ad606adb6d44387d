"""Hooks as clients run them: a process that gets JSON and must not be in the way."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 8.0
LIMIT = 9500


@dataclass(frozen=True, slots=True)
class Done:
    """How a hook ended."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def context(self) -> str:
        """What the client gives to its model; empty where nothing was printed."""
        if not self.out:
            return ""
        answer = json.loads(self.out)
        assert list(answer) == ["hookSpecificOutput"]
        inner = answer["hookSpecificOutput"]
        assert set(inner) == {"hookEventName", "additionalContext"}
        text: str = inner["additionalContext"]
        return text

    def fine(self) -> Done:
        """It obeys what holds for all hooks, whatever happens."""
        assert self.code == 0, self.err
        assert len(self.out.encode("utf-16-le")) // 2 <= LIMIT
        assert self.err.count("\n") <= 1, self.err
        assert not self.out or isinstance(self.context, str)
        return self


def run_hook(
    environ: Mapping[str, str],
    event: str,
    given: bytes | Mapping[str, Any],
    *words: str,
    cwd: Path | None = None,
) -> Done:
    """Run one hook to its end."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "memory_mcp", "hook", event, *words],
        input=data,
        capture_output=True,
        env=dict(environ),
        cwd=cwd,
        timeout=SECONDS,
        check=False,
    )
    seconds = time.monotonic() - begin
    err = done.stderr.decode("utf-8", "replace")
    return Done(done.returncode, done.stdout.decode("utf-8"), err, seconds)
