"""Codex with the memory as dynamic tools: no MCP server, no entry in config.toml.

    python -m integrations.codex.app_server "Which tomatoes did I want to order?"

The program that starts `codex app-server` offers tools of its own when it opens a thread, and is
asked for each call. Here these are the tools of the memory, through `memory_mcp.tools`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from memory_mcp.tools import Session

Json = dict[str, Any]


class AppServer:
    """A running `codex app-server`: JSON lines on its standard streams."""

    def __init__(
        self, command: Sequence[str] = ("codex",), environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it and shake hands."""
        self._process = subprocess.Popen(
            [*command, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=None if environment is None else dict(environment),
        )
        self._count = 0
        self.on_call: Callable[[Json], Json] = _refused
        """Answers `item/tool/call`, params to result."""
        self.on_notice: Callable[[str, Json], None] = _ignored
        """Hears notifications."""
        client = {"name": "memory-example", "title": "Memory example", "version": "1"}
        capabilities = {"experimentalApi": True}  # dynamic tools are part of it
        self.request("initialize", clientInfo=client, capabilities=capabilities)
        self._send({"method": "initialized"})

    def request(self, method: str, **params: Any) -> Json:
        """The result of a request. Raises RuntimeError with what Codex says is wrong."""
        self._count += 1
        number = self._count
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self.hear()
            if "method" not in message and message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error'].get('message')}")
                result: Json = message["result"]
                return result

    def hear(self) -> Json:
        """The next message. What Codex asks is answered before, what it tells is passed on.

        Its requests have ids of their own, which may be the same as ours: what tells them apart
        is that they have a method."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("codex app-server has ended")
        message: Json = json.loads(line)
        method = message.get("method")
        if method is None:
            return message
        if "id" not in message:
            self.on_notice(method, message.get("params") or {})
        elif method == "item/tool/call":
            self._send({"id": message["id"], "result": self.on_call(message["params"])})
        else:
            error = {"code": -32601, "message": f"{method} is not answered here"}
            self._send({"id": message["id"], "error": error})
        return message

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def __enter__(self) -> AppServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it: it goes when its input does."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()


def ask(server: AppServer, question: str, folder: Path, **options: Any) -> str:
    """The answer of Codex to one question in a new thread, with the memory at hand.

    `options` are those of `Session`, such as `home` and `agent`."""
    with Session(folder=folder, **options) as memory:
        thread = server.request(
            "thread/start",
            cwd=str(folder),
            approvalPolicy="never",
            sandbox="read-only",
            developerInstructions=memory.instructions(),
            dynamicTools=memory.specs("codex"),
        )["thread"]["id"]
    said: list[str] = []
    ended: list[Json] = []

    def notice(method: str, params: Json) -> None:
        if params.get("threadId") != thread:
            return
        if method == "item/completed" and params["item"]["type"] == "agentMessage":
            said.append(params["item"]["text"])
        elif method == "turn/completed":
            ended.append(params["turn"])

    # Named after the thread: who resumes it later has read what was read in it.
    with Session(thread, folder=folder, **options) as memory:
        server.on_call = lambda params: memory.answer("codex", params)
        server.on_notice = notice
        server.request("turn/start", threadId=thread, input=[{"type": "text", "text": question}])
        while not ended:
            server.hear()
    if ended[0].get("error"):
        raise RuntimeError(str(ended[0]["error"].get("message")))
    return "\n".join(said)


def _refused(params: Json) -> Json:
    text = f"{params.get('tool')} is not at hand in this thread."
    return {"contentItems": [{"type": "inputText", "text": text}], "success": False}


def _ignored(method: str, params: Json) -> None:
    """What Codex tells while nobody listens."""


if __name__ == "__main__":
    with AppServer() as running:
        sys.stdout.write(ask(running, " ".join(sys.argv[1:]), Path.cwd()) + "\n")
