"""Notes that Deep looked at and left: not asked about again until they or the prompt change, or
some weeks have passed."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_mcp.notes.failure import explained
from memory_mcp.notes.state_file import replace_state

log = logging.getLogger(__name__)

DAYS = 30
"""After so long a note is looked at again: the wiki has changed meanwhile."""


class SkipCache:
    """Why notes were left, by reference, in one file. Blocking; one process has it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def why(self, reference: str, data: bytes, prompt: str, now: datetime) -> str | None:
        """Why this very text was left under this prompt; None where it is to be looked at."""
        item = self._read().get(reference)
        if not isinstance(item, dict) or item.get("hash") != _hash(data, prompt):
            return None
        until, why = item.get("until"), item.get("why")
        return str(why) if isinstance(until, str) and until > _iso(now) else None

    def leave(self, reference: str, data: bytes, prompt: str, now: datetime, why: str) -> None:
        """Note durably that a text was left. Raises StorageError."""
        until = _iso(now + timedelta(days=DAYS))
        kept = {
            name: item
            for name, item in self._read().items()
            if isinstance(item, dict) and str(item.get("until", "")) > _iso(now)
        }
        kept[reference] = {"hash": _hash(data, prompt), "until": until, "why": why}
        self._write(kept)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            log.warning("What Deep had left is not known: %s", type(error).__name__)
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, items: Mapping[str, Any]) -> None:
        with explained("What Deep leaves", "written"):
            replace_state(self._path, json.dumps(dict(items), indent=1).encode("ascii"))


def _hash(data: bytes, prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8") + b"\0" + data).hexdigest()


def _iso(moment: datetime) -> str:
    """In one zone, so that texts compare as times do."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
