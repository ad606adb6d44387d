"""A home with a stand-in engine, and fronts on it that are spoken to by raw lines."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 9.0

PROGRAM = """\
import sys
from tests.front.standin import main
sys.exit(main(sys.argv[1:]))
"""
PACKAGE = """\
__path__.append({real!r})
__version__ = "0.1.0"
"""


PLAIN = ("-P", "-m", "memory_mcp")
CARELESS = """\
import os, runpy, sys
for number in (0, 1):
    os.set_blocking(number, False)
runpy.run_module("memory_mcp", run_name="__main__", alter_sys=True)
"""


class Home:
    """A home whose engine is the stand-in: a package of our name that comes first on the path."""

    def __init__(self, root: Path, name: str = "home") -> None:
        self.runtime = tempfile.mkdtemp()  # short enough for a socket, unlike those of pytest
        self.path = root / name
        self.path.mkdir()
        package = root / "program" / "memory_mcp"
        package.mkdir(parents=True)
        (package / "__main__.py").write_text(PROGRAM, encoding="utf-8")
        real = str(ROOT / "memory_mcp")
        (package / "__init__.py").write_text(PACKAGE.format(real=real), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
        self.environ = {
            **kept,
            "MEMORY_MCP_HOME": str(self.path),
            "PYTHONPATH": os.pathsep.join([str(package.parent), str(ROOT)]),
            "XDG_RUNTIME_DIR": self.runtime,
        }
        self.fronts: list[Front] = []

    def front(self, nonblocking: bool = False, **more: str) -> Front:
        front = Front(self, more, nonblocking)
        self.fronts.append(front)
        return front

    def mood(self, mood: str) -> None:
        (self.path / "mood").write_text(mood, encoding="utf-8")

    def engines(self) -> list[int]:
        """The processes that were started as engines of this home."""
        path = self.path / "engines"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def kill(self) -> None:
        """Kill the latest engine."""
        os.kill(self.engines()[-1], signal.SIGKILL)

    def close(self) -> None:
        for front in self.fronts:
            front.close()
        for pid in self.engines():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        shutil.rmtree(self.runtime)


class Front:
    """A front as a process."""

    def __init__(self, home: Home, more: dict[str, str], nonblocking: bool) -> None:
        self.errors = home.path / f"stderr-{len(home.fronts)}"
        with self.errors.open("wb") as log:
            self.inner = subprocess.Popen(
                [sys.executable, *(("-c", CARELESS) if nonblocking else PLAIN)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**home.environ, **more},
                cwd=home.path,
            )
        assert self.inner.stdin is not None
        assert self.inner.stdout is not None
        self.to = self.inner.stdin
        self.out = self.inner.stdout
        self.told: list[dict[str, Any]] = []
        """Notifications and requests that came while waiting for answers."""

    def send(self, message: dict[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.to.write(line)
        self.to.flush()

    def request(self, number: Any, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def receive(self) -> dict[str, Any]:
        line = self.out.readline()
        assert line.endswith(b"\n"), self.log()
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def answer(self, number: Any) -> dict[str, Any]:
        while True:
            message = self.receive()
            if "method" not in message:
                assert message["id"] == number, message
                return message
            self.told.append(message)

    def ask(self, number: Any, method: str = "echo", **params: Any) -> dict[str, Any]:
        self.request(number, method, **params)
        result: dict[str, Any] = self.answer(number)["result"]
        return result

    def log(self) -> str:
        return self.errors.read_text(encoding="utf-8")

    def end(self) -> int:
        """Close its input; its exit code."""
        self.to.close()
        return self.inner.wait(SECONDS)

    def close(self) -> None:
        self.inner.kill()
        self.inner.wait()
        for pipe in (self.to, self.out):
            try:
                pipe.close()
            except BrokenPipeError:
                continue
