"""What waits in a relay: open requests, lines in pieces, and the queue to the engine."""

from __future__ import annotations

from collections import deque

from memory_mcp.front.messages import id_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from memory_mcp.front.messages import Id

DEATHS = 3
"""So many engines may die while a request is open; then it is answered with an error."""

DIED = (
    f"The memory engine was lost {DEATHS} times while this request was open, so it is not sent"
    " again; engine.log in the folder .state of the home may say why"
)
UNKEPT = (
    "The memory engine was lost during this request, which is too large to be sent again; see"
    " whether it was done, and repeat it if not"
)
UNKNOWN = (
    "The memory engine was lost during this call, and the server that took its place cannot tell"
    " whether it was done; look, and repeat it if not"
)

LISTEN = "subscriptions/listen"

HEAD_BYTES = 4096
TAIL_BYTES = 400
"""Of a line in pieces, to find its id."""

URGENT = "urgent"
"""Goes out even to an engine that drains: open calls may wait for it."""

AGAIN = "again"
"""Ours: what the client set up once."""


class Open:
    """A request whose answer is awaited."""

    __slots__ = ("deaths", "honoured", "line", "method", "number", "sent")

    def __init__(self, number: Id, line: bytes | None = None, method: str = "") -> None:
        self.number = number
        self.line = line
        """None where it was too large to be kept."""
        self.method = method
        """Empty where the request was too large to be read."""
        self.sent = 0
        """The link it was last sent on; 0 for none."""
        self.deaths = 0
        self.honoured: dict[str, Any] | None = None
        """What a listening client was promised, once it was."""

    @property
    def endless(self) -> bool:
        """Whether it stays open for as long as the client likes."""
        return self.method == LISTEN


class Giant:
    """A line that comes in pieces."""

    __slots__ = ("_head", "_tail", "begun", "broken", "open")

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self.open: Open | None = None
        """The request it turned out to be, once it has ended."""
        self.begun = False
        """Whether a piece of it was sent."""
        self.broken = False
        """Whether the link it was sent on is gone, so that the rest is of no use."""

    def see(self, data: bytes) -> None:
        """One more piece of it."""
        self._head = self._head or data[:HEAD_BYTES]
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]

    def number(self) -> Id | None:
        """The id of the request that it is, if it is one and its id stands first or last."""
        return id_in(self._head, self._tail)


class Item:
    """Bytes that wait to be sent: the request or the giant they belong to, or their kind."""

    __slots__ = ("data", "giant", "kind", "last", "request")

    def __init__(
        self,
        data: bytes,
        kind: str = "",
        request: Open | None = None,
        giant: Giant | None = None,
        last: bool = True,
    ) -> None:
        self.data = data
        self.kind = kind
        self.request = request
        self.giant = giant
        self.last = last

    @property
    def belongs(self) -> Open | None:
        """The request this is or is a piece of, as far as that is known."""
        return self.request if self.giant is None else self.giant.open


class Queue:
    """What waits to be sent, in order."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self.size = 0
        """In bytes."""

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def put(self, item: Item) -> None:
        """Add at the end."""
        self.size += len(item.data)
        self._items.append(item)

    def put_first(self, items: Iterable[Item]) -> None:
        """Add before all that waits, in this order."""
        added = list(items)
        self.size += sum(len(item.data) for item in added)
        self._items.extendleft(reversed(added))

    def drop(self, when: Callable[[Item], object]) -> bool:
        """Forget some; whether there were any."""
        kept = deque(item for item in self._items if not when(item))
        dropped = len(kept) < len(self._items)
        self._items = kept
        self.size = sum(len(item.data) for item in kept)
        return dropped

    def pop(self, when: Callable[[Item], object] | None = None) -> Item | None:
        """Take out the first, or the first of some."""
        for index, item in enumerate(self._items):
            if when is None or when(item):
                del self._items[index]
                self.size -= len(item.data)
                return item
        return None
