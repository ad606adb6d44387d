"""JSON-RPC messages, as far as a relay must understand them. What it does not, it passes on."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    Id = str | int

INTERNAL_ERROR = -32603

REQUEST = "request"
NOTIFICATION = "notification"
ANSWER = "answer"

_ID = rb'"id"\s*:\s*(-?\d{1,15}|"[^"\\\x00-\x1f]{0,200}")\s*'
_FIRST_ID = rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*' + _ID + rb"[,}]"
_LAST_ID = rb",\s*" + _ID + rb'(?:,\s*"jsonrpc"\s*:\s*"2.0"\s*)?\}\s*\Z'


class Message:
    """A message: its kind, its id (None for a notification), and the object it is."""

    __slots__ = ("id", "kind", "method", "value")

    def __init__(self, kind: str, number: Id | None, method: str, value: dict[str, Any]) -> None:
        self.kind = kind
        self.id = number
        self.method = method
        self.value = value

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters; empty where there are none."""
        found = self.value.get("params")
        return found if isinstance(found, dict) else {}


def read(line: bytes) -> Message | None:
    """The message in a line; None where it is none, or one that nobody would answer."""
    try:
        value = json.loads(line.decode("utf-8-sig"))  # some shells put a mark in front
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    number, method = value.get("id"), value.get("method")
    answers = "result" in value or "error" in value
    if isinstance(method, str) and not answers:
        if "id" not in value:
            return Message(NOTIFICATION, None, method, value)
        return Message(REQUEST, number, method, value) if is_id(number) else None
    if answers and method is None and is_id(number):
        return Message(ANSWER, number, "", value)
    return None


def is_id(number: object) -> TypeGuard[Id]:
    """Whether a value is an id. 1 and "1" are different ones; 1.0 and true are none."""
    return isinstance(number, (str, int)) and not isinstance(number, bool)


def line_of(value: dict[str, Any]) -> bytes:
    """One line, in ASCII."""
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


def error_line(number: Id, text: str) -> bytes:
    """The answer to a request that could not be done."""
    error = {"code": INTERNAL_ERROR, "message": text}
    return line_of({"jsonrpc": "2.0", "id": number, "error": error})


def notification_line(method: str, params: dict[str, Any]) -> bytes:
    """A notification."""
    return line_of({"jsonrpc": "2.0", "method": method, "params": params})


def id_in(head: bytes, tail: bytes) -> Id | None:
    """The id of a request that is too long to be read, where it stands first or last."""
    if b'"result"' in head[:4096] or b'"error"' in head[:4096]:
        return None
    found = re.match(_FIRST_ID, head) or re.search(_LAST_ID, tail)
    if found is None:
        return None
    text = found[1].decode("utf-8", "replace")
    return text[1:-1] if text.startswith('"') else int(text)
