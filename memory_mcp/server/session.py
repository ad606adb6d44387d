"""What the server remembers of one connection: who it is, what it may do, what it has read."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from memory_mcp.server.ledger import Call, Ledger, Seen, key_of

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from memory_mcp.app import App
    from memory_mcp.core.config import Config, ToolSet
    from memory_mcp.settings.project import Project


@dataclass(frozen=True, slots=True)
class Options:
    """What is the client's own: whose memory, and which tools it may use."""

    agent: str = "default"
    read_only: bool = False
    tools: tuple[ToolSet, ...] = ("core",)
    project: Project | None = None
    """The project in whose folder it works, where `projects` is auto."""

    @classmethod
    def of(cls, config: Config, project: Project | None = None) -> Options:
        """The options that the settings give to a client."""
        return cls(config.agent, config.writing.read_only, config.tools, project)

    @property
    def offers(self) -> str:
        """What decides which tools and prompts there are, in words; they change with it."""
        return " ".join((*self.tools, "read-only") if self.read_only else self.tools)


class Session:
    """What this connection has read: reference → revision, and whether it saw the whole note.

    With a ledger it outlives the engine.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self._seen: dict[str, Seen] = dict(ledger.seen) if ledger is not None else {}
        self._ledger = ledger

    def read(
        self,
        reference: str,
        revision: str,
        *,
        complete: bool,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        """A part of the note was shown: characters `start` to `end`, or an unknown part.

        Pages of one revision that follow each other add up; `complete` says that the last one
        reached the end.
        """
        seen = self._seen.get(reference)
        upto, whole = 0, complete
        if seen is not None and seen.revision == revision:
            upto, whole = seen.upto, complete or seen.complete
        if start is not None and start <= upto:
            upto = max(upto, end if end is not None else start)
            whole = whole or end is None
        self._keep(reference, Seen(revision, upto, whole))

    def wrote(
        self, reference: str, revision: str, *, whole: bool, replaced: str | None = None
    ) -> None:
        """The note was written by this connection; `whole`: all of its text came from here.

        `replaced` is the revision that was changed in part: the note is known as a whole only
        where that very revision was.
        """
        seen = self._seen.get(reference)
        known = seen is not None and seen.complete and replaced in (None, seen.revision)
        self._keep(reference, Seen(revision, 0, whole or known))

    def forget(self, reference: str) -> None:
        """The note is gone."""
        self._seen.pop(reference, None)
        if self._ledger is not None:
            self._ledger.forgot(reference)

    def _keep(self, reference: str, seen: Seen) -> None:
        if self._seen.get(reference) == seen:
            return
        self._seen[reference] = seen
        if self._ledger is not None:
            self._ledger.saw(reference, seen)

    def revision(self, reference: str) -> str | None:
        """The revision that was read last, None if it never was."""
        seen = self._seen.get(reference)
        return seen.revision if seen is not None else None

    def partial(self, reference: str) -> bool:
        """True where the note was read, and never as a whole."""
        seen = self._seen.get(reference)
        return seen is not None and not seen.complete


@dataclass(slots=True)
class Patience:
    """Until when a client waits for the notes to be known (event loop's clock); None: it has not
    called yet."""

    until: float | None = None


class Connection:
    """One client: the memory it talks to, what it may do, what it has read.

    The memory may come later than the client: `open` brings it.
    """

    __slots__ = (
        "_app",
        "_repeated",
        "_turns",
        "ledger",
        "name",
        "options",
        "patience",
        "session",
    )

    def __init__(
        self,
        app: App | None,
        options: Options,
        session: Session | None = None,
        patience: Patience | None = None,
        ledger: Ledger | None = None,
        repeated: Iterable[str] = (),
        *,
        lasting: bool = True,
    ) -> None:
        """`ledger` keeps what outlives an engine; `repeated` are the keys in it of requests that
        come for the second time. `lasting`: there is a session, more than this one request."""
        self._app = app
        self.options = options
        self.ledger = ledger
        self._repeated = set(repeated)
        self._turns: dict[str, anyio.Lock] = {}
        self.session = session or Session(ledger)
        self.patience = patience or Patience()
        self.name: str | None = None
        """Of the session, the same after the end of an engine; None where there is no session."""
        if lasting:
            self.name = secrets.token_hex(16) if ledger is None else ledger.name

    @classmethod
    def of(cls, app: App) -> Connection:
        """A new client with the options of the settings."""
        return cls(app, Options.of(app.config))

    @property
    def app(self) -> App:
        """The memory. Nothing that needs it is passed on to a server before it is open."""
        if self._app is None:
            raise RuntimeError("the memory is not open yet")
        return self._app

    def repeats(self, request_id: str | int | None) -> bool:
        """Whether this request comes for the second time. A later one of its id does not."""
        if request_id is None or (key := key_of(request_id)) not in self._repeated:
            return False
        self._repeated.remove(key)
        return True

    def call(self, request_id: str | int | None) -> Call | None:
        """What the ledger has of a request that is under way; None without a ledger."""
        if self.ledger is None or request_id is None:
            return None
        return self.ledger.call(key_of(request_id))

    def open(self, app: App) -> None:
        """The memory is there now."""
        self._app = app

    @asynccontextmanager
    async def turn(self, reference: str) -> AsyncIterator[None]:
        """The time in which this client changes a note; its changes of others do not wait."""
        lock = self._turns.setdefault(reference, anyio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._turns.pop(reference, None)

    def behind(self, request: ServerRequestContext[Connection, Any]) -> Connection:
        """The client that sent a request: this one. Where a transport has one state for many
        clients, that state finds each its own."""
        return self


def connection_of(request: ServerRequestContext[Connection, Any]) -> Connection:
    """The client that sent a request."""
    return request.lifespan_context.behind(request)
