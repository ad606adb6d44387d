"""What a model is shown of notes: framed text under a standing line, and where it came from."""

from __future__ import annotations

from memory_mcp.core.errors import ConflictError, MemoryMcpError
from memory_mcp.core.framed import NOTICE, frame, framed, origin
from memory_mcp.core.framing import harmless, one_line

__all__ = ["NOTICE", "frame", "framed", "harmless", "one_line", "origin", "told"]


def told(error: MemoryMcpError) -> str:
    """The text of an error for a model. It may name headings, titles and files, whose text was
    written by anybody; a conflict brings its own frame."""
    return str(error) if isinstance(error, ConflictError) else harmless(str(error))
