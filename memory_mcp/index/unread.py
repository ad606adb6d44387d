"""How many files wait to be known by their names and words."""

from __future__ import annotations

from memory_mcp.index.view import IndexView


def unread(index: IndexView) -> int:
    """How many files wait to be found by words; those that lack only vectors do not count."""
    state = index.state()
    if not state.pending:
        return 0
    return state.pending - sum(not entry.embedded for entry in index.entries())
