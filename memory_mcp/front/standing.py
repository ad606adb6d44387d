"""What a client set up once and expects to last: handshake, log level, subscriptions.

An engine that takes over is told of it under ids of our own, whose answers the client never
sees. What may have changed between two engines is announced, since nobody watched meanwhile.
"""

from __future__ import annotations

from memory_mcp.front.messages import Message, line_of, notification_line, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memory_mcp.front.messages import Id

STANDING = frozenset(
    ("initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
)
"""Requests whose effect lasts as long as a connection."""

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
RESOURCES_CHANGED = "notifications/resources/list_changed"
RESOURCE_UPDATED = "notifications/resources/updated"
_OFFERED = {
    "tools": "notifications/tools/list_changed",
    "prompts": "notifications/prompts/list_changed",
}
"""What another version, or other settings, may offer otherwise; by the name of the capability."""


class Standing:
    """The standing wishes of one client in the era of handshakes."""

    def __init__(self, session: str) -> None:
        self._prefix = f"memory-mcp-front-{session}-"
        self._count = 0
        self._opening_id = ""
        self._initialize: dict[str, Any] | None = None
        self._capabilities: dict[str, Any] = {}
        self._initialized: bytes | None = None
        self._level: dict[str, Any] | None = None
        self._subscribed: dict[str, dict[str, Any]] = {}

    def told(self, line: bytes) -> None:
        """The client said that its side of the handshake is done."""
        self._initialized = line

    def settled(self, method: str, line: bytes, answer: Message) -> None:
        """An engine answered a request of the client, one of STANDING."""
        result, request = answer.value.get("result"), read(line)
        if not isinstance(result, dict) or request is None:
            return
        uri = str(request.params.get("uri"))
        match method:
            case "initialize":
                self._initialize = request.value
                found = result.get("capabilities")
                self._capabilities = found if isinstance(found, dict) else {}
            case "logging/setLevel":
                self._level = request.value
            case "resources/subscribe":
                self._subscribed[uri] = request.value
            case "resources/unsubscribe":
                self._subscribed.pop(uri, None)

    @property
    def shaken(self) -> bool:
        """Whether there was a handshake, which another engine must be told of."""
        return self._initialize is not None

    def opening(self) -> bytes | None:
        """The line that repeats the handshake; None where there was none."""
        if self._initialize is None:
            return None
        line = self._again(self._initialize)
        self._opening_id = f"{self._prefix}{self._count}"
        return line

    def rest(self) -> list[bytes]:
        """The lines that follow once the handshake is answered."""
        wishes = [*([self._level] if self._level else []), *self._subscribed.values()]
        told = [self._initialized] if self._initialized is not None else []
        return told + [self._again(wish) for wish in wishes]

    def _again(self, request: dict[str, Any]) -> bytes:
        self._count += 1
        return line_of({**request, "id": f"{self._prefix}{self._count}"})

    def is_own(self, number: Id) -> bool:
        """Whether an answer is for us, not for the client."""
        return isinstance(number, str) and number.startswith(self._prefix)

    def opens(self, number: Id) -> bool:
        """Whether an answer is the one to the handshake."""
        return number == self._opening_id

    def missed(self, other: bool) -> list[bytes]:
        """Notifications of what may have changed; `other`: the engine offers otherwise."""
        lines = []
        if self._announced("resources"):
            lines.append(notification_line(RESOURCES_CHANGED, {}))
        lines += [notification_line(RESOURCE_UPDATED, {"uri": uri}) for uri in self._subscribed]
        if other:
            lines += [
                notification_line(method, {})
                for name, method in _OFFERED.items()
                if self._announced(name)
            ]
        return lines

    def _announced(self, name: str) -> bool:
        found = self._capabilities.get(name)
        return isinstance(found, dict) and found.get("listChanged") is True


def missed_by(listener: Id, honoured: dict[str, Any], other: bool) -> list[bytes]:
    """The same for a `subscriptions/listen` stream, by what its engine agreed to send."""
    meta = {"_meta": {SUBSCRIPTION: listener}}
    lines = []
    if honoured.get("resourcesListChanged") is True:
        lines.append(notification_line(RESOURCES_CHANGED, meta))
    uris = honoured.get("resourceSubscriptions")
    lines += [
        notification_line(RESOURCE_UPDATED, {"uri": uri, **meta})
        for uri in (uris if isinstance(uris, list) else [])
    ]
    if other:
        lines += [
            notification_line(method, meta)
            for name, method in _OFFERED.items()
            if honoured.get(f"{name}ListChanged") is True
        ]
    return lines
