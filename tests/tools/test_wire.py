"""Requests over links that break, are late, or do not know what was asked before."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memory_mcp.core.errors import EngineError
from memory_mcp.tools.wire import TRIES, Wire

Json = dict[str, Any]
Server = Callable[[Json], Json | None]
"""What a server answers to a request; None: it ends instead."""


class Line:
    """A link to a server that is a function."""

    def __init__(self, server: Server, *, recognises: bool = True, deaf: bool = False) -> None:
        self.recognises = recognises
        self.closed = False
        self._server = server
        self._deaf = deaf
        self._said: list[bytes] = []
        self._interrupted = threading.Event()

    def send(self, data: bytes) -> None:
        message = json.loads(data)
        if message["method"] == "initialize":
            self._reply({"id": message["id"], "result": {"instructions": "Read."}})
        elif "id" in message:
            answer = self._server(message)
            if answer is not None:
                self._reply({"memory_mcp": 1, "event": "drain"})
                self._reply({"id": message["id"], **answer})

    def _reply(self, message: Json) -> None:
        self._said.append(json.dumps(message).encode() + b"\n")

    def lines(self) -> Iterator[bytes]:
        while self._said:
            yield self._said.pop(0)
            if not self._said and self._deaf:
                self._interrupted.wait(5)

    def interrupt(self) -> None:
        self._interrupted.set()

    def close(self) -> None:
        self.closed = True


def fine(message: Json) -> Json:
    return {"result": {"method": message["method"]}}


def ends(message: Json) -> None:
    """Takes the request with it."""


def wire_of(*links: Line, seconds: float = 5.0) -> tuple[Wire, list[list[str]]]:
    told: list[list[str]] = []
    left = list(links)

    def connect(repeated: list[str]) -> Line:
        told.append(repeated)
        return left.pop(0)

    return Wire(connect, seconds), told


def test_the_first_request_shakes_hands() -> None:
    wire, told = wire_of(Line(fine))
    assert wire.request("tools/list")["result"] == {"method": "tools/list"}
    assert wire.request("tools/call")["result"] == {"method": "tools/call"}
    assert told == [[]]
    assert wire.opening == {"instructions": "Read."}


def test_a_request_that_a_server_took_with_it_is_asked_again_by_its_id() -> None:
    asked: list[Json] = []

    def remembers(message: Json) -> Json:
        asked.append(message)
        return fine(message)

    first = Line(lambda message: asked.append(message))
    wire, told = wire_of(first, Line(remembers))
    assert wire.request("tools/call")["result"] == {"method": "tools/call"}
    assert first.closed
    assert asked[0] == asked[1]
    assert told == [[], [asked[0]["id"]]]


def test_a_request_that_ends_every_server_is_given_up() -> None:
    wire, told = wire_of(*(Line(ends) for _ in range(TRIES)))
    with pytest.raises(EngineError, match="may have been done"):
        wire.request("tools/call")
    assert len(told) == TRIES


def test_one_that_cannot_know_what_was_done_is_not_asked_again() -> None:
    wire, _ = wire_of(Line(ends), Line(fine, recognises=False))
    with pytest.raises(EngineError, match="may have been done"):
        wire.request("tools/call")
    assert wire.request("tools/list")["result"] == {"method": "tools/list"}


def test_a_server_that_does_not_answer_in_time_is_left() -> None:
    deaf = Line(ends, deaf=True)
    wire, _ = wire_of(deaf, Line(fine), seconds=0.2)
    with pytest.raises(EngineError, match=r"not answered within 0\.2 s"):
        wire.request("tools/call")
    assert deaf.closed
    assert wire.request("tools/list")["result"] == {"method": "tools/list"}


def test_one_that_does_not_shake_hands_is_given_up() -> None:
    class Mute(Line):
        def send(self, data: bytes) -> None:
            raise BrokenPipeError

    wire, told = wire_of(*(Mute(fine) for _ in range(TRIES)))
    with pytest.raises(EngineError, match="does not shake hands"):
        wire.request("tools/list")
    assert len(told) == TRIES
