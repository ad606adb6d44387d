"""The time of this machine."""

from __future__ import annotations

from datetime import datetime


class SystemClock:
    """The real time, in the zone of this machine."""

    def now(self) -> datetime:
        """The current time with its offset."""
        return datetime.now().astimezone()  # noqa: TID251 - this is the Clock
