"""What `status` says about a home, as JSON: from a running engine, or from the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_mcp.index.state import IndexState
from memory_mcp.settings.project import Project
from memory_mcp.settings.project_file import NAME

NO_ENGINE: Mapping[str, Any] = {"pid": None, "uptime_s": None, "clients": 0}
"""The engine where none runs."""


def status_json(
    home: str,
    agent: str,
    state: IndexState,
    engine: Mapping[str, Any] = NO_ENGINE,
    project: Project | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """The state of an agent's memory and of the engine that serves it. In a project its id and
    folder are told; `warnings` are those of the project's folder."""
    place = {} if project is None else {"project": _project_json(project)}
    return {
        "home": home,
        "agent": agent,
        **place,
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
            *({"reference": NAME, "message": text} for text in warnings),
            *(
                {"reference": warned.reference, "message": warned.message}
                for warned in state.warnings
            ),
        ],
    }


def _project_json(project: Project) -> dict[str, Any]:
    folder = None if project.folder is None else str(project.folder)
    return {"id": project.id, "folder": folder, "trusted": project.file is not None}
