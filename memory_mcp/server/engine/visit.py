"""What a client that was let in gets: MCP, an answer, or an open port."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from memory_mcp.core.errors import ConfigError, MemoryMcpError
from memory_mcp.front.endpoint import Endpoint
from memory_mcp.server.connection import serve
from memory_mcp.server.engine.asks import Asks
from memory_mcp.server.engine.clients import Client, Clients
from memory_mcp.server.engine.faces import Faces
from memory_mcp.server.engine.stream import Stream
from memory_mcp.server.ledger import Ledger, key_of
from memory_mcp.server.session import Connection, Options
from memory_mcp.server.traffic import Traffic

FAREWELL_SECONDS = 1.0
"""How long to wait for a client to take the word that it has to go."""


class Visit:
    """One client of the engine."""

    def __init__(
        self,
        stream: Stream,
        hello: Mapping[str, Any],
        options: Options,
        warnings: Sequence[str],
        clients: Clients,
        faces: Faces,
        asks: Asks,
        state: Path,
    ) -> None:
        """`state`: the state folder of the home."""
        self._stream = stream
        self._hello = hello
        self._options = options
        self._warnings = warnings
        self._clients = clients
        self._faces = faces
        self._asks = asks
        self._state = state
        self._telling = False

    async def run(self, endpoint: Endpoint) -> None:
        """Serve it until it goes, or is dismissed."""
        kind = str(self._hello.get("kind"))
        serving = {"mcp": self._talk, "ask": self._ask, "serve": self._hold}.get(kind)
        if serving is None:
            text = f"a client of the kind {kind!r} is not known to version {endpoint.version}"
            await self._stream.say(ok=False, error="refused", messages=[text])
            return
        with self._faces.guest(self._options):
            await self._admit(serving, kind, endpoint)

    async def _admit(
        self,
        serving: Callable[[Client], Awaitable[None]],
        kind: str,
        endpoint: Endpoint,
    ) -> None:
        problems = self._problems()
        if problems:
            await self._stream.say(ok=False, error="config", messages=problems)
            return
        self._welcome = {
            "ok": True,
            "version": endpoint.version,
            "offers": self._options.offers,
            "pid": endpoint.pid,
            "engine": endpoint.engine,
            "warnings": list(self._warnings),
        }
        now = anyio.current_time()
        client = Client(kind, _number(self._hello.get("pid")), now, self._options)
        end = self._clients.add(client)
        try:
            await serving(client)
        finally:
            end()

    def _problems(self) -> list[str]:
        """Why this agent cannot be served, as far as that is known now."""
        if self._faces.home is None:
            return []
        try:
            self._faces.app_for(self._options)
        except ConfigError as error:
            return [str(problem) for problem in error.problems]
        return []

    async def _talk(self, client: Client) -> None:
        traffic = client.traffic = Traffic(functools.partial(self._clients.heard, client))
        await self._stream.say(**self._welcome)
        face = self._faces.face(self._options)
        name = self._hello.get("session")
        client.session = name if isinstance(name, str) else ""
        await self._clients.succeed(client)
        ledger = await anyio.to_thread.run_sync(self._ledger, client.session)
        connection = Connection(
            None, self._options, ledger=ledger, repeated=_repeated(self._hello.get("repeated"))
        )
        ready = functools.partial(self._faces.ready, connection)
        async with anyio.create_task_group() as tasks:

            async def leave() -> None:
                await client.dismissed.wait()
                traffic.leaving = True
                await self._say_farewell(client.farewell)
                await traffic.quiet()
                traffic.cut = True
                tasks.cancel_scope.cancel()

            tasks.start_soon(leave)
            await serve(
                self._stream,
                self._stream,
                face.server,
                connection,
                self._faces.begin,
                ready,
                traffic,
            )
            tasks.cancel_scope.cancel()
        expected = client.dismissed.is_set() or traffic.cut or not self._stream.ended
        if ledger is not None and not expected and not self._hello.get("lasting"):
            await anyio.to_thread.run_sync(ledger.end)  # nobody will ask for it again

    def _ledger(self, name: str) -> Ledger | None:
        """What outlives this engine; None where the client gives itself no name."""
        return Ledger.open(self._state, name) if name else None

    async def _say_farewell(self, event: str) -> None:
        """A client that does not read is left without: that the connection ends says enough."""
        if not event:
            return
        with anyio.move_on_after(FAREWELL_SECONDS):
            try:
                await self._stream.say(event=event)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _ask(self, client: Client) -> None:
        question = self._hello.get("ask")
        client.calls = 1

        async with anyio.create_task_group() as tasks:

            async def work() -> None:
                answer: dict[str, Any]
                try:
                    found = await self._asks.answer(
                        question if isinstance(question, Mapping) else {}, self._options, told
                    )
                    answer = {"result": found}
                except MemoryMcpError as error:
                    answer = {"failure": str(error)}
                await self._stream.say(**self._welcome, **answer)
                tasks.cancel_scope.cancel()

            def told(done: int, total: int) -> None:
                if not self._telling:  # who does not read needs no more of it
                    tasks.start_soon(self._progress, done, total)

            tasks.start_soon(work)
            await self._stream.until_closed()
            tasks.cancel_scope.cancel()

    async def _progress(self, done: int, total: int) -> None:
        self._telling = True
        await self._stream.say(progress=[done, total])
        self._telling = False

    async def _hold(self, client: Client) -> None:
        """Keep a port open as long as the one who asked for it stays."""
        from memory_mcp.server.http.grants import PortRequest
        from memory_mcp.server.http.server import open_port

        wanted = self._hello.get("serve")
        try:
            request = PortRequest.of(wanted if isinstance(wanted, Mapping) else {})
            async with open_port(self._faces.opened, self._faces.of_agent, request) as opened:
                await self._stream.say(**self._welcome, result=opened.as_json())
                await self._until_over(client)
        except MemoryMcpError as error:
            await self._stream.say(**self._welcome, failure=str(error))

    async def _until_over(self, client: Client) -> None:
        """Wait until the client hangs up, or has to look for another engine."""
        async with anyio.create_task_group() as tasks:

            async def dismissed() -> None:
                await client.dismissed.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(dismissed)
            await self._stream.until_closed()
            tasks.cancel_scope.cancel()


def _repeated(value: object) -> frozenset[str]:
    """The requests that come for the second time, as a ledger knows them."""
    ids = value if isinstance(value, list) else []
    return frozenset(key_of(one) for one in ids if isinstance(one, (str, int)))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
