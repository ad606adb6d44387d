"""What a relay remembers of its client, so that the client need not notice when an engine dies.

Pure: lines go in, lines come out. A *link* is one connection to an engine, from `attach` to
`lost`. What a client sends is queued; `next` hands it out for the link. Requests are kept until
they are answered, and sent again on the next link.
"""

from __future__ import annotations

from memory_mcp.front.asked import Asked
from memory_mcp.front.lines import Piece
from memory_mcp.front.messages import ANSWER, REQUEST, Message, error_line, read
from memory_mcp.front.pending import (
    AGAIN,
    DEATHS,
    DIED,
    UNKEPT,
    UNKNOWN,
    URGENT,
    Giant,
    Item,
    Open,
    Queue,
)
from memory_mcp.front.standing import STANDING, SUBSCRIPTION, Standing, missed_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_mcp.front.messages import Id

KEPT_BYTES = 32 << 20
KEPT_REQUESTS = 4096
ID_LETTERS = 100
"""What is kept to be sent again: bytes and number of open requests, and length of an id. The
ids must fit in a hello."""

CALL = "tools/call"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CANCELLED = "notifications/cancelled"
INITIALIZED = "notifications/initialized"


class Client:
    """A client's open requests, its standing wishes, and what waits to be sent for it."""

    def __init__(self, session: str) -> None:
        self._standing = Standing(session)
        self._asked = Asked(session)
        self._open: list[Open] = []
        self._queue = Queue()
        self._coming: Giant | None = None
        self._going: Giant | None = None
        self._opening: bytes | None = None
        self._gate = False
        """Whether the repeated handshake must be answered before anything else is sent."""
        self._offers = ""
        self._other = False
        self._kept = 0
        self.links = 0
        """How many links there were so far."""
        self.answers = 0
        """How many requests of the client were answered by an engine so far."""
        self.draining = False
        """Whether the engine asked for nothing new; set by who sees that."""

    # What the client says

    def take(self, piece: Piece) -> list[bytes]:
        """Something from the client is recorded and queued; lines to answer it with at once."""
        if not piece.whole:
            return self._take_giant(piece)
        line = piece.data if piece.data.endswith(b"\n") else piece.data + b"\n"
        message = read(line)
        if message is None:
            self._queue.put(Item(line))
        elif message.kind == REQUEST:
            self._take_request(message, line)
        elif message.kind == ANSWER:
            answer = self._asked.answer(message, line)
            if answer is not None:
                self._queue.put(Item(answer, URGENT))
        else:
            self._take_notification(message, line)
        return []

    def _take_request(self, message: Message, line: bytes) -> None:
        assert message.id is not None
        fits = (
            self._kept + len(line) <= KEPT_BYTES
            and len(self._open) < KEPT_REQUESTS
            and len(ascii(message.id)) <= ID_LETTERS
        )
        request = Open(message.id, line if fits else None, message.method)
        self._kept += len(line) if fits else 0
        self._open.append(request)
        self._queue.put(Item(line, request=request))

    def _take_notification(self, message: Message, line: bytes) -> None:
        if message.method == CANCELLED:
            self._cancel(message.params.get("requestId"), line)
        elif message.method == INITIALIZED:
            self._standing.told(line)
            self._queue.put(Item(line, INITIALIZED))
        else:
            self._queue.put(Item(line))

    def _cancel(self, number: object, line: bytes) -> None:
        request = self._find(number)
        if request is not None:
            self._close(request)
            if self._queue.drop(lambda item: item.request is request):
                return  # this engine never saw it
        self._queue.put(Item(line, URGENT))

    def _take_giant(self, piece: Piece) -> list[bytes]:
        giant = self._coming
        if giant is None or piece.first:
            giant = self._coming = Giant()
        giant.see(piece.data)
        if not giant.broken:
            self._queue.put(Item(piece.data, giant=giant, last=piece.last))
        if not piece.last:
            return []
        self._coming = None
        number = giant.number()
        if number is None:
            return []
        if giant.broken:
            return [error_line(number, UNKEPT)]
        giant.open = Open(number)
        giant.open.sent = self.links if giant.begun else 0
        self._open.append(giant.open)
        return []

    # What goes to the engine

    def next(self) -> bytes | None:
        """What to send now on the link; None where nothing may be sent."""
        if self._opening is not None:
            line, self._opening = self._opening, None
            return line
        item = None if self._gate else self._pop()
        if item is None:
            return None
        if item.request is not None:
            item.request.sent = self.links
        if item.giant is not None:
            item.giant.begun = True
            self._going = None if item.last else item.giant
            if item.giant.open is not None:
                item.giant.open.sent = self.links
        return item.data

    def _pop(self) -> Item | None:
        if not self.draining:
            return self._queue.pop()
        going = self._going
        if going is not None:
            return self._queue.pop(lambda item: item.giant is going)
        return self._queue.pop(lambda item: item.kind == URGENT)

    # What the engine says

    def give(self, line: bytes) -> list[bytes]:
        """A line from the engine: the lines for the client that it makes."""
        message = read(line)
        if message is None:
            return [line]
        if message.kind == ANSWER:
            return self._give_answer(message, line)
        if message.kind == REQUEST:
            return [self._asked.ask(message, line, self.links == 1)]
        if message.method == ACKNOWLEDGED:
            return self._give_acknowledgement(message, line)
        if message.method == CANCELLED:
            return [self._asked.withdraw(message, line)]
        return [line]

    def _give_answer(self, message: Message, line: bytes) -> list[bytes]:
        assert message.id is not None
        if self._standing.is_own(message.id):
            return self._own_answer(message.id)
        request = self._find(message.id)
        if request is not None and request.sent == self.links:
            if request.endless and self.draining:
                return []  # the engine ends the stream, not the client: the next one goes on
            self._close(request)
            self.answers += 1
            if request.line is not None and request.method in STANDING:
                self._standing.settled(request.method, request.line, message)
        return [line]

    def _own_answer(self, number: Id) -> list[bytes]:
        if not self._gate or not self._standing.opens(number):
            return []
        self._gate = False
        self._queue.put_first(Item(line, AGAIN) for line in self._standing.rest())
        return self._standing.missed(self._other)

    def _give_acknowledgement(self, message: Message, line: bytes) -> list[bytes]:
        meta = message.params.get("_meta")
        request = self._find(meta.get(SUBSCRIPTION) if isinstance(meta, dict) else None)
        if request is None or not request.endless:
            return [line]
        if request.honoured is not None:  # the client has had its acknowledgement
            return missed_by(request.number, request.honoured, self._other)
        honoured = message.params.get("notifications")
        request.honoured = honoured if isinstance(honoured, dict) else {}
        return [line]

    # Links

    def repeated(self) -> list[Id]:
        """The ids of the requests that will be sent on the next link and were sent before."""
        return [request.number for request in self._open if request.sent]

    def attach(self, offers: str, *, recognises: bool = True) -> list[bytes]:
        """There is a link to a server that `offers` tools and prompts by these words; lines for
        the client.

        One that does not `recognise` repeated calls must not get them: it would do them twice.
        """
        self.links += 1
        self._other = self.links > 1 and offers != self._offers
        self._offers = offers
        self._opening = self._standing.opening()
        self._gate = self._opening is not None
        if recognises:
            return []
        return self._fail(UNKNOWN, lambda request: request.sent > 0 and request.method == CALL)

    def lost(self, *, died: bool) -> list[bytes]:
        """The link is gone, because its engine `died` or in good order; lines for the client."""
        self.draining, self._gate, self._opening, self._going = False, False, None, None
        lines = self._asked.lost()
        for item in self._queue:
            if item.giant is not None and item.giant.begun:
                item.giant.broken = True
        if self._coming is not None and self._coming.begun:
            self._coming.broken = True
        self._queue.drop(
            lambda item: (
                item.kind == AGAIN
                or (item.kind == INITIALIZED and self._standing.shaken)
                or (item.giant is not None and item.giant.broken)
            )
        )
        sent = {request for request in self._open if 0 < request.sent == self.links}
        for request in sent:
            request.deaths += died and not request.endless
        lines += self._fail(DIED, lambda request: request.deaths >= DEATHS)
        lines += self._fail(UNKEPT, lambda request: request in sent and request.line is None)
        self._queue.put_first(
            Item(request.line, request=request)
            for request in self._open
            if request in sent and request.line is not None
        )
        return lines

    def fail(self, text: str) -> list[bytes]:
        """No engine will answer: errors for all that wait, streams excepted."""
        return self._fail(text, lambda request: not request.endless)

    def _fail(self, text: str, when: Callable[[Open], bool]) -> list[bytes]:
        failed = [request for request in self._open if when(request)]
        gone = set(failed)
        for request in failed:
            self._close(request)
        if failed:
            self._queue.drop(lambda item: item.belongs in gone)
        return [error_line(request.number, text) for request in failed]

    @property
    def waiting(self) -> bool:
        """Whether something is under way on this link that an answer or its end will close."""
        return self._going is not None or any(
            0 < request.sent == self.links and not request.endless for request in self._open
        )

    @property
    def queued(self) -> int:
        """Bytes that wait to be sent."""
        return self._queue.size

    @property
    def wanted(self) -> bool:
        """Whether the client waits for something, so that an engine is needed."""
        return any(item.request is None or not item.request.endless for item in self._queue)

    def _find(self, number: object) -> Open | None:
        for request in self._open:
            if request.number == number and type(request.number) is type(number):
                return request
        return None

    def _close(self, request: Open) -> None:
        self._open.remove(request)
        self._kept -= len(request.line or b"")
