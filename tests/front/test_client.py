"""What a relay remembers, without a process: any order of calls, answers, deaths and drains."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.front.client import Client
from memory_mcp.front.lines import Piece, Splitter

ACTIONS = st.lists(
    st.sampled_from(["call", "listen", "note", "cancel", "send", "answer", "drain", "end", "die"]),
    max_size=60,
)


class World:
    """A client, the engine it has at the moment, and what each of them saw."""

    def __init__(self) -> None:
        self.client = Client("abcd")
        self.linked = False
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        """By the engine of this link."""
        self.cancelled: set[Any] = set()
        self.answered: list[Any] = []
        self.errors: list[Any] = []
        self.attach()

    def attach(self) -> None:
        assert self.client.attach("1") == []
        self.linked = True
        self.received = []

    def take(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        self.sent.append(line)
        assert self.client.take(Piece(line)) == []

    def act(self, action: str) -> None:
        getattr(self, f"do_{action}")()

    def do_call(self) -> None:
        number = len(self.sent)
        self.take({"id": number if number % 2 else str(number - 1), "method": "tools/call"})

    def do_listen(self) -> None:
        self.take({"id": f"listen-{len(self.sent)}", "method": "subscriptions/listen"})

    def do_note(self) -> None:
        self.take({"method": "notifications/progress", "params": {"n": len(self.sent)}})

    def do_cancel(self) -> None:
        calls = [n for n in self.numbers(self.sent) if n not in self.answered]
        if calls:
            self.cancelled.add(calls[len(self.sent) % len(calls)])
            params = {"requestId": calls[len(self.sent) % len(calls)]}
            self.take({"method": "notifications/cancelled", "params": params})

    def do_send(self) -> None:
        line = self.client.next() if self.linked else None
        if line is not None:
            assert not (self.client.draining and b"tools/call" in line)
            self.received.append(line)

    def do_answer(self) -> None:
        done = set(self.answered) | self.cancelled | set(self.errors)
        for number in self.numbers(self.received):
            if number not in done and not str(number).startswith("listen"):
                line = b'{"jsonrpc":"2.0","id":%s,"result":{}}\n' % json.dumps(number).encode()
                assert self.client.give(line) == [line]
                self.answered.append(number)
                return

    def do_drain(self) -> None:
        self.client.draining = True

    def do_end(self) -> None:
        self.lose(died=False)

    def do_die(self) -> None:
        self.lose(died=True)

    def lose(self, died: bool) -> None:
        lines = self.client.lost(died=died)
        self.errors += [json.loads(line)["id"] for line in lines]
        repeated = self.client.repeated()
        self.attach()
        assert [number for number in repeated if number in self.cancelled] == []

    def numbers(self, lines: list[bytes]) -> list[Any]:
        return [m["id"] for m in map(json.loads, lines) if "id" in m]


@given(ACTIONS)
def test_every_call_is_answered_once_and_lines_stay_as_they_are_and_in_order(
    actions: list[str],
) -> None:
    world = World()
    for action in actions:
        world.act(action)
        order = [world.sent.index(line) for line in world.received if b'"id"' in line]
        assert order == sorted(order)
        assert len(set(order)) == len(order)
    world.client.draining = False
    for _ in range(len(world.sent)):
        world.do_send()
    for _ in range(len(world.sent)):
        world.do_answer()
    calls = {n for n in world.numbers(world.sent) if not str(n).startswith("listen")}
    assert len(world.answered) == len(set(world.answered))
    assert not set(world.answered) & set(world.errors)
    assert set(world.answered) | set(world.errors) | world.cancelled >= calls
    assert not world.client.waiting
    assert world.client.queued == 0


@given(ACTIONS)
def test_listening_streams_survive_every_engine(actions: list[str]) -> None:
    world = World()
    for action in actions:
        world.act(action)
    world.do_end()
    while (line := world.client.next()) is not None:
        world.received.append(line)
    live = [n for n in world.numbers(world.sent) if str(n).startswith("listen")]
    assert [n for n in world.numbers(world.received) if str(n).startswith("listen")] == [
        n for n in live if n not in world.cancelled
    ]


@given(st.lists(st.binary(max_size=40)), st.integers(1, 30))
def test_the_splitter_keeps_every_byte_of_every_line(chunks: list[bytes], limit: int) -> None:
    splitter = Splitter(limit)
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    pieces += splitter.end()
    lines: list[bytes] = []
    for piece in pieces:
        if piece.first:
            lines.append(b"")
        lines[-1] += piece.data
        assert piece.last == piece.data.endswith(b"\n")
        assert len(piece.data) <= limit + 41
    expected = [line + b"\n" for line in b"".join(chunks).split(b"\n")]
    assert [line for line in lines if line.strip()] == [line for line in expected if line.strip()]


def said(client: Client, **message: Any) -> None:
    client.take(Piece(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"))


def test_numbers_and_texts_are_different_ids() -> None:
    client = Client("abcd")
    client.attach("1")
    for number in (1, "1"):
        said(client, id=number, method="ping")
        client.next()
    client.give(b'{"jsonrpc":"2.0","id":"1","result":{}}\n')
    client.lost(died=True)
    assert client.repeated() == [1]


def test_what_nobody_would_answer_is_not_waited_for() -> None:
    client = Client("abcd")
    client.attach("1")
    for number in (1.0, 2.5, None, True, [1]):
        said(client, id=number, method="ping")
    while client.next() is not None:
        assert not client.waiting


def test_an_id_that_is_used_twice_waits_for_two_answers() -> None:
    client = Client("abcd")
    client.attach("1")
    for _ in range(2):
        said(client, id=7, method="ping")
        client.next()
    client.give(b'{"jsonrpc":"2.0","id":7,"result":{}}\n')
    assert client.repeated() == [7]
    client.give(b'{"jsonrpc":"2.0","id":7,"result":{}}\n')
    assert client.repeated() == []


def test_the_memory_of_open_requests_is_bounded() -> None:
    client = Client("abcd")
    client.attach("1")
    for number in range(12):
        said(client, id=number, method="tools/call", params={"text": "x" * (3 << 20)})
        client.next()
    errors = client.lost(died=True)
    assert client.queued < 32 << 20
    assert len(errors) + len(client.repeated()) == 12
    assert b"too large" in errors[0]


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def test_what_other_settings_offer_is_announced_after_a_handshake() -> None:
    client = Client("abcd")
    client.attach("1 core")
    said(client, id=0, method="initialize")
    client.next()
    capabilities = {"tools": {"listChanged": True}, "prompts": {}}
    client.give(line(id=0, result={"capabilities": capabilities}))
    for offers, expected in (("1 core", []), ("1 core read-only", ["tools"])):
        client.lost(died=False)
        client.attach(offers)
        opening = json.loads(client.next() or b"")
        told = client.give(line(id=opening["id"], result={"capabilities": capabilities}))
        assert [json.loads(item)["method"].split("/")[1] for item in told] == expected


def test_tools_of_another_version_are_announced_to_who_listens_for_them() -> None:
    client = Client("abcd")
    client.attach("1")
    wanted = {"toolsListChanged": True, "resourcesListChanged": True}
    said(client, id="s", method="subscriptions/listen", params={"notifications": wanted})
    client.next()
    meta = {"io.modelcontextprotocol/subscriptionId": "s"}
    acknowledged = {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"notifications": wanted, "_meta": meta},
    }
    line = json.dumps(acknowledged).encode() + b"\n"
    assert client.give(line) == [line]
    for version, expected in (("1", ["resources"]), ("2", ["resources", "tools"])):
        client.lost(died=False)
        client.attach(version)
        client.next()
        told = [json.loads(item) for item in client.give(line)]
        assert [item["method"].split("/")[1] for item in told] == expected
        assert all(item["params"] == {"_meta": meta} for item in told)


def test_nothing_is_sent_before_the_repeated_handshake_is_answered() -> None:
    client = Client("abcd")
    client.attach("1")
    said(client, id=0, method="initialize")
    client.next()
    client.give(b'{"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}\n')
    said(client, id=1, method="ping")
    client.next()
    client.lost(died=True)
    client.attach("1")
    opening = json.loads(client.next() or b"")
    assert (opening["method"], client.next()) == ("initialize", None)
    answer = {"jsonrpc": "2.0", "id": opening["id"], "result": {"capabilities": {}}}
    assert client.give(json.dumps(answer).encode()) == []
    assert json.loads(client.next() or b"")["method"] == "ping"
