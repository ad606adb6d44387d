"""An engine in this process on a real socket, and guests that speak to it in raw lines."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import SocketStream, TaskGroup

from memory_mcp import __version__
from memory_mcp.front import endpoint as places
from memory_mcp.front.endpoint import Endpoint
from memory_mcp.front.hello import hello
from memory_mcp.server.engine.greeting import Door
from memory_mcp.server.engine.life import Engine
from tests.server.wires import HELLO, READY
from tests.server.worlds import write_files

SECONDS = 8.0
WORDS_ONLY = "embedding: {provider: none}\n"


class Guest:
    """One connection. Answers are sorted by id, control lines and notifications are kept."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._answers: dict[Any, dict[str, Any]] = {}
        self._changed = anyio.Event()
        self._numbers = 0
        self._listening = anyio.CancelScope()
        self.welcome: dict[str, Any] = {}
        self.events: list[str] = []
        self.heard: list[dict[str, Any]] = []
        self.ended = False

    async def send(self, *messages: Any) -> None:
        """Lines, as bytes or as objects."""
        lines = [m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages]
        await self._stream.send(b"".join(lines))

    async def listen(self) -> None:
        """Take lines until the engine hangs up."""
        rest = b""
        try:
            with self._listening:
                while True:
                    *lines, rest = (rest + await self._stream.receive()).split(b"\n")
                    for line in lines:
                        self._take(json.loads(line))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.ended = True
            self._tell()

    def _take(self, message: dict[str, Any]) -> None:
        if "event" in message:
            self.events.append(message["event"])
        elif "memory_mcp" in message and "progress" not in message:
            self.welcome = message
        elif "id" in message and "method" not in message:
            self._answers[message["id"]] = message
        else:
            self.heard.append(message)
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, true: Callable[[], Any], seconds: float = SECONDS) -> None:
        """Wait until something is so."""
        with anyio.fail_after(seconds):
            while not true():
                await self._changed.wait()

    async def request(self, method: str, **params: Any) -> int:
        """Send a request; its id."""
        self._numbers += 1
        message = {"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params}
        await self.send(message)
        return self._numbers

    async def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request."""
        await self.until(lambda: number in self._answers)
        return self._answers[number]

    def has(self, number: int) -> bool:
        """Whether an answer is there."""
        return number in self._answers

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request that must succeed."""
        answer = await self.answer(await self.request(method, **params))
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool that must succeed."""
        result = await self.call("tools/call", name=name, arguments=arguments)
        assert not result.get("isError"), result
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    async def refused(self, name: str, **arguments: Any) -> str:
        """The text of a tool's refusal."""
        result = await self.call("tools/call", name=name, arguments=arguments)
        assert result.get("isError"), result
        return str(result["content"][0]["text"])

    async def found(self, query: str) -> list[str]:
        """References of the hits of a search."""
        found = await self.tool("memory_search", query=query, limit=50)
        return [hit["reference"] for hit in found["hits"]]

    async def close(self) -> None:
        """Hang up."""
        self._listening.cancel()
        await anyio.lowlevel.checkpoint()
        await self._stream.aclose()


@dataclass(slots=True)
class Place:
    """A home with a running engine."""

    home: Path
    endpoint: Endpoint
    engine: Engine
    tasks: TaskGroup
    seconds: list[float]
    """What the watchdog was told."""
    gone: anyio.Event = field(default_factory=anyio.Event)
    guests: list[Guest] = field(default_factory=list)

    async def connect(self) -> Guest:
        """A connection that has said nothing, and that nobody listens on."""
        guest = Guest(await anyio.connect_unix(self.endpoint.address["unix"]))
        self.guests.append(guest)
        return guest

    async def knock(self, said: bytes | dict[str, Any]) -> Guest:
        """A connection that has said something and has the engine's answer, or its end."""
        guest = await self.connect()
        self.tasks.start_soon(guest.listen)
        with suppress(anyio.BrokenResourceError):  # hung up on
            await guest.send(said)
        await guest.until(lambda: guest.welcome or guest.ended)
        return guest

    def hello(self, kind: str = "mcp", **more: Any) -> dict[str, Any]:
        """A hello that would be welcome."""
        flags, env = more.pop("flags", {}), more.pop("env", {})
        return {**hello(kind, env, flags), "token": self.endpoint.token, **more}

    @asynccontextmanager
    async def guest(self, agent: str = "default", **more: Any) -> AsyncIterator[Guest]:
        """A client of the handshake era that has shaken hands."""
        flags = {"agent": agent, **more.pop("flags", {})}
        guest = await self.knock(self.hello(flags=flags, **more))
        assert guest.welcome.get("ok"), guest.welcome
        try:
            await guest.send(HELLO)
            await guest.answer(0)
            await guest.send(READY)
            yield guest
        finally:
            await guest.close()

    async def ask(self, name: str, agent: str = "default", **more: Any) -> dict[str, Any]:
        """The answer line to a single question."""
        guest = await self.knock(
            self.hello("ask", flags={"agent": agent}, ask={"name": name, **more})
        )
        await guest.close()
        return guest.welcome

    async def end(self) -> None:
        """Wait until the engine has ended."""
        with anyio.fail_after(SECONDS):
            await self.gone.wait()


@asynccontextmanager
async def engine(
    home: Path, settings: str = WORDS_ONLY, files: dict[str, str | bytes] | None = None
) -> AsyncIterator[Place]:
    """A home whose engine runs in this process. It is stopped in the end."""
    write_files(home, {"config.yml": settings, **(files or {})})
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as runtime:  # short enough for a socket
        environ = {"XDG_RUNTIME_DIR": runtime}
        token = secrets.token_hex(8)
        bound, address = places.listen(str(home), environ)
        endpoint = Endpoint(secrets.token_hex(8), 1, __version__, time.time(), address, token)
        places.write(str(home), endpoint)
        door = Door(str(home), token, {})
        running = Engine(str(home), door, endpoint, environ, seconds.append)
        async with anyio.create_task_group() as tasks:
            place = Place(home, endpoint, running, tasks, seconds)

            async def run() -> None:
                await running.run(bound)
                place.gone.set()

            tasks.start_soon(run)
            try:
                yield place
            finally:
                with anyio.CancelScope(shield=True):
                    for guest in place.guests:
                        await guest.close()
                    running.stop()
                    await place.end()
                    tasks.cancel_scope.cancel()
