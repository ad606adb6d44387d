"""What a broken, hostile or merely odd client sends: right requests, bent in one or two ways.

Each line says how many answers each id in it must and may get.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fuzz_grammar import ENVELOPE, HELLO, Grammar, Json
from fuzz_values import ODD_IDS, STRANGE_IDS, Bender

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line, with its end. `answers`: id → (at least, at most)."""

    kind: str
    data: bytes
    answers: tuple[tuple[str, int, int], ...] = ()


def key(number: Any) -> str:
    """An id as it can be compared: 7 and "7" differ, halves of letters are U+FFFD."""
    text = json.dumps(number, ensure_ascii=False)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Speaker:
    """Draws lines for one connection of one era."""

    def __init__(self, rng: random.Random, era: str, giants: float = 0.0003) -> None:
        self.rng = rng
        self.era = era
        self.grammar = Grammar(rng, era)
        self._bender = Bender(rng)
        self._giants = giants
        self._number = 100  # odd values are smaller: none names an open request by chance
        self._listening = 0
        self._kinds: tuple[tuple[Callable[[], list[Line]], float], ...] = (
            (self._right, 22),
            (self._bent, 40),
            (self._cancelled, 5),
            (self._reused, 2),
            (self._strange_id, 4),
            (self._no_id, 3),
            (self._no_message, 5),
            (self._batch, 2),
            (self._cut, 4),
            (self._flipped, 4),
            (self._bytes, 4),
            (self._out_of_nowhere, 3),
            (self._handshake, 2),
            (self._other_era, 2),
            (self._unknown_method, 2),
            (self._notification, 3),
            (self._listen, 0.3),
        )
        self._draws = [draw for draw, _ in self._kinds]
        self._weights = [weight for _, weight in self._kinds]

    def opening(self) -> list[Line]:
        """What a client of this era sends first."""
        if self.era == "modern":
            return [self._request("opening", "server/discover", {"_meta": dict(ENVELOPE)})]
        ready = _line("opening", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return [self._request("opening", "initialize", HELLO), ready]

    def ping(self) -> Line:
        """A request that costs nothing and is always answered."""
        return self._request("ping", "ping", self.grammar.enveloped({}))

    def block(self, size: int) -> list[Line]:
        """About so many lines."""
        lines: list[Line] = []
        while len(lines) < size:
            if self.rng.random() < self._giants:
                lines += self._giant()
            else:
                lines += self.rng.choices(self._draws, self._weights)[0]()
        return lines

    def _id(self) -> int | str:
        self._number += 1
        return self._number if self._number % 3 else f"r-{self._number}"

    def _request(self, kind: str, method: Any, params: Any, number: Any = None) -> Line:
        number = self._id() if number is None else number
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return _line(kind, message, (key(number), 1, 1))

    def _right(self) -> list[Line]:
        method, params = self.grammar.request()
        number = self._id()
        message: Json = {"params": params, "method": method, "id": number, "jsonrpc": "2.0"}
        if self.rng.random() < 0.3:
            message = dict(self.rng.sample(list(message.items()), 4))
        if not params and self.rng.random() < 0.5:
            del message["params"]
        return [_line("right", message, (key(number), 1, 1))]

    def _bent(self) -> list[Line]:
        method, params = self.grammar.request()
        arguments = params.get("arguments", params)
        if not isinstance(arguments, dict):
            arguments = params
        kind = self._bender.bend(arguments)
        if self.rng.random() < 0.15:
            self._bender.bend(arguments)
            kind = "two at once"
        return [self._request(kind, method, params)]

    def _cancelled(self) -> list[Line]:
        method, params = self.grammar.request()
        number = self._id()
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        when = self.grammar.pick("early", "at once", "twice", "late", "as text", "nothing")
        stop = _cancel(when, str(number) if when == "as text" else number)
        maybe = _line(f"cancelled {when}", message, (key(number), 0, 1))
        sure = _line(f"cancelled {when}", message, (key(number), 1, 1))
        match when:
            case "early":
                return [stop, sure]
            case "late":  # other requests are answered between
                return [maybe, *(self.ping() for _ in range(6)), stop]
            case "twice":
                return [maybe, stop, stop]
            case "nothing":
                return [_cancel(when, self._bender.odd()), sure]
        return [maybe, stop]

    def _reused(self) -> list[Line]:
        number = self._id()
        count = self.rng.randint(2, 4)
        lines = []
        for _ in range(count):
            method, params = self.grammar.request()
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            lines.append(_line("reused id", message))
        first = lines[0]
        return [Line(first.kind, first.data, ((key(number), count, count),)), *lines[1:]]

    def _strange_id(self) -> list[Line]:
        method, params = self.grammar.request()
        number = self.rng.choice(STRANGE_IDS)
        self._number += 1
        if isinstance(number, int):
            number = number - self._number if number < 0 else number + self._number
        else:
            number = f"{number}s{self._number}"
        return [self._request("strange id", method, params, number)]

    def _no_id(self) -> list[Line]:
        method, params = self.grammar.request()
        message: Json = {"jsonrpc": "2.0", "method": method, "params": params}
        if self.rng.random() < 0.7:
            message["id"] = self.rng.choice(ODD_IDS)
        return [_line("no usable id", message)]

    def _no_message(self) -> list[Line]:
        """JSON that is no message of JSON-RPC 2.0, though one waits for an answer to it."""
        method, params = self.grammar.request()
        number = self._id()
        message: Json = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        odd = self._bender.odd()
        match self.rng.randrange(5):
            case 0:
                message["jsonrpc"] = self.grammar.pick("1.0", "2", 2.0, None, "", [])
            case 1:
                del message["jsonrpc"]
            case 2:
                message["params"] = odd
            case 3:
                message["method"] = odd
            case 4:
                message["more"] = odd
        return [_line("not quite a message", message, (key(number), 1, 1))]

    def _batch(self) -> list[Line]:
        lines = [self._right()[0] for _ in range(self.rng.randint(0, 4))]
        parts = [line.data.strip() for line in lines] + [b"5"] * self.rng.randint(0, 1)
        answers = tuple(one for line in lines for one in line.answers)
        return [Line("batch", b"[" + b",".join(parts) + b"]\n", answers)]

    def _cut(self) -> list[Line]:
        line = self._bent()[0]
        head = line.data.index(b"method") - 2
        cut = line.data[: self.rng.randint(head, len(line.data) - 2)]
        return [Line("cut off", cut + b"\n", _maybe(line))]

    def _flipped(self) -> list[Line]:
        line = self._bent()[0]
        data = bytearray(line.data[:-1])
        begin = data.index(b"method")  # the id stands in front of it
        for _ in range(self.rng.randint(1, 3)):
            place = self.rng.randrange(begin, len(data))
            data[place] = self.rng.choice(b'\x00\x07\t "\\{}[]:,0-eE.\x7f\x80\xc3\xe2\xed\xf0\xff')
        return [Line("bytes changed", bytes(data).replace(b"\n", b" ") + b"\n", _maybe(line))]

    def _bytes(self) -> list[Line]:
        """Right requests in a wrapping that is not, and lines that are nothing at all."""
        line = self._right()[0]
        data = line.data[:-1]
        match self.rng.randrange(7):
            case 0:
                return [Line("CRLF and blanks", b"\r\n \n\t" + data + b" \r\n\n", line.answers)]
            case 1:
                return [Line("byte order mark", b"\xef\xbb\xbf" + data + b"\n", line.answers)]
            case 2:
                return [Line("two on a line", data + data + b"\n", _maybe(line, 2))]
            case 3:
                text = json.dumps(json.loads(data), ensure_ascii=True).encode("utf-16")
                return [Line("UTF-16", text.replace(b"\n", b" ") + b"\n", _maybe(line))]
            case 4:
                raw = data.replace(b'"method"', b'"x":"a\tb\x01\x1f\x7f\xe2\x80\xa8","method"')
                return [Line("raw control characters", raw + b"\n", line.answers)]
            case 5:
                broken = self.grammar.pick(
                    b"\xff\xfe", b"\xed\xa0\x80", b"\xc3(", b"\xf4\x90\x80\x80"
                )
                raw = data.replace(b'"method"', b'"x":"' + broken + b'","method"')
                return [Line("broken UTF-8", raw + b"\n", line.answers)]
        noise = self.rng.randbytes(self.rng.randint(1, 200)).replace(b"\n", b"")
        return [Line("noise", noise + b"\n")]

    def _out_of_nowhere(self) -> list[Line]:
        number = self.grammar.pick(0, 1, -1, "x", None, 10**20, self._number)
        outcome = self.grammar.pick(
            {"result": {}}, {"result": {"tools": []}}, {"result": 5}, {"error": "x"},
            {"error": {"code": -1, "message": "no"}}, {"error": {"code": "x"}}, {"result": None},
        )  # fmt: skip
        return [_line("answer to nothing", {"jsonrpc": "2.0", "id": number, **outcome})]

    def _handshake(self) -> list[Line]:
        params = json.loads(json.dumps(HELLO))
        if self.rng.random() < 0.7:
            params[self.rng.choice(list(params))] = self._bender.odd()
        return [self._request("handshake again", "initialize", params)]

    def _other_era(self) -> list[Line]:
        other = "legacy" if self.era == "modern" else "modern"
        method, params = Grammar(self.rng, other).request()
        if other == "modern" and self.rng.random() < 0.7:
            params["_meta"][self.rng.choice(list(ENVELOPE))] = self._bender.odd()
        return [self._request("other era", method, params)]

    def _unknown_method(self) -> list[Line]:
        names = ("", "tools", "tools/call ", "TOOLS/LIST", "x" * 300, "notifications/x", "a\ud800")
        method = self.rng.choice((*names, "tasks/get", "sampling/createMessage", "rpc.discover"))
        return [self._request("unknown method", method, self.grammar.enveloped({}))]

    def _notification(self) -> list[Line]:
        names = ("initialized", "progress", "roots/list_changed", "message", "cancelled", "x")
        message: Json = {"jsonrpc": "2.0", "method": f"notifications/{self.rng.choice(names)}"}
        if self.rng.random() < 0.7:
            odd = self._bender.odd
            fields = ("progressToken", "progress", "requestId", "reason", "_meta")
            message["params"] = {name: odd() for name in self.rng.sample(fields, 2)}
        return [_line("notification", message)]

    def _listen(self) -> list[Line]:
        if self.era != "modern" or self._listening > 2:
            return self._right()
        self._listening += 1
        params = {"notifications": {"resourcesListChanged": True}, "_meta": dict(ENVELOPE)}
        line = self._request("subscription", "subscriptions/listen", params)
        return [Line(line.kind, line.data, _maybe(line))]

    def _giant(self) -> list[Line]:
        size = self.rng.choice((MEGABYTE // 5, MEGABYTE, 2 * MEGABYTE, 4 * MEGABYTE))
        params = self.grammar.enveloped(self.grammar.call())
        text = self.grammar.pick("y", "é\n", "\\", "[", "# h\n\n")
        giant = text * (size // len(text))
        place = self.grammar.pick(
            "query", "content", "slug", "reference", "unknown", "frontmatter"
        )
        params["arguments"][place] = {"k": giant} if place == "frontmatter" else giant
        method = giant if self.rng.random() < 0.1 else "tools/call"
        return [self._request("giant line", method, params)]


def _cancel(when: str, number: Any) -> Line:
    params = {"requestId": number, "reason": "fuzz"}
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    return _line(f"cancelled {when}", message)


def _maybe(line: Line, most: int = 1) -> tuple[tuple[str, int, int], ...]:
    return tuple((number, 0, most) for number, _, _ in line.answers)


def _line(kind: str, message: Any, *answers: tuple[str, int, int]) -> Line:
    return Line(kind, json.dumps(message).encode() + b"\n", answers)
