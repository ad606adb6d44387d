"""What each conversation has in view, kept on disk: it outlives an engine.

One small JSON file for each session id, named by its hash. Losing one costs a repeated passage.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

FOLDER = "shown"
"""Below `.state`."""
MOST_ITEMS = 2_000
"""Passages that are remembered of one session; the oldest go first."""
MOST_SESSIONS = 500
KEEP_SECONDS = 14 * 24 * 3600
"""How long a session is remembered after its last turn."""
_NEW = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
_LARGEST = 1_000_000  # bytes of a file that is read


@dataclass(frozen=True, slots=True)
class Given:
    """In which turn something was shown: marks of its message and of its folder."""

    message: str = ""
    place: str = ""


def mark(text: str | None) -> str:
    """A short mark of a text, "" for none."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12] if text else ""


class Shown:
    """The files. All methods block briefly; a disk that fails costs a line in the log."""

    def __init__(self, state: Path) -> None:
        """`state` is the home's folder of that name."""
        self._folder = state / FOLDER
        self._swept = False

    def read(self, session: str | None) -> dict[str, Given]:
        """What is in view: key -> in which turn it came. Nothing for None."""
        if session is None:
            return {}
        try:
            with self._path(session).open("rb") as file:
                rows = json.loads(file.read(_LARGEST))
            return {str(key): Given(str(message), str(place)) for key, message, place in rows}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, RecursionError) as error:
            log.warning("what a session was shown cannot be read: %s", error)
            return {}

    def add(self, session: str | None, keys: Iterable[str], given: Given) -> None:
        """Remember that these came into view."""
        if session is None:
            return
        items = self.read(session)
        for key in keys:
            items.pop(key, None)
            items[key] = given
        self._write(session, items)

    def reset(self, session: str | None) -> None:
        """Nothing is in view any more: the conversation was compacted or cleared."""
        if session is not None:
            with suppress(OSError):
                self._path(session).unlink(missing_ok=True)

    def _write(self, session: str, items: Mapping[str, Given]) -> None:
        rows = [[key, given.message, given.place] for key, given in items.items()][-MOST_ITEMS:]
        path = self._path(session)
        draft = path.with_name(f"{path.stem}.{os.getpid()}.tmp")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
            with os.fdopen(os.open(draft, _NEW, 0o600), "wb") as file:
                file.write(json.dumps(rows).encode())
            draft.replace(path)
        except OSError as error:
            log.warning("what a session was shown cannot be kept: %s", error)
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def _path(self, session: str) -> Path:
        name = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
        return self._folder / f"{name}.json"

    def _sweep(self) -> None:
        """Forget old sessions, once in a process, and the oldest of too many."""
        if self._swept:
            return
        self._swept = True
        with suppress(OSError):
            files = sorted((path.stat().st_mtime, path) for path in self._folder.iterdir())
            oldest = time.time() - KEEP_SECONDS
            surplus = len(files) - MOST_SESSIONS
            for place, (modified, path) in enumerate(files):
                if modified < oldest or place < surplus:
                    path.unlink(missing_ok=True)
