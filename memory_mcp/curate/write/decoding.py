"""Bytes of a note as the text that is edited."""

from __future__ import annotations

from memory_mcp.core.errors import RefusedError


def decoded(reference: str, data: bytes) -> str:
    """The text of a note. Raises RefusedError where it is not UTF-8: an edit would damage it."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"{reference} is not UTF-8 text (byte {error.start:,} of {len(data):,}), so it is not"
            " edited; save it as UTF-8 in an editor first."
        ) from error
