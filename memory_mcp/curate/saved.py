"""What comes with a text that is saved: looked through before it is noted."""

from __future__ import annotations

import re

from memory_mcp.core.errors import InputError
from memory_mcp.core.given import given_text
from memory_mcp.core.slug import shown

_JOB_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MAX_NAMES = 500
_MAX_URL = 2000


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


def line_of(text: str | None, name: str) -> str | None:
    return given_text(text, name).text if text and text.strip() else None


def url_of(text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    url = text.strip()
    if len(url) > _MAX_URL or not url.isprintable() or any(char.isspace() for char in url):
        raise InputError(
            f"source_url {shown(url)} is no address: one line without blanks, at most"
            f" {_MAX_URL:,} characters."
        )
    return url
