"""The URIs of notes: `memories://note/<reference>`, percent-encoded."""

from __future__ import annotations

from urllib.parse import quote, unquote

INDEX = "memories://index"
NOTES = "memories://note/"
TEMPLATE = NOTES + "{+reference}"


def address(reference: str) -> str:
    """The URI of a note."""
    return NOTES + quote(reference, safe="/")


def reference_in(uri: str) -> str | None:
    """The reference that a URI names, None for other URIs."""
    return unquote(uri[len(NOTES) :], errors="replace") if uri.startswith(NOTES) else None
