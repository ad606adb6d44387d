"""What all who ask a model over HTTP hold to: when to ask again, and what an error may repeat."""

from __future__ import annotations

from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from math import isfinite

ATTEMPTS = 4
FIRST_WAIT_SECONDS = 0.5  # doubled with each attempt, with jitter
LONGEST_WAIT_SECONDS = 30.0  # whatever Retry-After says
CONNECT_SECONDS = 10.0

_BUSY = (408, 409, 425, 429)
_SAID, _ECHO = 200, 12  # characters of an error's text, and of a text that is no chance in it


class LaterError(Exception):
    """The server asked to come back later, after so many seconds where it says, or was not
    reached."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def wait(error: Exception) -> bool | float:
    """Whether to try again, and after which time if the server named one, within bounds."""
    if not isinstance(error, LaterError):
        return False
    if error.retry_after is None:
        return True
    return min(max(error.retry_after, 0.0), LONGEST_WAIT_SECONDS)


def is_busy(status: int) -> bool:
    """Whether a status means that the same request may be answered later."""
    return status in _BUSY or status >= 500


def retry_seconds(header: str | None, now: str | None) -> float | None:
    """Seconds of a Retry-After header, a number or a date, which is compared with the answer's own
    date; None where it says nothing."""
    if not header:
        return None
    try:
        seconds = float(header)
        return seconds if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        gap = parsedate_to_datetime(header) - parsedate_to_datetime(now or "")
    except (ValueError, TypeError):  # TypeError: one of them without its zone
        return None
    return gap.total_seconds()


def shown(address: str) -> str:
    """An address, or what was meant to be one, without what may be secret in it: name, password
    and query."""
    start = address.find("//") + 2 if "//" in address else 0
    place, mark, _ = address[start:].rpartition("@")[2].partition("?")
    return address[:start] + place.partition("#")[0] + ("?…" if mark else "")


def said(answer: str, sent: Iterable[str]) -> str:
    """`: ` and what somebody says about an error, empty where it repeats what it was sent: notes
    belong into no log."""
    text = " ".join(answer.split())[:_SAID]
    ours = " ".join(" ".join(one.split()) for one in sent)
    pieces = (text[start : start + _ECHO] for start in range(max(1, len(text) - _ECHO + 1)))
    return "" if not text or any(piece in ours for piece in pieces) else f": {text}"
