"""Asking for a phase of curation: a job like any other."""

from __future__ import annotations

from memory_mcp.core.errors import InputError
from memory_mcp.core.slug import shown
from memory_mcp.curate.jobs.journal import Job
from memory_mcp.curate.jobs.worker import Jobs
from memory_mcp.curate.review.findings import PHASES


async def add_dream(
    jobs: Jobs, phase: str, *, force: bool = False, mark: str | None = None
) -> Job:
    """Note a pass of a phase (`rem`, `deep`, `lucid`) as a job, durably, and return at once.

    One that waits or runs already is returned instead: it does the same. `force`: also what was
    looked at before; `mark`: of a request that may come again. Raises InputError, StorageError.
    """
    if phase not in PHASES:
        raise InputError(f"phase {shown(phase)} is unknown; use {', '.join(PHASES)}.")
    kind = f"dream-{phase}"
    job_id = None if mark is None else f"{kind}-{mark}"
    if not force and (waiting := jobs.waiting_of(kind)) is not None:
        return waiting
    return await jobs.add(kind, {"force": force}, job_id=job_id)
