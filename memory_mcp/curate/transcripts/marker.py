"""How far a transcript was read: a place in the file, and what stood before it.

`<folder>/<key>.json`, one for each transcript of an agent. A file that grew is read on from the
place; one whose beginning is another now (rewritten, cut) is read anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from memory_mcp.notes.failure import explained
from memory_mcp.notes.state_file import replace_state

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Marker:
    """`digest` is the SHA-256 of the `offset` bytes that were read. `upto` is the end of the piece
    that is being judged, 0 where none is: after a kill it is taken up as it was. `anew` names the
    job for which it was set back to the beginning."""

    offset: int = 0
    digest: str = ""
    upto: int = 0
    anew: str = ""
    session: str | None = None


class Markers:
    """The markers of one owner. Blocking."""

    def __init__(self, folder: Path, owner: str) -> None:
        """`folder` is `<home>/.state/transcripts/read`."""
        self._folder = folder
        self._owner = owner

    def load(self, path: str) -> Marker:
        """The marker of a transcript; one at the beginning where there is none to read."""
        try:
            value = json.loads(self._path(path).read_bytes())
            return Marker(**value)
        except FileNotFoundError:
            return Marker()
        except (OSError, ValueError, TypeError, RecursionError) as error:
            log.warning("A marker cannot be read, its transcript is: %s", type(error).__name__)
            return Marker()

    def keep(self, path: str, marker: Marker) -> None:
        """Keep a marker durably, in one step. Raises StorageError."""
        with explained("The marker of a transcript", "written"):
            replace_state(self._path(path), json.dumps(asdict(marker)).encode("ascii"))

    def _path(self, path: str) -> Path:
        key = json.dumps([self._owner, os.path.realpath(path)])
        return self._folder / f"{hashlib.sha256(key.encode('ascii')).hexdigest()[:32]}.json"
