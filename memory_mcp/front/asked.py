"""What engines ask the client (elicitation and the like), across engines that number alike."""

from __future__ import annotations

from memory_mcp.front.messages import Message, line_of, notification_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_mcp.front.messages import Id

CANCELLED = "notifications/cancelled"


class Asked:
    """Open questions of engines. Those of the first engine keep their ids, later ones get ours:
    each engine counts from one, and the client must not take two questions for the same."""

    def __init__(self, session: str) -> None:
        self._prefix = f"memory-mcp-engine-{session}-"
        self._count = 0
        self._open: dict[Id, Id] = {}
        """The id that the client knows, and the engine's own."""
        self._gone: set[Id] = set()

    def ask(self, message: Message, line: bytes, first: bool) -> bytes:
        """A question on its way to the client; `first`: it comes from the first engine."""
        number = message.id
        assert number is not None
        if first:
            self._open[number] = number
            return line
        self._count += 1
        shown = f"{self._prefix}{self._count}"
        self._open[shown] = number
        return line_of({**message.value, "id": shown})

    def answer(self, message: Message, line: bytes) -> bytes | None:
        """An answer on its way to the engine; None where the engine that asked is gone."""
        shown = message.id
        assert shown is not None
        if shown in self._gone:
            self._gone.discard(shown)
            return None
        number = self._open.pop(shown, shown)
        return line if number == shown else line_of({**message.value, "id": number})

    def withdraw(self, message: Message, line: bytes) -> bytes:
        """An engine's cancellation of its question, on its way to the client."""
        number = message.params.get("requestId")
        for shown, own in self._open.items():
            if own == number and type(own) is type(number):
                del self._open[shown]
                params = {**message.params, "requestId": shown}
                return line if shown == own else notification_line(CANCELLED, params)
        return line

    def lost(self) -> list[bytes]:
        """The engine is gone: the client is told to forget its questions."""
        lines = [
            notification_line(CANCELLED, {"requestId": shown, "reason": "the memory engine ended"})
            for shown in self._open
        ]
        self._gone.update(self._open)
        self._open.clear()
        return lines
