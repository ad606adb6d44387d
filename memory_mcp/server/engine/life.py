"""The life of an engine: it listens, serves whoever may come in, and goes when it has to."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import SocketStream, TaskGroup

from memory_mcp.core.errors import MemoryMcpError, StorageError
from memory_mcp.front import endpoint as places
from memory_mcp.front.endpoint import Endpoint
from memory_mcp.front.hello import decode
from memory_mcp.front.home import STATE
from memory_mcp.index.frames import frames
from memory_mcp.server.engine.asks import Asks
from memory_mcp.server.engine.clients import Clients
from memory_mcp.server.engine.faces import Faces
from memory_mcp.server.engine.greeting import Door, Leave, Refusal, Welcome
from memory_mcp.server.engine.stream import Stream, accept
from memory_mcp.server.engine.visit import Visit
from memory_mcp.server.signals import heed

log = logging.getLogger(__name__)

HELLO_SECONDS = 10.0
"""Who connects and says nothing for so long is not waited for."""

DRAIN_SECONDS = 10.0
"""How long open calls may still take when another engine is to take over."""

STOP_SECONDS = 2.0
"""How long they may take when the engine is told to end."""

END_SECONDS = 2.0
"""What it takes to close everything then; after that the process ends, whatever hangs. With
STOP_SECONDS, what an order to stop takes at most."""

LOOK_SECONDS = 1.0
"""How often the engine looks whether it can still be found, and whether it has anything to do."""

_ACCEPT_PAUSE_SECONDS = 0.2
"""After a connection could not be taken, such as for want of file descriptors."""


class Engine:
    """One engine. `run` is its whole life."""

    def __init__(
        self,
        home: str,
        door: Door,
        endpoint: Endpoint,
        environ: Mapping[str, str],
        watchdog: Callable[[float], None],
    ) -> None:
        """`watchdog` is told how many seconds the engine still has: it ends what hangs."""
        self._watchdog = watchdog
        self._home = home
        self._folder = places.identity(home)
        self._door = door
        self._endpoint = endpoint
        self._environ = environ
        self._idle_seconds = 60 * door.config.engine.idle_minutes
        """0: it never goes for want of work."""
        self._failed = False

    async def run(self, bound: socket.socket) -> bool:
        """Serve on a listening socket until idle, stopped or replaced: True; False where the
        memory cannot be opened."""
        self._clients = Clients()
        self._faces = Faces(self._door.config)
        self._end = anyio.Event()
        self._event, self._seconds, self._reason = "stop", STOP_SECONDS, ""
        self._asks = Asks(self._faces, self.describe, self.stop)
        self._began = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._remember)
            tasks.start_soon(heed, self.stop)
            tasks.start_soon(self._look, tasks)
            tasks.start_soon(self._accept, bound)
            await self._end.wait()
            await self._go()
            tasks.cancel_scope.cancel()
        return not self._failed

    def describe(self) -> dict[str, Any]:
        """What `engine status` shows, and `status` in short. Who only asks is no client."""
        now = anyio.current_time()
        clients = [client.as_json(now) for client in self._clients if client.kind != "ask"]
        return {
            "pid": os.getpid(),
            "uptime_s": round(now - self._began, 1),
            "version": self._endpoint.version,
            "clients": len(clients),
            "client_list": clients,
        }

    def stop(self) -> None:
        """End, soon and in order."""
        self._leave("stop", STOP_SECONDS, "it was told to stop")

    def _leave(self, event: str, seconds: float, reason: str) -> None:
        """`event`: "drain" sends the clients to another engine, after "stop" and "idle" they
        start one when they need it; empty: nothing is said."""
        self._watchdog(seconds + END_SECONDS)
        if self._end.is_set():
            self._seconds = min(self._seconds, seconds)
            return
        self._event, self._seconds, self._reason = event, seconds, reason
        self._end.set()

    async def _go(self) -> None:
        """Not to be found any more, and then gone once the clients have their answers."""
        log.warning("the engine goes: %s", self._reason)
        places.remove(self._home, self._endpoint)
        self._clients.dismiss(self._event)
        begin = anyio.current_time()
        with anyio.move_on_after(self._seconds) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._shorten, scope, begin)
                await self._clients.none_left()
                tasks.cancel_scope.cancel()
        self._clients.cut()

    async def _shorten(self, scope: anyio.CancelScope, begin: float) -> None:
        """An order to stop that comes while an engine drains makes it faster."""
        while True:
            scope.deadline = min(scope.deadline, begin + self._seconds)
            await anyio.sleep(0.1)

    async def _remember(self) -> None:
        """Keep the memory open. Without it there is nothing to serve: clients see the connection
        end, and what they do then is theirs."""
        try:
            await self._faces.run()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is in the log
            text = str(error) if isinstance(error, MemoryMcpError) else frames(error)
            log.error("the memory cannot be kept open: %s", text)
            self._failed = True
            self._clients.cut()
            self._leave("", 0, "there is no memory to serve")

    async def _accept(self, bound: socket.socket) -> None:
        """Take connections while this engine can be found; later ones find the next."""
        with bound:
            await self._take(bound)

    async def _take(self, bound: socket.socket) -> None:
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    tasks.start_soon(self._visit, await accept(bound))
                except OSError as error:
                    log.warning("a connection could not be taken: %s", error)
                    await anyio.sleep(_ACCEPT_PAUSE_SECONDS)

    async def _look(self, tasks: TaskGroup) -> None:
        """Stay reachable; go when there is nothing to do, or nothing to be found by."""
        while not self._end.is_set():
            await anyio.sleep(LOOK_SECONDS)
            if await anyio.to_thread.run_sync(places.identity, self._home) != self._folder:
                self._leave("stop", STOP_SECONDS, "the home is gone")
                return
            if await anyio.to_thread.run_sync(self._door.outdated):
                self._leave("drain", DRAIN_SECONDS, "config.yml changed")
                return
            await self._stay_reachable(tasks)
            if await self._is_idle():
                self._leave("idle", STOP_SECONDS, "nothing happened")

    async def _stay_reachable(self, tasks: TaskGroup) -> None:
        """Put back what others deleted or broke: the endpoint file, the socket."""
        path = self._endpoint.address.get("unix")
        if isinstance(path, str) and not await anyio.to_thread.run_sync(os.path.lexists, path):
            try:
                bound, address = places.listen(self._home, self._environ)
            except OSError as error:
                log.warning("the socket is gone and cannot be made again: %s", error)
                return
            self._endpoint.address = address
            tasks.start_soon(self._accept, bound)
        found = await anyio.to_thread.run_sync(places.read, self._home)
        same = (
            found is not None
            and found.engine == self._endpoint.engine
            and found.address == self._endpoint.address
        )
        if not same and not self._end.is_set():
            try:
                places.write(self._home, self._endpoint)
            except OSError as error:
                log.warning("the endpoint file cannot be written: %s", error)

    async def _is_idle(self) -> bool:
        quiet = anyio.current_time() - self._clients.last
        if not self._idle_seconds or quiet < self._idle_seconds or self._clients.busy:
            return False
        home = self._faces.home
        if home is None:
            return True
        try:
            return not await anyio.to_thread.run_sync(home.jobs_waiting)
        except StorageError:
            return True  # they wait for the disk, and a later engine will ask it again

    async def _visit(self, connection: SocketStream) -> None:
        """One connection, from its hello to its end. Nothing that goes wrong reaches others."""
        async with connection:
            stream = Stream(connection)
            try:
                await self._receive(stream)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return
            except MemoryMcpError as error:
                log.warning("a connection ended: %s", error)
            except Exception as error:  # noqa: BLE001 - one client must not end the others
                log.error("a connection failed: %s", frames(error))

    async def _receive(self, stream: Stream) -> None:
        line: bytes | None = None
        with anyio.move_on_after(HELLO_SECONDS):
            line = await stream.first_line()
        if line is None:
            return
        hello = decode(line)
        verdict = await anyio.to_thread.run_sync(self._door.decide, hello)
        if isinstance(verdict, Welcome) and self._end.is_set():
            verdict = Leave(self._reason)
        match verdict:
            case Refusal(error, messages):
                await stream.say(ok=False, error=error, messages=list(messages))
            case Leave(reason):
                await stream.say(ok=False, error="leaving", messages=[reason])
                self._leave("drain", DRAIN_SECONDS, reason)
            case Welcome(options, warnings):
                assert hello is not None
                visit = Visit(
                    stream,
                    hello,
                    options,
                    warnings,
                    self._clients,
                    self._faces,
                    self._asks,
                    Path(self._home) / STATE,
                )
                await visit.run(self._endpoint)
        await stream.finish()
