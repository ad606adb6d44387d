"""Relaying between one client and the engine of its home, whatever becomes of the engine.

Three threads: this one connects and passes on what the engine says; one reads the client; one
writes to the engine. So no direction ever waits for the other: a client that does not read its
answers keeps the engine's writer waiting, and nobody else.
"""

from __future__ import annotations

import os
import threading
import time

from memory_mcp.front.client import Client
from memory_mcp.front.hello import event_in, hello
from memory_mcp.front.home import home_of
from memory_mcp.front.lines import Splitter
from memory_mcp.front.links import ChildLink, EngineLink
from memory_mcp.front.starting import BadSettings, NoEngine, reach
from memory_mcp.front.streams import read_some, say, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, NoReturn

    from memory_mcp.front.lines import Piece

END_SECONDS = 4.0
"""When the client has gone the process is gone after this time at the latest, whatever hangs."""

QUEUE_BYTES = 16 << 20
"""What waits to be sent; a client that sends more has to wait, too."""

LIVELY_SECONDS = 5.0
"""An engine that is lost within this time without an answer was lost at once."""

QUICK_DEATHS = 3
HOPELESS_DEATHS = 6
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 30.0
"""After so many of these in a row there are pauses, each twice as long as the one before; then
no engine is tried any more."""


class Relay:
    """One client on stdin and stdout."""

    def __init__(self, environ: Mapping[str, str], flags: Mapping[str, object]) -> None:
        self._environ = environ
        self._flags = flags
        self._home = home_of(environ, flags.get("home"))
        self._session = os.urandom(16).hex()
        self._client = Client(self._session[:8])
        self._changed = threading.Condition()
        """Guards what follows, and the client's state."""
        self._link: EngineLink | ChildLink | None = None
        self._ended = False
        self._said = False
        """Whether the link was told that the client has gone."""
        self._taken = 0
        self._writing = threading.Lock()
        self._deaths = 0
        self._fallen = False
        self._warned: set[str] = set()

    def run(self) -> NoReturn:
        """Relay until the client has gone; ends the process."""
        for work in (self._read_client, self._write_engine):
            threading.Thread(target=work, daemon=True).start()
        while True:
            link = self._connect()
            self._use(link)

    # The client's side

    def _read_client(self) -> None:
        splitter = Splitter()
        while data := read_some():
            self._take(splitter.feed(data))
        self._take(splitter.end())
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            if self._link is None and not self._client.wanted and not self._client.waiting:
                leave(0)  # nobody waits for anything
        threading.Event().wait(END_SECONDS)
        leave(0)

    def _take(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            with self._changed:
                while self._client.queued > QUEUE_BYTES:
                    self._changed.wait()
                self._taken += 1
                lines = self._client.take(piece)
                drained = self._drained()
                self._changed.notify_all()
            self._tell(lines)
            if drained is not None:
                drained.interrupt()

    def _drained(self) -> EngineLink | ChildLink | None:
        """The link that nothing more has to come from, so that it can be given up."""
        return self._link if self._client.draining and not self._client.waiting else None

    def _tell(self, lines: Iterable[bytes]) -> None:
        """Pass whole lines to the client; where it takes none it has gone."""
        data = b"".join(lines)
        if not data:
            return
        try:
            with self._writing:
                write(1, data)
        except OSError:
            leave(0)

    # The engine's side

    def _write_engine(self) -> None:
        while True:
            link, data = self._next()
            try:
                link.send(data)
            except OSError:
                link.interrupt()
                with self._changed:
                    if self._link is link:
                        self._link = None

    def _next(self) -> tuple[EngineLink | ChildLink, bytes]:
        with self._changed:
            while True:
                link = self._link
                if link is not None:
                    data = self._client.next()
                    if data is not None:
                        self._changed.notify_all()
                        return link, data
                    if self._ended and not self._said and not self._client.queued:
                        self._said = True
                        link.end_input()
                self._changed.wait()

    def _use(self, link: EngineLink | ChildLink) -> None:
        """Relay on this link until it ends."""
        began, answers = time.monotonic(), self._client.answers
        with self._changed:
            lines = self._client.attach(link.offers, recognises=link.recognises)
            self._link, self._said = link, False
            self._changed.notify_all()
        self._tell(lines)
        rests = self._pump(link)
        with self._changed:
            self._link = None
            died = not (rests or self._client.draining)
            lines = self._client.lost(died=died)
            gone, taken = self._said, self._taken
            lively = self._client.answers > answers or time.monotonic() - began > LIVELY_SECONDS
        code = link.close()
        self._tell(lines)
        if gone:
            leave(0)
        if code is not None and code > 0 and not lively:
            leave(code)  # a child that cannot serve has said why
        self._deaths = self._deaths + 1 if died and not lively else 0
        if rests:
            self._rest(taken, or_wanted=True)

    def _pump(self, link: EngineLink | ChildLink) -> bool:
        """Pass on what the engine says until it is gone, or to be left; whether another one is
        only needed once the client wants something: it was idle, or told to stop."""
        stopped = False
        for line in link.lines():
            event = event_in(line)
            if event == "idle":
                return True
            with self._changed:
                stopped |= event == "stop"
                self._client.draining |= stopped or event == "drain"
                lines = self._client.give(line) if event is None else []
                drained = self._drained()
                self._changed.notify_all()
            self._tell(lines)
            if drained is not None:
                return stopped
        return stopped

    def _rest(self, taken: int, or_wanted: bool = False) -> None:
        """Wait until the client says something, or does so already for something it said."""
        with self._changed:
            while self._taken == taken and not (or_wanted and self._client.wanted):
                if self._ended:
                    leave(0)
                self._changed.wait()

    # Links

    def _connect(self) -> EngineLink | ChildLink:
        self._pause()
        while True:
            if self._deaths >= HOPELESS_DEATHS:
                return self._alone(f"the engine was lost at once, {self._deaths} times in a row")
            try:
                connection = reach(self._home, self._hello(), self._environ)
            except NoEngine as error:
                return self._alone(error.reason)
            except BadSettings as error:
                self._refuse(error.messages)
                continue
            for text in _texts(connection.answer.get("warnings")):
                self._warn(text)
            return EngineLink(connection)

    def _pause(self) -> None:
        over = self._deaths - QUICK_DEATHS
        if over > 0:
            seconds = min(FIRST_PAUSE_SECONDS * 2**over, LONGEST_PAUSE_SECONDS)
            threading.Event().wait(seconds)

    def _hello(self) -> dict[str, Any]:
        with self._changed:
            return {
                **hello("mcp", self._environ, self._flags),
                "session": self._session,
                "resumed": self._client.links > 0,
                "repeated": self._client.repeated(),
            }

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            say(f"warning: {text}")

    def _refuse(self, messages: list[str]) -> None:
        """The settings are wrong: at the start that is the end; later only calls fail."""
        for text in messages:
            say(text)
        if not self._client.links:
            leave(1)
        with self._changed:
            lines = self._client.fail("The settings are wrong now: " + "; ".join(messages))
            taken = self._taken
        self._tell(lines)
        self._rest(taken)

    def _alone(self, reason: str) -> ChildLink:
        """A server for this client alone; without one there is nothing left to do."""
        from memory_mcp.front.spawning import serve_alone

        if not self._fallen:
            say(f"no shared engine, so this client gets a server of its own: {reason}")
        self._fallen = True
        try:
            return ChildLink(serve_alone(self._flags, self._environ))
        except OSError as error:
            say(f"no server can be started: {error}")
            leave(1)


def _texts(found: object) -> list[str]:
    return [str(text) for text in found] if isinstance(found, list) else []


def leave(code: int) -> NoReturn:
    """End the process now: a thread that waits for input would keep it for ever."""
    os._exit(code)
