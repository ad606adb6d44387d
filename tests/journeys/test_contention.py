"""Whole processes that write to one note at once, and an editor between them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
CLIENTS, APPENDS = 3, 8


def test_of_what_many_processes_and_an_editor_add_to_one_note_nothing_is_lost(
    tmp_path: Path,
) -> None:
    words = ["--clients", str(CLIENTS), "--appends", str(APPENDS), "--pause", "0.3"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "contention.py"), *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [re.split(r" *\| *", line.strip("| ")) for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == [
        "one engine",
        "one engine, with an editor",
        "full servers",
        "full servers, with an editor",
    ]
    for title, lines, _, saves, in_note, in_history, doubled, nowhere, _ in rows:
        assert int(lines) == CLIENTS * APPENDS
        assert int(in_note) + int(in_history) == int(lines) + int(saves)
        assert int(doubled) == int(nowhere) == 0
        if "editor" not in title:
            assert int(in_note) == int(lines)
