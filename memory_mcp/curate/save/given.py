"""What comes with a text that is saved: looked through before it is noted."""

from __future__ import annotations

from memory_mcp.core.errors import InputError
from memory_mcp.core.given import given_text
from memory_mcp.core.slug import shown

_MAX_URL = 2000


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
