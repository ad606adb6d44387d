"""Names that may be given: of jobs, runs and dreams, and of notes where one is taken."""

from __future__ import annotations

import re

from memory_mcp.core.errors import InputError
from memory_mcp.core.slug import shown

_JOB_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MAX_NAMES = 500


def is_job_id(text: str) -> bool:
    """Whether a job can have this name, and so a file of its state."""
    return _JOB_ID.fullmatch(text) is not None


def job_id_of(job_id: str) -> str:
    if not is_job_id(job_id):
        raise InputError(
            f"The job id {shown(job_id)} cannot be used: 1 to 100 letters, digits, - and _."
        )
    return job_id


def names_from(slug: str) -> tuple[str, ...]:
    """The name, then the name with -2, -3, …"""
    return (slug, *(f"{slug[:90]}-{number}" for number in range(2, _MAX_NAMES)))
