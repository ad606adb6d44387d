"""What every request has to pass before anything else looks at it: host, origin, token, size."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import anyio
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_mcp.server.http.grants import Grant
from memory_mcp.server.http.hosts import HostName, Hosts
from memory_mcp.server.lines import METHOD_LIMIT

BODY_LIMIT = 4 * 1024 * 1024
"""Bytes of a request's body; a note that is longer does not come from a conversation."""

BODY_SECONDS = 30.0
"""How long a body may take to arrive."""

HEADER_COUNT = 100
HEADER_BYTES = 32 * 1024

OPEN_PATHS = frozenset({"/health"})
"""What may be asked without a token: programs that watch whether the server lives have none."""

GRANT = "memory_mcp.grant"
"""Where a request's scope holds its `Grant`; absent on an open path without a token."""

_NAMED_LONG = re.compile(rb'"method"\s*:\s*"(?:[^"\\]|\\.){%d}' % METHOD_LIMIT, re.DOTALL)
_CHALLENGE = 'Bearer realm="memory-mcp"'
_HARDENING = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer instead of the one that was asked for."""

    status: int
    message: str
    headers: tuple[tuple[str, str], ...] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        response = JSONResponse({"error": self.message}, self.status, dict(self.headers))
        await response(scope, receive, send)


class Guard:
    """Lets pass what comes for one of our hosts, from nowhere or from our own page, with one of
    our tokens and a body of reasonable size. It knows no routes: what does not exist is guarded,
    too."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Hosts,
        grants: Sequence[Grant],
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._app = app
        self._seconds = body_seconds
        self._hosts = hosts
        self._open = next((grant for grant in grants if grant.token is None), None)
        self._tokens = [(grant.token.encode(), grant) for grant in grants if grant.token]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with its grant in the scope, or refuse it."""
        refusal = self._refusal(scope)
        if refusal is None:
            with anyio.move_on_after(self._seconds) as patience:
                refusal, receive = await _whole_body(receive)
            if patience.cancelled_caught:
                late = f"the body did not arrive within {self._seconds:g} s"
                refusal = Refusal(408, late, (("connection", "close"),))
        await (refusal or self._app)(scope, receive, _hardened(send))

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = scope["headers"]
        size = sum(len(name) + len(value) for name, value in headers)
        if len(headers) > HEADER_COUNT or size > HEADER_BYTES:
            return Refusal(431, "the request has too many headers")
        return self._foreign(scope) or self._unknown(scope) or _too_long(scope)

    def _foreign(self, scope: Scope) -> Refusal | None:
        """Why the request is none for us, or comes from a page of somebody else."""
        given = list(_values(scope, b"host"))
        host = HostName.of(given[0]) if len(given) == 1 else None
        if host is None:
            return Refusal(400, "the request needs one Host header with a host and nothing else")
        if not self._hosts.knows(host):
            return Refusal(
                421,
                "this server does not answer to that name: use the address it was started with,"
                " or start it with --host and the name",
            )
        origins = list(_values(scope, b"origin"))
        if len(origins) > 1 or any(not self._hosts.trusts(item, host) for item in origins):
            return Refusal(403, "requests from other web pages are refused")
        sites = _values(scope, b"sec-fetch-site")
        if any(site not in ("same-origin", "none") for site in sites):
            return Refusal(403, "requests from other web pages are refused")
        return None

    def _unknown(self, scope: Scope) -> Refusal | None:
        """Why the bearer may not do this. Notes the grant of one who may."""
        given = list(_values(scope, b"authorization"))
        grant = self._grant(given) if given or self._open is None else self._open
        if grant is not None:
            scope[GRANT] = grant
        elif scope["path"] not in OPEN_PATHS:
            if not given:
                return Refusal(
                    401,
                    "a token is needed: send the header Authorization: Bearer TOKEN",
                    (("www-authenticate", _CHALLENGE),),
                )
            wrong = f'{_CHALLENGE}, error="invalid_token"'
            return Refusal(401, "this token is not known here", (("www-authenticate", wrong),))
        return None

    def _grant(self, given: Sequence[str]) -> Grant | None:
        """The grant of an Authorization header. Every token is compared in full, so that the time
        it takes tells nothing."""
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        presented = token.strip().encode() if scheme.lower() == "bearer" else b""
        found = None
        for known, grant in self._tokens:
            if hmac.compare_digest(known, presented):
                found = grant
        if found is None and not self._tokens:
            return self._open  # nothing is needed here: what a client sends anyway does not matter
        return found


def _values(scope: Scope, name: bytes) -> Iterator[str]:
    return (value.decode("latin-1") for key, value in scope["headers"] if key == name)


def _too_long(scope: Scope) -> Refusal | None:
    for text in _values(scope, b"content-length"):
        if not (text.isascii() and text.isdigit()):
            return Refusal(400, "Content-Length is no number")
        if len(text) > 18 or int(text) > BODY_LIMIT:
            return _over_limit()
    return None


def _over_limit() -> Refusal:
    return Refusal(413, f"the body is longer than {BODY_LIMIT} bytes; send it in parts")


async def _whole_body(receive: Receive) -> tuple[Refusal | None, Receive]:
    """The body, read before anything works on it, as a `receive` that gives it first."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            last: Message = message
            break
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT:
            return _over_limit(), receive
        if not message.get("more_body", False):
            last = {"type": "http.request", "body": bytes(body), "more_body": False}
            break
    if _is_misnamed(bytes(body)):
        text = f"there is no method whose name has more than {METHOD_LIMIT} letters"
        return Refusal(400, text), receive
    waiting = [last]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return None, replay


def _is_misnamed(body: bytes) -> bool:
    """Whether a message names a method at a length that no method has: the SDK's error would
    repeat it."""
    if _NAMED_LONG.search(body) is None:
        return False
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return False  # then it is no message, which is told elsewhere
    name = message.get("method") if isinstance(message, dict) else None
    return isinstance(name, str) and len(name) > METHOD_LIMIT


def _hardened(send: Send) -> Send:
    """Answers no browser keeps, and takes for what they say they are."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            headers += [item for item in _HARDENING if item[0] not in present]
            message = {**message, "headers": headers}
        await send(message)

    return with_headers
