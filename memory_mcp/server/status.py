"""What `status` says about a home, as JSON: from a running engine, or from the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_mcp.index.state import IndexState

NO_ENGINE: Mapping[str, Any] = {"pid": None, "uptime_s": None, "clients": 0}
"""The engine where none runs."""


def status_json(
    home: str, agent: str, state: IndexState, engine: Mapping[str, Any] = NO_ENGINE
) -> dict[str, Any]:
    """The state of an agent's memory and of the engine that serves it."""
    return {
        "home": home,
        "agent": agent,
        "engine": dict(engine),
        "embedder": {
            "state": state.embedder.state,
            "model": state.embedder.model,
            "dimension": state.embedder.dimension,
            "error": state.embedder.error,
        },
        "sources": {
            name: {
                "files": source.files,
                "passages": source.passages,
                "path": source.path,
                "state": source.state,
            }
            for name, source in state.sources.items()
        },
        "vectors": state.vectors,
        "pending": state.pending,
        "warnings": [
            {"reference": warned.reference, "message": warned.message} for warned in state.warnings
        ],
    }
