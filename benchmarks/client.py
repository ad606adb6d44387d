"""A client of a server on stdio, as small as can be, for measurements of whole processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
PATIENCE = 60.0
"""Seconds after which an answer will not come any more."""

Json = dict[str, Any]


class Refused(Exception):
    """A tool answered with an error; its text."""


class Gone(Exception):
    """The server ended, answered with an error of the protocol, or did not answer in time."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a server for this home: none of our own settings leak into it, and
    modules are compiled once, as installed ones are, whatever this shell says."""
    kept = {name: value for name, value in os.environ.items() if "MEMORY_MCP" not in name}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, "MEMORY_MCP_HOME": str(home), **more}


def command(*arguments: str) -> list[str]:
    """The command line of the memory-mcp beside this Python."""
    return [sys.executable, "-m", "memory_mcp", *arguments]


class Client:
    """A server process and the one who talks to it. Safe to use from several threads."""

    def __init__(
        self,
        words: Sequence[str],
        env: dict[str, str],
        stderr: int | IO[bytes] | None = subprocess.DEVNULL,
    ) -> None:
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=env
        )
        self._number = 0
        self._lock = threading.Lock()
        self._waiting: dict[int, Queue[Json | None]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def age(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self.begin

    def hello(self) -> float:
        """The handshake; the age at its answer."""
        self.ask("initialize", **HELLO)
        age = self.age
        self._send({"method": "notifications/initialized"})
        return age

    def ask(self, method: str, /, **params: Any) -> Json:
        """A request and its result. Raises Gone."""
        return self.finish(self.begin_request(method, **params))

    def begin_request(self, method: str, /, **params: Any) -> int:
        """Send a request and return its number. Raises Gone."""
        with self._lock:
            self._number += 1
            number = self._number
            self._waiting[number] = Queue()
        self._send({"id": number, "method": method, "params": params})
        return number

    def finish(self, number: int, seconds: float = PATIENCE) -> Json:
        """The result of a request. Raises Gone."""
        try:
            message = self._waiting[number].get(timeout=seconds)
        except Empty:
            raise Gone(f"no answer to request {number} within {seconds:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
        if message is None:
            raise Gone("the server ended")
        if "error" in message:
            raise Gone(str(message["error"]))
        result: Json = message["result"]
        return result

    def call(self, name: str, /, **arguments: Any) -> Json:
        """The structured answer of a tool. Raises Refused and Gone."""
        return structured(self.ask("tools/call", name=name, arguments=arguments))

    def search(self, query: str, **more: Any) -> Json:
        """The structured answer of a search."""
        return self.call("memory_search", query=query, **more)

    def end(self) -> None:
        """Close the input and wait for the exit."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)

    def kill(self) -> None:
        """End the process without a warning."""
        self.process.kill()
        self.process.wait(10)

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        try:
            with self._lock:
                self.process.stdin.write(data)
                self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise Gone(f"the server takes nothing any more: {error}") from None

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            box = self._waiting.get(message.get("id"))
            if box is not None and "method" not in message:
                box.put(message)
        for box in list(self._waiting.values()):
            box.put(None)


def structured(result: Json) -> Json:
    """The structured part of a tool's result. Raises Refused."""
    if result.get("isError"):
        raise Refused(result["content"][0]["text"])
    answer: Json = result["structuredContent"]
    return answer


@contextmanager
def clients(count: int, words: Sequence[str], env: dict[str, str]) -> Iterator[list[Client]]:
    """So many clients, started at the same moment, ended at the end."""
    started = [Client(words, env) for _ in range(count)]
    try:
        yield started
    finally:
        for client in started:
            client.end()


def engine_pid(home: Path) -> int | None:
    """The process of the engine of a home, as its endpoint file says."""
    try:
        text = (home / ".state" / "engine.json").read_text(encoding="utf-8")
        return int(json.loads(text)["pid"])
    except (OSError, ValueError, KeyError):
        return None


def stop_engine(home: Path) -> None:
    """Stop the engine of a home, if there is one."""
    subprocess.run(
        command("engine", "stop"),
        env=environment(home),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def memory(pid: int) -> tuple[float, float]:
    """Resident set and proportional set of a process, in MB (Linux)."""
    values = {}
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123 - not a file of ours
        for line in file:
            name, _, rest = line.partition(":")
            if name in ("Rss", "Pss"):
                values[name] = int(rest.split()[0]) / 1024
    return values["Rss"], values["Pss"]
