"""Texts that clients have seen lately: what a conflict is compared with."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

MOST_BYTES = 4 * 1024 * 1024


class Recent:
    """The last texts that were read or written, in memory, up to `most` bytes; safe for threads.

    The history holds what was replaced; this holds what a client saw before somebody else
    replaced it in an editor.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._size = 0
        self._texts: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._guard = Lock()

    def keep(self, reference: str, data: bytes) -> None:
        """Remember the bytes of a note; the oldest make room. A larger text is not kept."""
        if len(data) > self._most:
            return
        key = reference, hashlib.sha256(data).hexdigest()[:12]
        with self._guard:
            self._size += len(data) - len(self._texts.pop(key, b""))
            self._texts[key] = data
            while self._size > self._most:
                self._size -= len(self._texts.popitem(last=False)[1])

    def get(self, reference: str, revision: str) -> bytes | None:
        """The bytes of a revision (12 hex digits), None where they are not remembered."""
        with self._guard:
            return self._texts.get((reference, revision.strip().lower()))
