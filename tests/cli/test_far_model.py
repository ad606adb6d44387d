"""A model on a machine that takes the call and never answers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from tests.cli.conftest import note


def test_a_command_that_needs_no_vectors_does_not_wait_for_it(home: Path) -> None:
    note(home, "memory/kettle", "The kettle is in the shed.\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        taken: list[socket.socket] = []
        thread = threading.Thread(target=lambda: taken.append(silent.accept()[0]))
        thread.start()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        (home / "config.yml").write_text(
            f"embedding: {{provider: openai-compatible, model: m, base_url: '{address}'}}\n",
            encoding="utf-8",
        )
        done = subprocess.run(
            [sys.executable, "-m", "memory_mcp", "list"],
            capture_output=True,
            env={**os.environ, "MEMORY_MCP_HOME": str(home)},
            timeout=9,
        )
        if not taken:  # it ended before it had the time to call
            socket.create_connection(silent.getsockname()).close()
        thread.join()
        taken[0].close()
    assert done.returncode == 0, done.stderr
    assert b"memory/kettle" in done.stdout
