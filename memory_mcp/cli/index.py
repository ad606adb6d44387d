"""The derived index: `status` looks at it, `reindex` builds it again."""

from __future__ import annotations

import click

from memory_mcp.cli import render
from memory_mcp.cli.context import Setup, as_json, pass_setup
from memory_mcp.core.config import Config
from memory_mcp.core.note import Json
from memory_mcp.index.state import IndexState


@click.command()
@as_json
@pass_setup
def status(setup: Setup, json_: bool) -> None:
    """How many notes there are, what is indexed, what waits; asks the files, loads no model."""
    from memory_mcp.index.status import disk_state
    from memory_mcp.notes.sources import open_sources

    config = setup.config()
    state = disk_state(config, open_sources(config))
    if json_:
        render.as_json(status_json(config, state))
    else:
        _show(config, state)


def status_json(config: Config, state: IndexState) -> dict[str, Json]:
    """What `status --json` prints. No process is shared yet, so the engine is empty."""
    return {
        "home": config.home,
        "agent": config.agent,
        "engine": {"pid": None, "uptime_s": None, "clients": 0},
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


def _show(config: Config, state: IndexState) -> None:
    render.strong(f"{config.home}, agent {config.agent}")
    rows = [
        [name, source.state, str(source.files), str(source.passages), source.path]
        for name, source in state.sources.items()
    ]
    render.table(["source", "state", "notes", "passages", "folder"], rows)
    model = state.embedder
    about = f"{model.model}, {model.dimension} numbers a vector" if model.model else "no model"
    render.line(f"meaning: {model.state} ({model.error or about}), {state.vectors} vectors")
    render.line(f"waiting to be indexed: {state.pending}")
    for warned in state.warnings:
        render.line(f"warning: {warned.reference}: {warned.message}")


@click.command()
@click.option("--embeddings", is_flag=True, help="Compute the stored vectors again, too.")
@pass_setup
def reindex(setup: Setup, embeddings: bool) -> None:
    """Build the index again from the files. Running servers keep answering meanwhile."""
    from memory_mcp.cli.running import rebuild

    state = rebuild(setup.config(), embeddings)
    files = sum(source.files for source in state.sources.values())
    render.line(f"Indexed again: {files} notes, {state.vectors} vectors, {state.pending} waiting.")
    if state.degraded:
        render.remark(state.degraded)
