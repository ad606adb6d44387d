"""A model that follows a script: the APIs of Anthropic and of OpenAI, on loopback, for agents.

It never leaves this machine and knows nothing. An agent asks it what to do next; it answers with
the next call of that agent's script, as a real model would, and at the end with the results that
the agent sent it. Requests to any other host are asked of it as a proxy; it refuses and counts.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from integrations.smoke import anthropic, chat, openai
from integrations.smoke.turn import Answer, Say, Turn, Use

PATIENCE = 90.0
"""Seconds that an agent waits for another one at most."""

DIALECTS = {"v1/messages": anthropic, "v1/responses": openai, "v1/chat/completions": chat}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call, by the name our server gives it.

    `together`: it is given when all agents have come so far, so that all are at work then.
    """

    tool: str
    arguments: Mapping[str, Any]
    together: bool = False


@dataclass(slots=True)
class Seen:
    """What one agent showed its model."""

    offered: set[str] = field(default_factory=set)
    looked_up: bool = False
    results: dict[int, str] = field(default_factory=dict)
    first: str = ""
    """All texts of the first request with tools: what the model knows before it does anything."""


class Model:
    """The scripts by their names, and what was seen so far. Safe to use from several threads.

    `meeting` is called when all agents have come to a call that they get together.
    """

    def __init__(
        self, scripts: Mapping[str, Sequence[Call]], meeting: Callable[[], None] = lambda: None
    ) -> None:
        self.scripts = scripts
        self._meeting = threading.Barrier(len(scripts), meeting, PATIENCE)
        self.seen = {name: Seen() for name in scripts}
        self.elsewhere: set[str] = set()

    def next(self, name: str, turn: Turn, request: Any) -> Answer:
        """What the model says now; it may wait for another agent before."""
        if not turn.offered and not turn.deferred:
            return Say("ok")  # a title for the window, or the like
        self.seen[name].first = self.seen[name].first or "\n".join(_texts(request))
        self._take(name, turn)
        step = len(turn.results)
        if step == len(self.scripts[name]):
            return Say("\n\n".join(turn.results))
        call = self.scripts[name][step]
        self._wait(call)
        return self._use(name, turn, call, step)

    def _take(self, name: str, turn: Turn) -> None:
        seen = self.seen[name]  # an agent has one request at a time that is of the script
        seen.offered |= {*turn.offered, *turn.deferred}
        seen.results.update(enumerate(turn.results))

    def _wait(self, call: Call) -> None:
        if call.together:
            with suppress(threading.BrokenBarrierError):  # the others do not come: go on alone
                self._meeting.wait()

    def _use(self, name: str, turn: Turn, call: Call, step: int) -> Answer:
        full = _ending(turn.offered, call.tool)
        if full is not None:
            return Use(f"step_{step}", full, call.arguments)
        deferred = _ending(turn.deferred, call.tool)
        if deferred is None or turn.finder is None:
            return Say(f"There is no tool {call.tool} for me, but {sorted(turn.offered)}.")
        self.seen[name].looked_up = True
        wanted = {_ending(turn.deferred, call.tool) for call in self.scripts[name]}
        return turn.find(sorted(name for name in wanted if name))


def _texts(value: Any) -> Iterator[str]:
    """Every text in a request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _ending(names: set[str], tool: str) -> str | None:
    """The tool under its own name, or behind that of its server."""
    return next((name for name in sorted(names) if f"__{name}".endswith(f"__{tool}")), None)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: Model) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that hangs up in the middle is no fault: what matters is checked at its end."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        if "://" in self.path:
            self.rfile.read(size)
            self.do_GET()
            return
        request = json.loads(self.rfile.read(size) or b"{}")
        name, _, path = self.path.partition("?")[0].strip("/").partition("/")
        dialect = DIALECTS.get(path)
        if dialect is None or name not in self.server.model.scripts:
            self._refuse()
            return
        answer = self.server.model.next(name, dialect.read(request), request)
        self._send(200, *dialect.write(request, answer))

    def do_GET(self) -> None:
        if "://" in self.path:  # asked as a proxy
            self.server.model.elsewhere.add(self.path.split("/")[2])
        self._refuse()

    def do_CONNECT(self) -> None:
        self.server.model.elsewhere.add(self.path)
        self._refuse()

    do_HEAD = do_GET

    def _refuse(self) -> None:
        self._send(404, b'{"error": {"message": "not here"}}', "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the transcript is written elsewhere."""


@contextmanager
def serving(model: Model) -> Iterator[str]:
    """Serve the model; the address, to which `/<script>` has to be added."""
    server = _Server(model)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
