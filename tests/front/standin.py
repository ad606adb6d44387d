"""A small engine for tests of the front: real process, real socket, real hello, no memory.

It answers every request with what it knows of it, and some methods make it do what engines do on
a bad day: `die`, `half` (an answer), `drain`, `idle`, `hold` until `release`. The file `mood` in
its home says how it starts: `fail`, `config`, `silent`, `refuse`, `rude`, `deaf` or
`fragile`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from memory_mcp import __version__
from memory_mcp.front import endpoint as places
from memory_mcp.front.endpoint import Endpoint
from memory_mcp.front.hello import LineReader, decode, encode
from memory_mcp.front.home import ENGINE_LOCK, state_file
from memory_mcp.front.locks import lock

CAPABILITIES = {"resources": {"subscribe": True, "listChanged": True}, "tools": {}}

ALONE_SECONDS = 60.0
"""It may be started when its test has ended already; nobody would end it then."""


def main(words: list[str]) -> int:
    """What `memory_mcp` does in these tests."""
    if words[:2] == ["engine", "run"]:
        return Engine(Path(words[words.index("--home") + 1])).run()
    if "hook" in words:
        from memory_mcp.front.hook import run as run_hook

        return run_hook(words[words.index("hook") + 1], {}, os.environ)
    if "--in-process" in words:
        return Alone().run(words)
    from memory_mcp.front.run import run

    return run({"home": words[words.index("--home") + 1]} if "--home" in words else {})


class Engine:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.leaving = False
        self.released = threading.Event()
        mood = home / "mood"
        self.mood = mood.read_text(encoding="utf-8").strip() if mood.exists() else ""

    def run(self) -> int:
        with lock(state_file(str(self.home), ENGINE_LOCK)) as mine:
            if not mine:
                return report(ready=False, error="running")
            with (self.home / "engines").open("a", encoding="utf-8") as log:
                log.write(f"{os.getpid()}\n")
            if self.mood == "silent":
                sys.stderr.write("Traceback\nImportError: no such thing\n")
                return 3
            if self.mood in ("fail", "config"):
                error = "failed" if self.mood == "fail" else "config"
                return report(ready=False, error=error, messages=["first", "second"])
            self.serve()
        return 0

    def serve(self) -> None:
        listening, address = places.listen(str(self.home), os.environ)
        self.me = Endpoint(
            os.urandom(8).hex(), os.getpid(), __version__, time.time(), address, "secret"
        )
        places.write(str(self.home), self.me)
        report(ready=True)
        listening.settimeout(ALONE_SECONDS)
        while True:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                return
            threading.Thread(target=self.attend, args=(connection,), daemon=True).start()

    def attend(self, connection: socket.socket) -> None:
        lines = LineReader(connection)
        hello = decode(lines.line() or b"")
        if hello is None or hello["token"] != self.me.token:
            send(connection, refusal("refused", "the token is wrong"))
        elif self.mood in ("rude", "deaf", "refuse"):
            self.turn_away(connection)
        elif self.leaving:
            send(connection, refusal("leaving", "another is coming"))
        elif hello["kind"] == "ask":
            self.answer(connection, hello["ask"])
        elif hello["env"].get("MEMORY_MCP_WRONG"):
            send(connection, refusal("config", "MEMORY_MCP_WRONG: is no setting"))
        else:
            ok = {"memory_mcp": 1, "ok": True, "version": __version__, "pid": os.getpid()}
            send(connection, {**ok, "engine": self.me.engine, "warnings": ["beware"]})
            if self.mood != "fragile":
                Talk(self, connection, hello).run(lines)
        connection.close()

    def turn_away(self, connection: socket.socket) -> None:
        with (self.home / "hellos").open("a", encoding="utf-8") as log:
            log.write("hello\n")
        if self.mood == "deaf":
            threading.Event().wait()
        elif self.mood == "refuse":
            send(connection, refusal("refused", "not today"))

    def answer(self, connection: socket.socket, question: dict[str, Any]) -> None:
        ok = {"memory_mcp": 1, "ok": True}
        if question["name"] == "fail":
            send(connection, {**ok, "failure": "it cannot be done"})
            return
        if question["name"] == "hook":
            self.say(connection, question)
            return
        for done in range(3):
            send(connection, {"memory_mcp": 1, "progress": [done, 3]})
        send(connection, {**ok, "result": question})

    def say(self, connection: socket.socket, question: dict[str, Any]) -> None:
        """What the file `context` holds."""
        (self.home / "asked").write_text(json.dumps(question), encoding="utf-8")
        context = self.home / "context"
        text = context.read_text(encoding="utf-8") if context.exists() else ""
        send(connection, {"memory_mcp": 1, "ok": True, "result": {"context": text}})

    def leave(self) -> None:
        self.leaving = True
        places.remove(str(self.home), self.me)


class Talk:
    """One client of the engine."""

    def __init__(self, engine: Engine, connection: socket.socket, hello: dict[str, Any]) -> None:
        self.engine = engine
        self.connection = connection
        self.hello = hello
        self.seen: list[Any] = []
        self.work: list[threading.Thread] = []
        self.writing = threading.Lock()

    def run(self, lines: LineReader) -> None:
        for line in lines:
            try:
                message = json.loads(line)
                self.seen.append(message.get("method") or {"answer": message["id"]})
            except (ValueError, AttributeError, RecursionError):
                self.seen.append({"bytes": len(line)})
                continue
            if "id" in message and "method" in message:
                act = getattr(self, f"on_{message['method'].replace('/', '_')}", self.on_other)
                thread = threading.Thread(target=act, args=(message,), daemon=True)
                self.work.append(thread)
                thread.start()
        for thread in self.work:
            thread.join(2.0)

    def send(self, *values: dict[str, Any]) -> None:
        with self.writing:
            self.connection.sendall(b"".join(map(encode, values)))

    def result(
        self, message: dict[str, Any], result: dict[str, Any], *after: dict[str, Any]
    ) -> None:
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result}, *after)

    def on_other(self, message: dict[str, Any], *after: dict[str, Any]) -> None:
        about = {key: self.hello[key] for key in ("session", "resumed", "repeated", "flags")}
        params = message.get("params")
        mine = {"engine": self.engine.me.engine, "pid": os.getpid(), "params": params}
        self.result(message, {**about, **mine}, *after)

    def on_initialize(self, message: dict[str, Any]) -> None:
        self.result(message, {"capabilities": CAPABILITIES, "serverInfo": {"name": "standin"}})

    def on_seen(self, message: dict[str, Any]) -> None:
        self.result(message, {"seen": self.seen[:]})

    def on_big(self, message: dict[str, Any]) -> None:
        self.result(message, {"text": "x" * message["params"]["size"]})

    def on_die(self, message: dict[str, Any]) -> None:
        if self.count("deaths") <= message["params"]["times"]:
            os._exit(9)
        self.on_other(message)

    def on_half(self, message: dict[str, Any]) -> None:
        if self.count("halves") == 1:
            with self.writing:
                self.connection.sendall(
                    b'{"jsonrpc":"2.0","id":1,"result":{"half":"' + b"x" * 9999
                )
            os._exit(9)
        self.on_other(message)

    def on_hold(self, message: dict[str, Any]) -> None:
        self.engine.released.wait()
        self.on_other(message)

    def on_tools_call(self, message: dict[str, Any]) -> None:
        self.on_hold(message)

    def on_release(self, message: dict[str, Any]) -> None:
        self.engine.released.set()
        self.on_other(message)

    def on_drain(self, message: dict[str, Any], event: str = "drain") -> None:
        self.engine.leave()
        self.send({"memory_mcp": 1, "event": event})
        self.on_other(message)
        threading.Timer(0.3, os._exit, (0,)).start()

    def on_stop(self, message: dict[str, Any]) -> None:
        self.on_drain(message, "stop")

    def on_idle(self, message: dict[str, Any]) -> None:
        self.engine.leave()
        # In one piece: a client may ask again as soon as it has its answer.
        self.on_other(message, {"memory_mcp": 1, "event": "idle"})
        os._exit(0)

    def on_question(self, message: dict[str, Any]) -> None:
        self.send({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}})
        if self.count("questions") == 1:
            os._exit(9)
        while {"answer": 1} not in self.seen:
            threading.Event().wait(0.01)
        self.on_other(message)

    def on_subscriptions_listen(self, message: dict[str, Any]) -> None:
        meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        params = {"notifications": message["params"]["notifications"], "_meta": meta}
        method = "notifications/subscriptions/acknowledged"
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def count(self, name: str) -> int:
        path = self.engine.home / name
        with path.open("a", encoding="utf-8") as log:
            log.write(".")
        return len(path.read_text(encoding="utf-8"))


class Alone:
    """A server in the process of one client."""

    def run(self, words: list[str]) -> int:
        if os.environ.get("MEMORY_MCP_WRONG"):
            sys.stderr.write("memory-mcp: MEMORY_MCP_WRONG: is no setting\n")
            return 1
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message.get("method") == "die" and "deaths" not in message:
                os._exit(9)
            if "id" in message:
                result = {"alone": os.getpid(), "words": words, "params": message.get("params")}
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
                sys.stdout.buffer.flush()
        return 0


def send(connection: socket.socket, value: dict[str, Any]) -> None:
    connection.sendall(encode(value))


def refusal(error: str, message: str) -> dict[str, Any]:
    return {"memory_mcp": 1, "ok": False, "error": error, "messages": [message]}


def report(**values: Any) -> int:
    os.write(1, json.dumps({"memory_mcp": 1, **values}).encode() + b"\n")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    return 0
