"""Reaching the engine of a home, and starting it where there is none.

Any number of fronts may do this at once: who holds the start lock starts one engine, the others
wait until it is there.
"""

from __future__ import annotations

import threading
import time

from memory_mcp.front import endpoint as places
from memory_mcp.front.endpoint import Endpoint
from memory_mcp.front.hello import LineReader, decode, encode, messages_of
from memory_mcp.front.home import START_LOCK, make_state, state_file
from memory_mcp.front.locks import engine_runs, lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from typing import Any

PATIENCE_SECONDS = 20.0
"""How long to look for an engine: a drain takes 10 s at most, a cold start some seconds."""

HELLO_SECONDS = 8.0
"""How long an engine may take to answer a hello, which it does before anything else."""

YOUNG_SECONDS = 30.0
"""One that was started so recently may still be loading itself, and is given more time."""

DIAL_SECONDS = 2.0
LOOK_SECONDS = 0.02
"""Between two looks for what somebody else is doing."""

HANG_UPS = 5
"""How often one engine may hang up on a hello before it is given up."""

HANG_UP_SECONDS = 0.1
"""The pause after the first; it grows by as much with each."""

_tick = threading.Event()
"""Never set: to wait for a moment."""


class NoEngine(Exception):
    """There is no engine to talk to, and why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class BadSettings(Exception):
    """The settings are wrong; one message for each problem."""

    def __init__(self, messages: list[str]) -> None:
        self.messages = messages
        super().__init__("\n".join(messages))


class Connection:
    """A connection whose hello was answered with ok."""

    __slots__ = ("answer", "endpoint", "lines", "socket")

    def __init__(
        self,
        connection: socket.socket,
        lines: LineReader,
        answer: dict[str, Any],
        endpoint: Endpoint,
    ) -> None:
        self.socket = connection
        self.lines = lines
        self.answer = answer
        self.endpoint = endpoint


class _Away(Exception):
    """This engine is not to be had: it is dead, or leaving, or hangs up. Another may be."""

    def __init__(self, reason: str, *, leaving: bool = False, hung_up: bool = False) -> None:
        self.reason = reason
        self.leaving = leaving
        self.hung_up = hung_up
        super().__init__(reason)


def reach(
    home: str,
    hello: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    start: bool = True,
    patience: float = PATIENCE_SECONDS,
    answer_seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Connection:
    """A connection to the engine of a home that answered ok; with `start` one is started if
    there is none, with `environ`.

    `patience`: seconds to look for an engine; `answer_seconds`: until it answers the hello, or
    sends a line of progress, None for what is usual. Raises NoEngine or BadSettings.
    """
    deadline = time.monotonic() + patience
    left: str | None = None
    hang_ups: dict[str, int] = {}
    reason = "no engine runs on this home"
    while True:
        found = places.read(home)
        if found is not None and found.engine != left:
            try:
                seconds = _usual(found) if answer_seconds is None else answer_seconds
                return _greet(found, hello, seconds, progress or _ignore)
            except _Away as away:
                reason = away.reason
                left = _after(away, found.engine, left, hang_ups)
            except NoEngine:
                if _named(home) == found.engine:
                    raise  # else it was replaced between our look and our call
        if not start:
            raise NoEngine(reason)
        if time.monotonic() > deadline:
            raise NoEngine(f"{reason}; gave up after {patience:g} s")
        _start_or_wait(home, environ, left, deadline)


def _after(away: _Away, engine: str, left: str | None, hang_ups: dict[str, int]) -> str | None:
    """Which engine is to be avoided from now on. One that hangs up is asked again, a little later
    each time, and not for ever: then NoEngine is raised."""
    if away.hung_up:
        times = hang_ups[engine] = hang_ups.get(engine, 0) + 1
        if times > HANG_UPS:
            raise NoEngine(f"{away.reason} {times} times")
        _tick.wait(times * HANG_UP_SECONDS)
    return engine if away.leaving else left


def _usual(found: Endpoint) -> float:
    """How many seconds that engine may take to answer."""
    age = time.time() - found.started
    return PATIENCE_SECONDS if 0 <= age < YOUNG_SECONDS else HELLO_SECONDS


def _named(home: str) -> str | None:
    """The id of the engine that the endpoint file names now."""
    found = places.read(home)
    return None if found is None else found.engine


def _ignore(_done: int, _total: int) -> None:
    """Progress that nobody asked for."""


def _greet(
    found: Endpoint,
    hello: Mapping[str, Any],
    seconds: float,
    progress: Callable[[int, int], None],
) -> Connection:
    try:
        connection = places.dial(found, DIAL_SECONDS)
    except PermissionError as error:
        raise NoEngine(str(error)) from error
    except (BlockingIOError, TimeoutError) as error:
        raise _Away(f"the engine (pid {found.pid}) is too busy for a connection") from error
    except OSError as error:
        raise _Away(f"the engine (pid {found.pid}) is gone") from error
    try:
        connection.settimeout(seconds)
        connection.sendall(encode({**hello, "token": found.token}))
        lines = LineReader(connection)
        answer = _answer(lines, found, progress)
        connection.settimeout(None)
    except BaseException as error:
        connection.close()
        if isinstance(error, TimeoutError):
            text = f"the engine (pid {found.pid}) did not answer within {seconds:g} s"
            raise NoEngine(text) from error
        if isinstance(error, OSError):
            raise _Away(f"the engine (pid {found.pid}) hung up", hung_up=True) from error
        raise
    return Connection(connection, lines, answer, found)


def _answer(
    lines: LineReader, found: Endpoint, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """The answer to the hello, if it is ok."""
    for line in lines:
        answer = decode(line)
        if answer is None:
            raise NoEngine(f"what listens at {found.address} is no engine of this program")
        if "progress" in answer:
            progress(*answer["progress"])
        elif answer.get("ok") is True:
            return answer
        else:
            raise _refusal(answer)
    raise _Away(f"the engine (pid {found.pid}) hung up", hung_up=True)


def _refusal(answer: Mapping[str, Any]) -> Exception:
    messages = messages_of(answer)
    text = "; ".join(messages) or "it gave no reason"
    if answer.get("error") == "config":
        return BadSettings(messages or ["the engine finds the settings wrong"])
    if answer.get("error") == "leaving":
        return _Away(f"the engine is leaving: {text}", leaving=True)
    return NoEngine(f"the engine refused: {text}")


def _start_or_wait(
    home: str, environ: Mapping[str, str], left: str | None, deadline: float
) -> None:
    """Start an engine, or wait a moment where somebody else does or an old one still goes."""
    try:
        make_state(home)
        with lock(state_file(home, START_LOCK)) as mine:
            if mine and not _another(home, left) and not engine_runs(home):
                _spawn(home, environ, deadline)
                return
    except OSError as error:
        raise NoEngine(f"{state_file(home, '')}: {error.strerror or error}") from error
    _tick.wait(LOOK_SECONDS)


def launch(home: str, environ: Mapping[str, str]) -> bool:
    """Start an engine where none runs, and do not wait for it; whether one was started. Why it
    does not come up is in its log. Raises OSError."""
    make_state(home)
    with lock(state_file(home, START_LOCK)) as mine:
        if not mine or engine_runs(home):
            return False
        import subprocess

        from memory_mcp.front.spawning import begin

        begin(home, environ, subprocess.DEVNULL)
    return True


def _another(home: str, left: str | None) -> bool:
    """Whether an engine that is not leaving listens by now."""
    found = places.read(home)
    if found is None or found.engine == left:
        return False
    try:
        places.dial(found, DIAL_SECONDS).close()
    except (ConnectionRefusedError, FileNotFoundError, ConnectionResetError):
        return False
    except OSError:
        return True  # in doubt: saying hello will tell
    return True


def _spawn(home: str, environ: Mapping[str, str], deadline: float) -> None:
    """Start an engine and wait for its report. Raises NoEngine or BadSettings."""
    from memory_mcp.front.spawning import spawn

    report = spawn(home, environ, max(deadline - time.monotonic(), 1.0))
    if report.get("ready") is True or report.get("error") == "running":
        return
    messages = messages_of(report)
    if report.get("error") == "config":
        raise BadSettings(messages or ["the engine finds the settings wrong"])
    raise NoEngine(f"an engine could not be started: {'; '.join(messages) or 'no reason given'}")
