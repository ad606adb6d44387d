"""A server in this very process, on a thread of its own, for where no other process may be."""

from __future__ import annotations

import logging
import queue
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import anyio
from anyio.abc import TaskStatus
from anyio.from_thread import start_blocking_portal
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from memory_mcp.app import open_app
from memory_mcp.core.config import Config
from memory_mcp.front.home import STATE
from memory_mcp.server.build import build
from memory_mcp.server.connection import serve
from memory_mcp.server.ledger import Ledger
from memory_mcp.server.session import Connection, Options
from memory_mcp.settings.project import Project

_WAITING = 64
"""Lines that wait for the server at most."""

_Said = MemoryObjectSendStream[bytes]


class InsideLink:
    """A memory that is opened for one client, and closed with the link."""

    recognises = True
    """It knows what it did: it does not end before its client."""

    def __init__(
        self, config: Config, project: Project | None, session: str, *, lasting: bool
    ) -> None:
        """Opens the memory, in a project or outside. `session` names a ledger, 32 hex digits;
        `lasting`: it stays.

        Raises MemoryMcpError where the memory cannot be opened."""
        self._out = _Out()
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            work = (config, project, session, lasting)
            ended, self._said = self._portal.start_task(self._serve, *work)
            ended.add_done_callback(lambda _: self._out.lines.put(None))
            self._stack = stack.pop_all()

    async def _serve(
        self,
        config: Config,
        project: Project | None,
        session: str,
        lasting: bool,
        *,
        task_status: TaskStatus[_Said],
    ) -> None:
        said, heard = anyio.create_memory_object_stream[bytes](_WAITING)
        ledger = Ledger.open(Path(config.home) / STATE, session)
        async with heard, open_app(config, project) as app:
            with _logging_left_alone():
                server = build(app)
            task_status.started(said)
            state = Connection(app, Options.of(config, project), ledger=ledger)
            await serve(_In(heard), self._out, server, state)
        if not lasting:
            ledger.end()

    def send(self, data: bytes) -> None:
        """Send a line. Raises OSError where the server has ended."""
        try:
            self._portal.call(self._said.send, data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError) as error:
            raise OSError("the memory in this process has ended") from error

    def lines(self) -> Iterator[bytes]:
        """Lines until the server has ended."""
        while (line := self._out.lines.get()) is not None:
            yield line

    def interrupt(self) -> None:
        """End `lines`, from another thread."""
        self._out.lines.put(None)

    def close(self) -> None:
        """Close the memory."""
        with suppress(RuntimeError):  # the portal has ended
            self._portal.call(self._said.aclose)
        self._stack.close()


class _In:
    """Lines of the client, as bytes come from a socket."""

    def __init__(self, heard: MemoryObjectReceiveStream[bytes]) -> None:
        self._heard = heard

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next line. Raises EndOfStream."""
        return await self._heard.receive()


class _Out:
    """Lines of the server, for another thread."""

    def __init__(self) -> None:
        self.lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    async def send(self, item: bytes) -> None:
        """Put a line there."""
        self.lines.put(item)


@contextmanager
def _logging_left_alone() -> Iterator[None]:
    """The SDK sets up the log of a process that has none: that is for its owner to do."""
    root, stand_in = logging.getLogger(), logging.NullHandler()
    root.addHandler(stand_in)
    try:
        yield
    finally:
        root.removeHandler(stand_in)
