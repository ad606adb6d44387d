"""Reviews: the time in which one session may change pages of the wiki.

A review is kept in a file of its session, so that it outlives an engine as the session does. It
expires, and allows some changes at a time: an agent that runs wild is stopped until it says that
it goes on. All it changes is one run, and can be taken back as a whole.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_mcp.core.errors import RefusedError
from memory_mcp.core.ports import Clock
from memory_mcp.curate.plans.names import is_job_id, job_id_of
from memory_mcp.curate.write.edit import iso
from memory_mcp.notes.failure import explained
from memory_mcp.notes.state_file import replace_state

MINUTES = 60
"""How long a review stays open after each start."""

CHANGES = 25
"""Changes between two starts."""

_KEPT_DAYS = 7  # files of sessions that never ended their review
_HOW = "Call dream_review with action=start"


@dataclass(frozen=True, slots=True)
class Review:
    """An open review of one session."""

    run: str
    """The run that all its changes are part of."""
    expires: str
    left: int = CHANGES
    """Changes until the next start."""
    dream_id: str | None = None
    """The findings that it is about; None: any."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """What was done with which page: created, changed, deleted, or `moved to …`."""


class Reviews:
    """The reviews of a home. Blocking; the calls of one session come one after another."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def start(self, session: str, dream_id: str | None = None) -> Review:
        """Open a review, or go on with the one that is open: from now on it has all its time and
        changes again. Raises StorageError."""
        self._sweep()
        known = self._read(session)
        if known is None or self._is_over(known):
            known = Review(f"review-{secrets.token_hex(6)}", "")
        expires = self._clock.now() + timedelta(minutes=MINUTES)
        review = replace(
            known, expires=iso(expires), left=CHANGES, dream_id=dream_id or known.dream_id
        )
        self._write(session, review)
        return review

    def current(self, session: str) -> Review:
        """The review in which a change may be made now. Raises RefusedError, StorageError."""
        review = self._read(session)
        if review is None:
            raise RefusedError(f"No review is open in this session. {_HOW} first.")
        if self._is_over(review):
            raise RefusedError(
                f"The review of this session expired at {review.expires}. {_HOW} to go on."
            )
        if review.left < 1:
            raise RefusedError(
                f"This review has made {CHANGES} changes since its last start. Look at what was"
                f" done, tell the person, and then go on: {_HOW.lower()}."
            )
        return review

    def open(self, session: str) -> Review | None:
        """The review that is open, also where it has no change of the wiki left. Raises
        StorageError."""
        review = self._read(session)
        return None if review is None or self._is_over(review) else review

    def changed(self, session: str, pages: Mapping[str, str]) -> Review:
        """One of the changes was made, to these pages. Raises RefusedError, StorageError."""
        review = self._read(session)
        if review is None:
            raise RefusedError(f"No review is open in this session. {_HOW} first.")
        known = {**review.pages, **pages}
        for path, what in pages.items():
            if what == "changed" and review.pages.get(path) == "created":
                known[path] = "created"
        review = replace(review, left=review.left - 1, pages=known)
        self._write(session, review)
        return review

    def get(self, session: str) -> Review | None:
        """The review of a session, also where it is over. Raises StorageError."""
        return self._read(session)

    def end(self, session: str) -> None:
        """Close the review of a session. Raises StorageError."""
        with explained("The review", "closed"):
            self._path(session).unlink(missing_ok=True)

    def _is_over(self, review: Review) -> bool:
        return datetime.fromisoformat(review.expires) <= self._clock.now()

    def _path(self, session: str) -> Path:
        return self._folder / f"{job_id_of(session)}.json"

    def _read(self, session: str) -> Review | None:
        with explained("The review", "read"):
            try:
                data = self._path(session).read_bytes()
            except FileNotFoundError:
                return None
        try:
            return _review(json.loads(data))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None  # damaged: a new start makes it anew

    def _write(self, session: str, review: Review) -> None:
        with explained("The review", "written"):
            replace_state(self._path(session), json.dumps(asdict(review)).encode("ascii"))

    def _sweep(self) -> None:
        """Forget the reviews of sessions that have gone long ago."""
        oldest = iso(self._clock.now() - timedelta(days=_KEPT_DAYS))
        with explained("The reviews", "read"):
            for path in self._folder.glob("*.json"):
                if not is_job_id(path.stem):
                    continue  # such as a copy of a sync tool
                review = self._read(path.stem)
                if review is None or _at(review.expires) < _at(oldest):
                    path.unlink(missing_ok=True)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _review(value: Any) -> Review:
    """A review as it was written. Raises where it is none."""
    _at(value["expires"])
    return Review(
        run=job_id_of(value["run"]),
        expires=value["expires"],
        left=int(value["left"]),
        dream_id=value["dream_id"],
        pages={str(path): str(what) for path, what in value["pages"].items()},
    )
