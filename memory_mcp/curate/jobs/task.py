"""A job under way, and how jobs of a kind are done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from memory_mcp.curate.jobs.journal import Record

Lane = Literal["quick", "long"]
LANES: tuple[Lane, ...] = ("quick", "long")
"""A save does not wait behind a dream: each lane is worked on by itself."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: a line for people, and the references that it changed."""

    text: str
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """A job under way, as its work sees it."""

    record: Record
    _note: Callable[..., Awaitable[Record]]

    @property
    def job_id(self) -> str:
        """The job, and the run under whose name its changes are kept."""
        return self.record.job.job_id

    async def note(self, **values: Any) -> None:
        """Set values of the job durably, such as `slug`, or `outcome` and `changed` of what is
        done so far. Raises StorageError."""
        await self._note(self.record, **values)


Work = Callable[[Task], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Kind:
    """How jobs of one kind are done: again from the start where they were cut off, so the work
    must find what it had done before."""

    work: Work
    seconds: float
    """After so long it is ended; what it had finished stays."""
    lane: Lane = "long"
