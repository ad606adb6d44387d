"""`serve`: MCP on stdio as without a command, or a port that the running engine opens.

The command stays in the foreground and holds a connection to the engine: the port is open for as
long as that is. It never opens the index itself, so ports and clients on stdio share one engine.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, pass_setup
from memory_mcp.cli.wording import serving
from memory_mcp.core.config import Config
from memory_mcp.core.errors import InputError, RefusedError
from memory_mcp.front.endpoint import home_of
from memory_mcp.front.hello import CHUNK, hello
from memory_mcp.front.starting import BadSettings, NoEngine, reach

if TYPE_CHECKING:
    from memory_mcp.front.starting import Connection
    from memory_mcp.server.http.grants import PortRequest, Transport

OPEN_SECONDS = 20.0
"""How long an engine may take until the port is open: it may have to open the memory first."""

AGAIN_SECONDS = 15.0
"""How long to ask again for a port that was open before: the engine that had it may still go."""

CLOSE_SECONDS = 4.0
"""How long the engine may take to close the port when the command ends."""

PAUSE_SECONDS = 0.1
_tick = threading.Event()
"""Never set: to wait for a moment."""


class End(BaseException):
    """A signal ended the command. No error handler must take it for a failure."""


@click.command()
@click.option(
    "--transport",
    type=click.Choice(["stdio", "streamable-http", "sse"]),
    default="stdio",
    show_default=True,
    help="How clients connect.",
)
@click.option("--host", metavar="ADDRESS", help="Where to listen, else as http.host says.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="The port, else http.port; 0: any free one."
)
@pass_setup
def serve(setup: Setup, transport: str, host: str | None, port: int | None) -> int:
    """Speak MCP on stdio, or on a port for HTTP clients.

    A port beyond this machine needs a token, in MEMORY_MCP_TOKEN or as the settings say.
    """
    if transport == "stdio":
        return _on_stdio(setup)
    given = {"http.host": host, "http.port": port}
    config = Setup({**setup.flags, **given}).shared()
    request = _request(config, cast("Transport", transport))
    if setup.flags.get("in_process"):
        from memory_mcp.cli.port import serve_here

        return serve_here(config, request)
    return _hold(setup.flags, request)


def _on_stdio(setup: Setup) -> int:
    if setup.flags.get("in_process"):
        from memory_mcp.server.stdio import run as run_alone  # half a second of imports

        return run_alone(setup.flags)
    from memory_mcp.front.run import run as run_front

    return run_front(setup.flags)


def _request(config: Config, transport: Transport) -> PortRequest:
    """What to ask for. Raises ConfigError or RefusedError before anything is started."""
    from memory_mcp.server.http.binding import addresses_of, check_grants
    from memory_mcp.server.http.grants import PortRequest
    from memory_mcp.server.http.tokens import grants_of

    grants, warnings = grants_of(config, os.environ)
    for warning in warnings:
        render.remark(warning)
    http = config.http
    check_grants(http.host, addresses_of(http.host), grants)
    return PortRequest(transport, http.host, http.port, grants)


def _hold(flags: Mapping[str, object], request: PortRequest) -> int:
    """Keep the port open until a signal comes: 0."""
    port = _Port(flags, request)
    with ending_signals():
        try:
            port.keep()
        except End:
            port.close()
    return 0


class _Port:
    """A port that an engine holds open for this process."""

    def __init__(self, flags: Mapping[str, object], request: PortRequest) -> None:
        self._flags = flags
        self._request = request
        self._connection: Connection | None = None

    def keep(self) -> NoReturn:
        """Have the port open, by the next engine where one goes.

        Raises RefusedError where it cannot be had, InputError where the engine finds the
        settings wrong.
        """
        opened = self._open(0.0)
        render.remark(serving(str(opened["url"]), bool(self._request.grants[0].token)))
        while True:
            self._until_gone()
            self._request = replace(self._request, port=int(opened["port"]))
            opened = self._open(AGAIN_SECONDS)
            render.remark(f"The engine was replaced; {opened['url']} is open again.")

    def close(self) -> None:
        """Let the engine close the port, and wait until it has."""
        if self._connection is None:
            return
        with suppress(OSError), self._connection.socket as connection:
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(CLOSE_SECONDS)
            while connection.recv(CHUNK):
                pass

    def _open(self, patience: float) -> Mapping[str, Any]:
        """Ask until the port is open, for `patience` seconds where it is refused: the engine
        before may still be going."""
        deadline = time.monotonic() + patience
        while True:
            answer = self._ask()
            if "failure" not in answer:
                opened: Mapping[str, Any] = answer["result"]
                return opened
            self.close()
            if time.monotonic() >= deadline:
                raise RefusedError(str(answer["failure"]))
            _tick.wait(PAUSE_SECONDS)

    def _ask(self) -> Mapping[str, Any]:
        home = home_of(os.environ, self._flags.get("home"))
        question = {
            **hello("serve", os.environ, self._flags),
            "serve": self._request.as_json(),
        }
        try:
            self._connection = reach(home, question, os.environ, answer_seconds=OPEN_SECONDS)
        except NoEngine as error:
            raise RefusedError(
                f"no engine can be had: {error.reason}; with --in-process this command opens the"
                " memory itself"
            ) from error
        except BadSettings as error:
            raise InputError(str(error)) from error
        return self._connection.answer

    def _until_gone(self) -> None:
        """Wait until the engine hangs up. What it says before only announces that."""
        assert self._connection is not None
        with suppress(OSError), self._connection.socket as connection:
            while connection.recv(CHUNK):
                pass
        self._connection = None


@contextmanager
def ending_signals() -> Iterator[None]:
    """Raise End where a signal asks the command to end; once, so that ending is not disturbed."""
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        if not ended:
            ended = True
            raise End

    names = ("SIGTERM", "SIGINT", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
