"""When curation begins by itself: times that outlive the engine, and are caught up with once."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import anyio.to_thread

from memory_mcp.core.config import CurationSettings
from memory_mcp.core.errors import MemoryMcpError
from memory_mcp.core.ports import Clock
from memory_mcp.curate.jobs.journal import OPEN
from memory_mcp.curate.jobs.worker import Jobs
from memory_mcp.curate.review.findings import Phase
from memory_mcp.curate.write.edit import iso
from memory_mcp.notes.failure import explained
from memory_mcp.notes.state_file import replace_state

log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0
"""How often the clock is looked at: a machine that slept wakes with a time that has passed."""

REM_AGAIN = timedelta(hours=6)
"""After so long transcripts are tried again that a pass could not take from the queue."""

_INBOX_ONLY = {"lucid_days": 0, "rem": False}


@dataclass(frozen=True, slots=True)
class Due:
    """A pass that is to begin. `after` is a part of its job's name, and the same however often it
    is found due: the time that it follows."""

    phase: Phase
    after: str


def due(
    settings: CurationSettings,
    now: datetime,
    last: Mapping[str, str],
    queued: frozenset[str] = frozenset(),
) -> tuple[Due, ...]:
    """The passes whose time has come: each once, however many times were missed.

    `last`: when each phase began last (ISO), of rem with the transcripts that were queued then.
    A phase that never began is due one period after it was first heard of.
    """
    periods: tuple[tuple[Phase, timedelta], ...] = (
        ("deep", timedelta(hours=settings.deep_hours)),
        ("lucid", timedelta(days=settings.lucid_days)),
    )
    found = [
        Due(phase, _after(last[phase]))
        for phase, period in periods
        if period and phase in last and _passed(last[phase], period, now)
    ]
    new = queued - frozenset(last.get("queued", "").split("\n"))
    began = last.get("rem", "")
    if settings.rem and queued and (new or _passed(began, REM_AGAIN, now)):
        found.append(Due("rem", _after(began or iso(now))))
    return tuple(found)


class Schedule:
    """Adds jobs when their time has come; run by the one process that does the jobs."""

    def __init__(self, jobs: Jobs, clock: Clock, settings: CurationSettings, state: Path) -> None:
        """`state`: the state folder of the home."""
        self._jobs, self._clock, self._settings = jobs, clock, settings
        owner = "-".join(filter(None, (jobs.agent, jobs.project)))
        self._path = state / "schedule" / f"{owner}.json"
        self._mark = hashlib.sha256(owner.encode("utf-8")).hexdigest()[:8]
        self._queue = state / "transcripts" / "queue"

    async def run(self) -> None:
        """Look at the clock until cancelled."""
        while True:
            try:
                await self.look()
            except MemoryMcpError as error:  # a disk that refuses may be asked again
                log.warning("The schedule waits: %s", error)
            await anyio.sleep(LOOK_SECONDS)

    async def look(self) -> tuple[str, ...]:
        """Add the jobs that are due now; their ids. A kill at any moment adds none twice: the
        name of a job comes from the time before it."""
        now = self._clock.now()
        last = await anyio.to_thread.run_sync(self._read)
        # The wiki and the talks are the agent's; in a project, only its inbox is looked at.
        whole = self._jobs.project is None
        settings = self._settings if whole else self._settings.model_copy(update=_INBOX_ONLY)
        queued = await anyio.to_thread.run_sync(self._queued) if whole else frozenset[str]()
        known = {**{phase: iso(now) for phase in ("deep", "lucid")}, **last}
        added: list[str] = []
        for item in due(settings, now, known, queued):
            kind = f"dream-{item.phase}"
            if self._is_open(kind):
                continue
            job = await self._jobs.add(kind, {}, job_id=f"{kind}-{self._mark}-{item.after}")
            added.append(job.job_id)
            known[item.phase] = iso(now)
            if item.phase == "rem":
                known["queued"] = "\n".join(sorted(queued))
        if known != last:
            await anyio.to_thread.run_sync(self._write, known)
        return tuple(added)

    def _is_open(self, kind: str) -> bool:
        return any(job.kind == kind and job.status in OPEN for job in self._jobs.list())

    def _queued(self) -> frozenset[str]:
        """The transcripts of this agent that wait, each with the time it was named last."""
        try:
            found = [(e.name, e.stat().st_mtime_ns, Path(e.path)) for e in os.scandir(self._queue)]
        except OSError:
            return frozenset()
        return frozenset(
            f"{name} {changed}"
            for name, changed, path in found
            if name.endswith(".json") and self._is_own(path)
        )

    def _is_own(self, path: Path) -> bool:
        try:
            record = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return False
        agent = record.get("agent") if isinstance(record, dict) else None
        return agent in (None, self._jobs.agent)

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            log.warning("When curation last began is not known: %s", type(error).__name__)
            return {}
        items = found.items() if isinstance(found, dict) else ()
        return {key: value for key, value in items if isinstance(value, str)}

    def _write(self, values: Mapping[str, str]) -> None:
        with explained("The schedule", "written"):
            replace_state(self._path, json.dumps(dict(values), indent=1).encode("ascii"))


def _after(since: str) -> str:
    return f"after-{''.join(char for char in since if char.isalnum())}"


def _passed(since: str, period: timedelta, now: datetime) -> bool:
    """Whether a period has passed; a time in the future is that of a clock that was wrong."""
    try:
        began = datetime.fromisoformat(since)
    except ValueError:
        return True
    if began.tzinfo is None:
        return True
    return now - began >= period or began - now > timedelta(hours=1)
